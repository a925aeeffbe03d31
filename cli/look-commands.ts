import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Forgotten } from '../core/control/forget-thread.ts';
import { toFileTime } from '../core/time.ts';
import { addLocalNote, citeAnswer, forgetLocal, type LocalRestore, redrive, restoreLocal } from '../local/act.ts';
import {
  lookDiff,
  lookFor,
  lookOfflineUsage,
  lookPath,
  lookStatus,
  lookThreads,
  lookVersions,
  lookWhy,
  type ThreadRow,
} from '../local/look.ts';
import { refreshWorkingCopy } from '../local/sync-working-copy.ts';
import { type Console, clip, formatTable, printable, printResult } from './console.ts';
import type { CommandContext } from './context.ts';
import { parseWhole } from './options.ts';
import { formatStatus } from './status-text.ts';
import { whyText } from './why-text.ts';

/** Widths of two columns, characters. */
const PROJECT_WIDTH = 40;
const WHY_WIDTH = 100;

const anyVersion = parseWhole(0, 999_999_999);

interface SearchOptions {
  readonly path?: string;
  readonly context: number;
  readonly caseSensitive: boolean;
  readonly rank: boolean;
  readonly cwd?: string;
  readonly repository?: string;
}

/** `status`, `threads`, `show`, `search`, `versions`, `diff`: commands that only look. */
export function addLookCommands(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('how the memory is doing: threads by outcome, consolidation, versions, tokens')
    .action(() =>
      context.lookAtHome(async (home, out) => {
        const status = await lookStatus(home);
        const offline = await lookOfflineUsage(home);
        printResult(out, status, () => formatStatus(status, home.folder, offline));
      }),
    );

  program
    .command('threads')
    .description('every thread with its outcome and why')
    .option('--outcome <name>', 'only these, such as extracted, skipped, failed or skipped(too_short)')
    .action((options: { outcome?: string }) =>
      context.lookAtHome(async (home, out) => {
        const rows = await lookThreads(home, options.outcome ?? null);
        printResult(out, rows, () => formatThreads(rows));
      }),
    );

  program
    .command('show')
    .description('a file or folder of the memory; without PATH the summary')
    .argument('[path]', 'path within the memory, such as MEMORY.md or rollout_summaries; default: memory_summary.md')
    .option('--version <n>', 'a former version', anyVersion)
    .option('--why', 'the sessions that each part rests on; without PATH of MEMORY.md', false)
    .action((given: string | undefined, options: { version?: number; why: boolean }) =>
      context.lookAtHome(async (home, out) => {
        const path = given ?? (options.why ? 'MEMORY.md' : 'memory_summary.md');
        if (options.why) {
          const why = await lookWhy(home, path, options.version ?? null);
          printResult(out, why, () => whyText(why));
          return;
        }
        const shown = await lookPath(home, path, options.version ?? null);
        if (shown.kind === 'file') printResult(out, shown.text, () => printable(shown.text.content.trimEnd()));
        else printResult(out, shown.listing, () => shown.listing.entries.map(entryText).join('\n'));
      }),
    );

  program
    .command('search')
    .description('lines of the memory that hold any of the words')
    .argument('<query...>', 'words or phrases')
    .option('--path <path>', 'only below this path')
    .option('--context <n>', 'lines around each match', parseWhole(0, 20), 0)
    .option('--case-sensitive', 'tell upper from lower case', false)
    .option('--rank', 'the best answer first; where no line holds the words, what comes close', false)
    .option('--cwd <dir>', 'only what holds everywhere or belongs to the project of this directory')
    .option('--repository <remote>', 'the same by git remote')
    .action((queries: string[], options: SearchOptions) =>
      context.lookAtHome(async (home, out) => {
        const found = await lookFor(home, {
          queries,
          path: options.path,
          contextLines: options.context,
          caseSensitive: options.caseSensitive,
          rank: options.rank,
          cwd: options.cwd === undefined ? undefined : resolve(options.cwd),
          repository: options.repository,
        });
        printResult(out, found, () => formatMatches(found.matches, out));
      }),
    );

  program
    .command('versions')
    .description('the versions of the memory, newest first')
    .action(() =>
      context.lookAtHome(async (home, out) => {
        const rows = await lookVersions(home);
        printResult(out, rows, () =>
          rows.length === 0
            ? 'nothing is published yet'
            : formatTable([
                ['VERSION', 'MADE AT', 'REASON', 'ADDED', 'RETAINED', 'REMOVED', 'FILES CHANGED'],
                ...rows.map((row) => [
                  String(row.version),
                  row.created_at,
                  row.reason,
                  String(row.added),
                  String(row.retained),
                  String(row.removed),
                  String(row.files_changed),
                ]),
              ]),
        );
      }),
    );

  program
    .command('diff')
    .description('what changed between two versions; without numbers, what the current version changed')
    .argument('[a]', 'older version', anyVersion)
    .argument('[b]', 'newer version', anyVersion)
    .action((a: number | undefined, b: number | undefined) =>
      context.lookAtHome(async (home, out) => {
        const shown = await lookDiff(home, { from: a ?? null, to: b ?? null });
        printResult(out, shown, () => (shown.diff === '' ? 'no difference' : printable(shown.diff.trimEnd())));
      }),
    );
}

/** `note`, `restore`, `forget` and `cite`: commands that add something without a model. */
export function addActCommands(program: Command, context: CommandContext): void {
  program
    .command('note')
    .description('remember something: readable at once, consolidated at the next run')
    .argument('<text...>', 'the note')
    .option('--name <file>', 'file name, such as 2026-05-26T13-42-08-review-style.md')
    .action((words: string[], options: { name?: string }) =>
      context.withHome(async (home, out) => {
        const note = await addLocalNote(home, { filename: options.name, note: words.join(' ') });
        await refreshWorkingCopy(home);
        printResult(out, note, () => `noted in ${note.path}; the next run consolidates it`);
      }),
    );

  program
    .command('restore')
    .description('make a former version the present one again, as a new version')
    .argument('<version>', 'its number, as "versions" shows it', parseWhole(1, 999_999_999))
    .action((version: number) =>
      context.withHome(async (home, out) => {
        const restored = await restoreLocal(home, version);
        printResult(out, restored, () => restoredText(restored));
        if (restored.edits_version !== null)
          out.note(`what was changed in memories/ is kept as version ${restored.edits_version}`);
      }),
    );

  program
    .command('forget')
    .description('forget a thread: what was learned from it is gone at once and does not come back')
    .argument('<thread>', 'its id, as "threads" shows it')
    .option('--purge-history', 'delete all older versions too, not only what is its own in them')
    .action((threadId: string, options: { readonly purgeHistory?: true }) =>
      context.withHome(async (home, out) => {
        const forgotten = await forgetLocal(home, threadId, options.purgeHistory === true ? 'purge' : 'own');
        const { version, consolidationDue } = forgotten;
        const shown = {
          thread_id: forgotten.threadId,
          forgotten_at: toFileTime(forgotten.forgottenAt),
          consolidation_due: consolidationDue,
          version,
        };
        printResult(out, shown, () => forgottenText(forgotten));
      }),
    );

  program
    .command('cite')
    .description(
      'record the citations of an assistant answer read from standard input, and print the answer without them',
    )
    .action(() =>
      context.withHome(async (home, out) => {
        const cited = await citeAnswer(home, await context.readInput());
        printResult(out, cited, () => printable((cited.visible_text ?? '').trimEnd()));
        const unknown = cited.unknown.length === 0 ? '' : `, unknown: ${cited.unknown.join(', ')}`;
        const nothing = cited.citation === null ? ': the text holds no citation block' : '';
        out.note(`recorded ${cited.recorded}${nothing}${unknown}`);
      }),
    );
}

/** `redrive`: the cure for threads that failed for good. */
export function addRedriveCommand(program: Command, context: CommandContext): void {
  program
    .command('redrive')
    .description('make failed and exhausted sessions due again; the next run tries them')
    .action(() =>
      context.withHome(async (home, out) => {
        const revived = await redrive(home);
        printResult(out, { revived }, () => `${revived.length} sessions are due again`);
      }),
    );
}

function forgottenText({ threadId, version, consolidationDue }: Forgotten): string {
  const memory = version === null ? 'the memory held nothing of it' : `version ${version} is without it`;
  return `${threadId} is forgotten: ${memory}${consolidationDue ? '; the next run goes over what it shared with other sessions' : ''}`;
}

function restoredText({ version, restored, changed }: LocalRestore): string {
  if (changed)
    return `version ${restored} is read again, as version ${version}; "versions" shows the one that was left`;
  return version === restored
    ? `version ${version} is the present one: nothing to restore`
    : `the present version ${version} is like version ${restored}: nothing to restore`;
}

function formatThreads(rows: readonly ThreadRow[]): string {
  if (rows.length === 0) return 'no threads';
  const header = ['UPDATED AT', 'OUTCOME', 'AGENT', 'PROJECT', 'USED', 'THREAD', 'WHY / TITLE'];
  const cells = rows.map((row) => [
    row.updated_at.slice(0, 16),
    row.outcome,
    row.agent,
    clip(row.project, PROJECT_WIDTH, 'end'),
    String(row.usage_count),
    row.thread_id,
    [clip(row.detail ?? row.title ?? '', WHY_WIDTH), ...noteworthy(row.reading)]
      .filter((part) => part !== '')
      .join('; '),
  ]);
  return formatTable([header, ...cells.map((row) => row.map(printable))]);
}

/** What was met in the rollout that its owner may want to know. */
function noteworthy(reading: ThreadRow['reading']): readonly string[] {
  if (reading === null) return [];
  const secrets = Object.values(reading.redactions).reduce((sum, count) => sum + count, 0);
  return [
    countOf(reading.broken_lines, 'broken line'),
    countOf(reading.oversized_records, 'oversized record'),
    reading.torn_tail ? 'torn tail' : '',
    secrets > 0 ? `${countOf(secrets, 'secret')} redacted` : '',
  ];
}

/** `1 broken line`, `2 broken lines`; nothing for none. */
function countOf(count: number, noun: string): string {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function formatMatches(
  matches: readonly { path: string; match_line_number: number; content: string }[],
  out: Console,
): string {
  if (matches.length === 0) out.note('nothing found');
  return matches.map((match) => printable(`${match.path}:${match.match_line_number}: ${match.content}`)).join('\n');
}

function entryText(entry: { path: string; entry_type: string }): string {
  return printable(entry.entry_type === 'directory' ? `${entry.path}/` : entry.path);
}
