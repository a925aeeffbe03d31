import { coreWords, type Fix, showCommand } from './commands.ts';
import { type Evidence, readEvidence } from './evidence.ts';
import { quote } from './sentences.ts';
import { readEvents } from './session-events.ts';
import { readTasks, type Task, type TaskOutcome, type Wish } from './tasks.ts';

/** The three fields of a Phase 1 answer; all empty when nothing is worth keeping. */
export interface StageOneAnswer {
  readonly raw_memory: string;
  readonly rollout_summary: string;
  readonly rollout_slug: string;
}

const EMPTY: StageOneAnswer = { raw_memory: '', rollout_summary: '', rollout_slug: '' };
const MAX_FILES = 8;
const MAX_CHECKS = 6;
const MAX_TITLE = 100;

/**
 * The answer of the offline stand-in to a Phase 1 request (prompts.md, "stage_one_system"): by rules, the same bytes for
 * the same message. Every bullet quotes a person or names a command, a path or an error line that stands in the evidence.
 */
export function answerStageOne(message: string): StageOneAnswer {
  const evidence = readEvidence(message);
  const projects = [...new Set([null, ...evidence.rows.map((row) => row.project)])];
  const tasks = projects.flatMap((project) => tasksIn(evidence, project)).filter(isWorthKeeping);
  if (tasks.length === 0) return EMPTY;
  return {
    raw_memory: rawMemory(evidence, tasks),
    rollout_summary: rolloutSummary(evidence, tasks),
    rollout_slug: slugOf(evidence, tasks),
  };
}

/** What was done in one project; what was said in another neither adds to it nor replaces anything of it (A13). */
function tasksIn(evidence: Evidence, project: string | null): readonly KeptTask[] {
  const rows = evidence.rows.filter((row) => row.project === project);
  return withoutRepeats(readTasks(readEvents(rows))).map((task) => ({
    ...task,
    project,
    files: task.files.map((path) => relativePath(path, evidence.cwd)),
  }));
}

/** Paths below the working directory without it: what the project's own commands use. */
function relativePath(path: string, cwd: string | null): string {
  return cwd !== null && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

interface CheckedTask extends Task {
  /** Checks that passed in it and in no task before. */
  readonly passed: readonly string[];
}

interface KeptTask extends CheckedTask {
  /** Where it was done, if not in the session's own project. */
  readonly project: string | null;
}

function withoutRepeats(tasks: readonly Task[]): readonly CheckedTask[] {
  const told = new Set<string>();
  return tasks.map((task) => {
    const passed = [...task.checks].flatMap(([command, ended]) => (ended && !told.has(command) ? [command] : []));
    for (const command of passed) told.add(command);
    return { ...task, passed: passed.slice(-MAX_CHECKS) };
  });
}

function isWorthKeeping(task: KeptTask): boolean {
  return task.wishes.length > 0 || task.fixes.some(isShield) || task.passed.length > 0;
}

function rawMemory(evidence: Evidence, tasks: readonly KeptTask[]): string {
  const group = groupName(evidence);
  const head = [
    '---',
    `description: ${description(tasks)}`,
    `task: ${title(tasks[0])}`,
    `task_group: ${group}`,
    `task_outcome: ${overall(tasks)}`,
    `cwd: ${evidence.cwd ?? 'unknown'}`,
    `keywords: ${keywords(evidence, tasks).join(', ')}`,
    '---',
  ];
  const blocks = tasks.map((task, at) => [
    '',
    `### Task ${at + 1}: ${title(task)}`,
    '',
    `task: ${title(task)}`,
    `task_group: ${task.project === null ? group : lastPart(task.project)}`,
    `task_outcome: ${task.outcome}`,
    ...(task.project === null ? [] : [`project: ${task.project}`]),
    ...lessonLists(task),
    ...list('References', references(task)),
  ]);
  return `${[...head, ...blocks.flat()].join('\n')}\n`;
}

function rolloutSummary(evidence: Evidence, tasks: readonly KeptTask[]): string {
  const where = evidence.cwd === null ? 'an unknown folder' : `\`${evidence.cwd}\``;
  const project = evidence.project === null ? '' : ` Project: ${evidence.project}.`;
  const lines = [`# ${description(tasks)}`, '', `Work in ${where}.${project}`];
  tasks.forEach((task, at) => {
    lines.push(
      '',
      `## Task ${at + 1}: ${title(task)}`,
      '',
      ...(task.project === null ? [] : [`Project: ${task.project}.`]),
      `Outcome: ${task.outcome}${reasonOf(task)}`,
      ...list('Key steps', keySteps(task)),
      ...lessonLists(task),
      ...list('References', references(task)),
    );
  });
  return `${lines.join('\n')}\n`;
}

/** The lists that consolidation reads; the same words in the raw memory and in the summary. */
function lessonLists(task: KeptTask): readonly string[] {
  return [
    ...list('Preference signals', task.wishes.map(wishBullet)),
    ...list('Reusable knowledge', knowledge(task)),
    ...list('Failures and how to do differently', task.fixes.filter(isShield).map(fixBullet)),
  ];
}

function list(heading: string, bullets: readonly string[]): readonly string[] {
  return bullets.length === 0 ? [] : ['', `${heading}:`, ...bullets.map((bullet) => `- ${bullet}`)];
}

function wishBullet(wish: Wish): string {
  const older = wish.replaced.map(quote).join(', ');
  return older === '' ? quote(wish.text) : `${quote(wish.text)} (current; rejected before: ${older})`;
}

function knowledge(task: KeptTask): readonly string[] {
  return task.passed.map((command) => `${showCommand(command)} passed`);
}

/** A failure that another command cured. Where only files changed in between, it was the work itself and no lesson. */
function isShield(fix: Fix): boolean {
  return showCommand(fix.worked) !== showCommand(fix.failed) || fix.after.length > 0;
}

/** `symptom -> what worked`; the error line is quoted from the output. */
function fixBullet(fix: Fix): string {
  const code = fix.exitCode === null ? '' : ` (exit code ${fix.exitCode})`;
  const error = fix.error === null ? '' : `: "${fix.error}"`;
  const after = fix.after.map(showCommand).join(', ');
  const cure = fix.worked === fix.failed ? `it worked after ${after}` : `${showCommand(fix.worked)} worked`;
  const also = fix.worked !== fix.failed && after !== '' ? ` after ${after}` : '';
  return `${showCommand(fix.failed)} failed${code}${error} -> ${cure}${also}`;
}

function keySteps(task: Task): readonly string[] {
  const worked = task.fixes
    .filter((fix) => !isShield(fix))
    .map((fix) => {
      const error = fix.error === null ? '' : `: "${fix.error}"`;
      const edits = fix.edited.slice(-2).map((path) => `\`${path}\``);
      return `${showCommand(fix.failed)} failed${error}; it passed later${edits.length > 0 ? `, with changes to ${edits.join(', ')} in between` : ''}`;
    });
  const files = task.files.slice(0, MAX_FILES).map((path) => `\`${path}\``);
  const more = task.files.length > MAX_FILES ? ` and ${task.files.length - MAX_FILES} more` : '';
  return files.length > 0 ? [...worked, `Changed ${files.join(', ')}${more}`] : worked;
}

/** Numbered evidence: what the person said of it, and how each check last ended. */
function references(task: Task): readonly string[] {
  const said = task.reason !== null && 'quote' in task.reason ? [`Person: ${quote(task.reason.quote)}`] : [];
  const checks = [...task.checks]
    .slice(-MAX_CHECKS)
    .map(([command, passed]) => `${showCommand(command)}: last run ${passed ? 'passed' : 'failed'}`);
  return [...said, ...checks].map((text, at) => `[${at + 1}] ${text}`);
}

function reasonOf(task: Task): string {
  if (task.reason === null) return ', nobody judged it and no check ran';
  if ('quote' in task.reason) return `, the person wrote ${quote(task.reason.quote)}`;
  return `, the last check ${showCommand(task.reason.check)} ${task.reason.passed ? 'passed' : 'failed'}`;
}

function overall(tasks: readonly Task[]): TaskOutcome {
  const outcomes = new Set(tasks.map((task) => task.outcome));
  const [only] = outcomes;
  if (outcomes.size === 1 && only !== undefined) return only;
  return outcomes.has('success') ? 'partial' : 'uncertain';
}

function description(tasks: readonly KeptTask[]): string {
  const more = tasks.length > 1 ? ` (and ${tasks.length - 1} more)` : '';
  return `${title(tasks[0])}${more}`;
}

/** The request in the person's words, on one line. */
function title(task: Task | undefined): string {
  const text = (task?.request ?? '').replace(/\s+/g, ' ').trim();
  if (text === '') return 'Untitled request';
  const head = [...text].slice(0, MAX_TITLE).join('');
  return head === text
    ? text
    : `${head.slice(0, head.lastIndexOf(' ') > MAX_TITLE / 2 ? head.lastIndexOf(' ') : undefined)} …`;
}

function groupName(evidence: Evidence): string {
  return lastPart(evidence.project ?? evidence.cwd ?? 'unknown');
}

function lastPart(project: string): string {
  return (
    project
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? 'unknown'
  );
}

/** Words to search for: the programs and the names of the files of the tasks, most used first. */
function keywords(evidence: Evidence, tasks: readonly KeptTask[]): readonly string[] {
  const counts = new Map<string, number>();
  const add = (word: string | undefined): void => {
    if (word && /^[\w@][\w.@+-]*$/.test(word) && word.length <= 40) counts.set(word, (counts.get(word) ?? 0) + 1);
  };
  add(groupName(evidence));
  for (const task of tasks) {
    for (const path of task.files) add(path.split('/').at(-1));
    for (const command of [...task.checks.keys(), ...task.fixes.flatMap((fix) => [fix.failed, ...fix.after])]) {
      add(coreWords(command)[0]);
    }
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 10)
    .map(([word]) => word);
}

/** ASCII words of the group, the request and the changed files: a session in any language gets a usable name. */
function slugOf(evidence: Evidence, tasks: readonly KeptTask[]): string {
  const words = [groupName(evidence), tasks[0]?.request ?? '', ...keywords(evidence, tasks).slice(1, 4)]
    .join(' ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1);
  const slug = [...new Set(words)].slice(0, 9).join('-').slice(0, 80).replace(/-+$/, '');
  return slug === '' ? 'session' : slug;
}
