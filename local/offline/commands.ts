import { stripVTControlCharacters } from 'node:util';
import type { SessionEvent } from './session-events.ts';
import { areAlternatives } from './stance.ts';
import type { Run } from './tool-items.ts';

const MAX_COMMAND = 160;
const MAX_ERROR = 140;

/** A command that failed and what was seen to help. All texts stand in the evidence. */
export interface Fix {
  readonly failed: string;
  readonly exitCode: number | null;
  /** The first line of the output that tells of an error; null when none does. */
  readonly error: string | null;
  /** The command that then worked: the same one, or another for the same end. */
  readonly worked: string;
  /** Commands that changed something in between and worked. */
  readonly after: readonly string[];
  /** Files changed in between. */
  readonly edited: readonly string[];
}

const WRAPPERS = new Set(['npx', 'bunx', 'sudo', 'time', 'env', 'timeout']);
const RUNNERS: Readonly<Record<string, string>> = {
  uv: 'run',
  poetry: 'run',
  pnpm: 'exec',
  bundle: 'exec',
  npm: 'exec',
};
const SCRIPT_RUNNERS = new Set(['npm', 'pnpm', 'yarn', 'bun', 'mise']);
/** Programs whose next word is a script: two scripts are two aims. */
const INTERPRETERS = /^(?:python[\d.]*|node|ruby|perl|bash|sh|zsh|cmd|powershell|pwsh|tsx|deno|php)$/;
const READ_ONLY =
  /^(?:cat|ls|rg|grep|find|head|tail|sed -n|wc|pwd|tree|which|echo|printf|jq|stat|file|awk|less|nl|type|dir|findstr|test -|Get-\w+|cmd \/c (?:type|dir|findstr)|git (?:status|diff|log|show|blame|branch|rev-parse|ls-files))(?![\w-])/;
const CHECKERS =
  /^(?:pytest|vitest|jest|mocha|tsc|eslint|biome|ruff|mypy|flake8|pyright|phpunit|rspec|ctest|tox|nox|playwright|clippy)$/;
const CHECK_RUNNERS =
  /^(?:npm|pnpm|yarn|bun|make|just|cargo|go|mise|gradle|\.\/gradlew|mvn|dotnet|mix|rake|bazel|deno|swift|zig|task|nx|turbo|composer)$/;
const CHECK_WORD =
  /^(?:[\w-]+:)?(?:test|tests|lint|check|clippy|vet|build|compile|typecheck|type-check|verify|e2e|ci)(?:[:_-][\w:-]+)?$/;
const CHECK_SCRIPT = /(?:^|\/)(?:test|tests|lint|verify|ci)(?:[._-][\w.-]*)?$/;
const ERROR_LINE =
  /\b\w*(?:Error|Exception)\b|\berror(?:\[|:| )|\b(?:fatal|panic|refused|denied|not found|no such|no rule)\b/i;
const WEAK_ERROR_LINE = /\b(?:failed|failure|cannot|can't|unauthorized|undefined|missing)\b|✗|×/i;
const LOOP = /^for .*?; do (.*?)(?: \|\| exit 1)?; done$/;

/** The words of a command without environment, `cd x &&` and wrappers: `cd a && CI=1 npx vitest run` gives `vitest run`. */
export function coreWords(command: string): readonly string[] {
  const last = firstLine(command)
    .replace(LOOP, '$1')
    .trim()
    .replace(/^(?:cd \S+ *(?:&&|;) *)+/, '');
  let words = last.split(/\s+/).filter((word) => word !== '');
  for (;;) {
    const [head, next] = words;
    if (head === undefined) return words;
    if (/^[A-Z_][A-Z0-9_]*=/.test(head) || WRAPPERS.has(head)) words = words.slice(1);
    else if (RUNNERS[head] !== undefined && RUNNERS[head] === next) words = words.slice(2);
    else if (/^(?:ba|z)?sh$/.test(head) && next !== undefined && !next.startsWith('-')) words = words.slice(1);
    else if (next === 'run' && SCRIPT_RUNNERS.has(head)) words = [head, ...words.slice(2)];
    else return words;
  }
}

/** A command that looks at the project's state of health: tests, lint, types, build. */
export function isCheck(command: string): boolean {
  return segmentsOf(command).some((segment) => {
    const [program = '', ...args] = coreWords(segment);
    if (CHECKERS.test(program) || CHECK_SCRIPT.test(program)) return true;
    return CHECK_RUNNERS.test(program) && args.slice(0, 4).some((word) => CHECK_WORD.test(word) || CHECKERS.test(word));
  });
}

/**
 * True where the exit code does not tell how the command proper ended: behind a pipe, before a `;`, with `|| true`.
 * Such a command can be seen to fail, but not to pass.
 */
export function hidesItsEnd(command: string): boolean {
  const bare = withoutQuotes(firstLine(command).replace(LOOP, '$1'));
  return /(?<!\|)\|(?!\|)|\|\||;|(?<!&)&(?![&>\d])/.test(
    bare.replace(/\d?>&\d|&>/g, ' ').replace(/^(?:cd|export|set) [^;|&]*;/, ''),
  );
}

/** A command that leaves everything as it is. */
export function isReadOnly(command: string): boolean {
  return READ_ONLY.test(coreWords(command).join(' '));
}

/** True when two commands are after the same thing: the same program and sub-command, or the same check or path. */
export function sameAim(left: string, right: string): boolean {
  if (left === right) return true;
  if (left.includes('\n') || right.includes('\n')) return false;
  const [a, b] = [coreWords(left), coreWords(right)];
  const [program, other] = [a[0] ?? '', b[0] ?? ''];
  if (program === '' || other === '') return false;
  if (INTERPRETERS.test(program) || INTERPRETERS.test(other)) {
    return program === other && !/^-/.test(a[1] ?? '-') && a[1] === b[1] && pathsOf(a).join() === pathsOf(b).join();
  }
  if (program === other && (a[1] ?? '') === (b[1] ?? '')) return samePaths(a, b);
  if (areAlternatives(program, other) && a[1] === b[1]) return samePaths(a, b);
  if (!isCheck(left) || !isCheck(right)) return false;
  const paths = pathsOf(a);
  return paths.length > 0 ? paths.some((path) => b.includes(path)) : lastName(a) === lastName(b);
}

/** Failed commands with what worked later in the same session; each failure is told once. */
export function findFixes(events: readonly SessionEvent[]): readonly Fix[] {
  const fixes: Fix[] = [];
  const told = new Set<string>();
  events.forEach((event, at) => {
    if (event.kind !== 'command' || !event.run?.failed || isReadOnly(event.command)) return;
    if (told.has(event.command) || event.command.includes('[REDACTED')) return;
    const to = events.findIndex((other, index) => index > at && worked(other) && sameAim(event.command, other.command));
    const fix = events[to];
    if (fix?.kind !== 'command' || fix.command.includes('[REDACTED')) return;
    told.add(event.command);
    fixes.push({
      failed: event.command,
      exitCode: event.run.exitCode,
      error: errorLine(event.run),
      worked: fix.command,
      after: helpersFor(events.slice(at, to), event.command, fix.command),
      edited: filesIn(events.slice(at + 1, to)),
    });
  });
  return fixes;
}

/** The last way each check ended, newest last: command and whether it passed. Commands whose end is not told are left out. */
export function lastChecks(events: readonly SessionEvent[]): ReadonlyMap<string, boolean> {
  const ends = new Map<string, boolean>();
  for (const event of events) {
    if (event.kind !== 'command' || !event.run || !isCheck(event.command)) continue;
    if (!event.run.failed && (event.run.exitCode === null || hidesItsEnd(event.command))) continue;
    if (event.command.includes('[REDACTED')) continue;
    ends.delete(event.command);
    ends.set(event.command, !event.run.failed);
  }
  return ends;
}

/** Files changed, in order, without repeats. */
export function filesIn(events: readonly SessionEvent[]): readonly string[] {
  return [...new Set(events.flatMap((event) => (event.kind === 'files' ? event.paths : [])))].filter(
    (path) => !path.includes('[REDACTED'),
  );
}

/** A command as inline code: its first line, at most 160 characters; `…` outside tells of a cut. */
export function showCommand(command: string): string {
  const line = firstLine(command);
  const head = [...line].slice(0, MAX_COMMAND).join('').trimEnd();
  const fence = head.includes('`') ? '``' : '`';
  return `${fence}${head}${fence}${head === command ? '' : ' …'}`;
}

function worked(event: SessionEvent): event is Extract<SessionEvent, { kind: 'command' }> {
  return event.kind === 'command' && event.run?.exitCode === 0 && !hidesItsEnd(event.command);
}

/**
 * What ran before the command that worked. A change of program is the lesson by itself, so there only what came after the new
 * one's own failure counts.
 */
function helpersFor(events: readonly SessionEvent[], failed: string, fix: string): readonly string[] {
  if (isSameProgram(failed, fix)) return helpersBetween(events.slice(1), failed);
  const own = events.findLastIndex((event) => event.kind === 'command' && event.command === fix && event.run?.failed);
  return own < 0 ? [] : helpersBetween(events.slice(own + 1), fix);
}

function helpersBetween(events: readonly SessionEvent[], failed: string): readonly string[] {
  const helpers = events.filter(worked).map((event) => event.command);
  return [...new Set(helpers)]
    .filter(
      (command) =>
        !isReadOnly(command) &&
        !isCheck(command) &&
        !/\bgit (?:add|commit|push)\b/.test(command) &&
        !sameAim(command, failed),
    )
    .filter((command) => !command.includes('[REDACTED'))
    .slice(-2);
}

function errorLine(run: Run): string | null {
  const lines = stripVTControlCharacters(run.output)
    .split('\n')
    .map((line) => line.trim());
  const fit = lines.filter((text) => text.length > 8 && !text.startsWith('=') && !text.includes('[REDACTED'));
  const line = fit.find((text) => ERROR_LINE.test(text)) ?? fit.find((text) => WEAK_ERROR_LINE.test(text));
  return line === undefined ? null : [...line].slice(0, MAX_ERROR).join('').trimEnd();
}

/** A change of program is the lesson by itself; what else ran in between is told where the program stayed. */
function isSameProgram(left: string, right: string): boolean {
  return coreWords(left)[0] === coreWords(right)[0];
}

function firstLine(command: string): string {
  return (command.split('\n')[0] ?? '').trim();
}

/** The commands of a line, apart at `&&`, `||`, `;` and pipes. */
function segmentsOf(command: string): readonly string[] {
  return withoutQuotes(firstLine(command).replace(LOOP, '$1')).split(/&&|\|\|?|;/);
}

function withoutQuotes(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '""');
}

function pathsOf(words: readonly string[]): readonly string[] {
  return words.slice(1).filter((word) => /[/.]/.test(word) && !word.startsWith('-'));
}

function samePaths(left: readonly string[], right: readonly string[]): boolean {
  const paths = pathsOf(left);
  return paths.length === 0 || pathsOf(right).length === 0 || paths.some((path) => right.includes(path));
}

function lastName(words: readonly string[]): string {
  return words.slice(1).find((word) => !word.startsWith('-')) ?? words[0] ?? '';
}
