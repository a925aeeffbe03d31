/**
 * Which memory files a shell command reads (behaviours P-05). For telemetry only: it changes no usage count.
 */
export type MemoryFileKind = 'memory_md' | 'memory_summary' | 'raw_memories' | 'rollout_summaries' | 'skills';

export interface MemoryRead {
  readonly kind: MemoryFileKind;
  readonly version: 'v1' | 'v2';
}

/** In this order; the first that a path contains counts. */
const KINDS: readonly (readonly [string, MemoryFileKind])[] = [
  ['MEMORY.md', 'memory_md'],
  ['memory_summary.md', 'memory_summary'],
  ['raw_memories.md', 'raw_memories'],
  ['rollout_summaries/', 'rollout_summaries'],
  ['skills/', 'skills'],
];
const ROOTS = [
  ['memories/', 'v1'],
  ['memories_v2/', 'v2'],
] as const;

/** Commands that read the files they name, POSIX and Windows. */
const READERS = new Set(
  'cat head tail nl less more bat sed grep egrep fgrep rg ag awk wc type gc get-content findstr select-string'.split(
    ' ',
  ),
);
/** Recognised, but they read no content. */
const BYSTANDERS = new Set(
  'ls dir tree find fd cd pwd true sort uniq cut tr get-childitem gci select-object'.split(' '),
);
/** A search that lists files only. */
const LISTING_FLAGS = new Set(['--files', '-l', '--files-with-matches']);
const WRITING_FLAGS = /^(-i|--in-place)/;

/**
 * The memory files that a command line reads, one for each path, in order.
 * @returns nothing when any command in the line is not recognised, writes, or only lists
 */
export function classifyMemoryReads(commandLine: string): readonly MemoryRead[] {
  const commands = splitCommands(commandLine);
  if (commands === undefined) return [];
  const reads: MemoryRead[] = [];
  for (const [name = '', ...args] of commands) {
    const command = baseName(name).toLowerCase();
    if (BYSTANDERS.has(command)) continue;
    if (!READERS.has(command) || (command === 'sed' && args.some((arg) => WRITING_FLAGS.test(arg)))) return [];
    if (args.some((arg) => LISTING_FLAGS.has(arg))) continue;
    reads.push(...args.flatMap(classifyPath));
  }
  return reads;
}

function classifyPath(written: string): MemoryRead[] {
  const path = written.replaceAll('\\', '/');
  for (const [name, kind] of KINDS) {
    for (const [root, version] of ROOTS) if (path.includes(`${root}${name}`)) return [{ kind, version }];
  }
  return [];
}

function baseName(command: string): string {
  return command.slice(Math.max(command.lastIndexOf('/'), command.lastIndexOf('\\')) + 1).replace(/\.exe$/i, '');
}

/**
 * Words of each command of a line. A backslash is an ordinary character unless white space or a quote follows, so that
 * Windows paths stay whole.
 * @returns undefined for what is more than a row of plain commands: redirections, substitutions, subshells, open quotes
 */
function splitCommands(line: string): readonly (readonly string[])[] | undefined {
  const commands: string[][] = [[]];
  const token = /[^\S\n]*(?:(&&|\|\||[;|\n])|((?:"[^"$`]*"|'[^']*'|\\[\s"']|[^\s;|&<>()$`"'])+))[^\S\n]*/y;
  const text = line.trim();
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (!match) return undefined;
    if (match[1] !== undefined) commands.push([]);
    else commands.at(-1)?.push(unquote(match[2] ?? ''));
  }
  return commands.filter((words) => words.length > 0);
}

function unquote(word: string): string {
  return word.replace(/"([^"]*)"|'([^']*)'|\\([\s"'])/g, (_, double = '', single = '', escaped = '') =>
    [double, single, escaped].join(''),
  );
}
