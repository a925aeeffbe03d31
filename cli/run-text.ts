import { basename, resolve } from 'node:path';
import type { RunReport } from '../local/run-report.ts';
import { clip, formatTable, printable } from './console.ts';

/** Widths of two columns, characters. */
const PROJECT_WIDTH = 40;
const WHY_WIDTH = 100;

/** What a person reads after a run: the memory first, then how it came about, then what to do next. */
export function formatReport(report: RunReport): string {
  return [
    printable(report.summary.trimEnd()) || 'No memory yet.',
    section('What each rollout ended as', formatOutcomes(report)),
    section('This run', formatWork(report)),
    section('Next', formatNext(report)),
  ].join('\n\n');
}

function section(title: string, body: string): string {
  return `${'─'.repeat(4)} ${title} ${'─'.repeat(Math.max(4, 74 - title.length))}\n${body}`;
}

function formatOutcomes(report: RunReport): string {
  const threads = report.threads.map((row) => [
    row.outcome,
    row.agent,
    clip(row.project, PROJECT_WIDTH, 'end'),
    clip(row.detail ?? row.title ?? '', WHY_WIDTH),
  ]);
  const files = report.files.map((file) => [
    file.outcome,
    'file',
    clip(basename(file.path), PROJECT_WIDTH),
    clip(file.detail ?? '', WHY_WIDTH),
  ]);
  const rows = [...threads, ...files].map((row) => row.map((cell) => printable(cell)));
  return rows.length === 0 ? 'no rollouts' : formatTable(rows);
}

function formatWork(report: RunReport): string {
  const { usage } = report;
  const budget = usage.budget === null ? 'no budget: the stand-in costs nothing' : `budget ${usage.budget}`;
  const rows = [
    ['model', report.model.label],
    ['model calls', report.model_calls === 0 ? 'none: nothing was new' : String(report.model_calls)],
    ['tokens, all today', `${usage.input_tokens} in, ${usage.output_tokens} out (${budget})`],
    ['consolidation', consolidationText(report)],
    [
      'memory',
      report.memory.version === 0
        ? 'nothing published'
        : `version ${report.memory.version}, ${report.memory.files} files`,
    ],
    ['files', `${report.home}/memories`],
  ];
  if (report.hand_edits.version !== null) {
    rows.push(['your edits', `kept as version ${report.hand_edits.version}: ${report.hand_edits.paths.join(', ')}`]);
  }
  if (report.hand_edits.ignored.length > 0) {
    rows.push([
      'not kept',
      `${report.hand_edits.ignored.join(', ')}: no part of what is edited by hand; the next version replaces it (edit MEMORY.md or add a note)`,
    ]);
  }
  if (report.left_over > 0) rows.push(['left over', `${report.left_over} sessions wait for the next run (--max)`]);
  return formatTable(rows.map((row) => row.map(printable)));
}

function consolidationText(report: RunReport): string {
  const { kind, ...rest } = report.consolidation;
  const facts = Object.entries(rest)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`);
  return [String(kind), ...facts].join(', ');
}

function formatNext(report: RunReport): string {
  const home = report.home === resolve('.stillroom') ? '' : ` --home ${report.home}`;
  return formatTable([
    [`npx stillroom show${home}`, 'the summary that an agent starts with'],
    [`npx stillroom show MEMORY.md${home}`, 'the whole memory'],
    [`npx stillroom search "word"${home}`, 'look something up'],
    [`npx stillroom note "remember …"${home}`, 'add something by hand'],
    [`npx stillroom serve${home}`, 'let agents read it over HTTP'],
    [`npx stillroom run${home}`, 'your own Codex and Claude Code sessions'],
  ]);
}
