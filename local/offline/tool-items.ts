import { asText, isObject, type JsonObject, parseObject } from './json.ts';

/** How a command ended. `exitCode` null = not told. */
export interface Run {
  readonly exitCode: number | null;
  readonly failed: boolean;
  readonly output: string;
}

/** Tools that run a command in a shell, by the names that agents give them. */
const SHELL_TOOLS = new Set([
  'shell',
  'shell_command',
  'exec_command',
  'container.exec',
  'Bash',
  'local_shell',
  'bash',
]);
const EDIT_TOOLS = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);
const OUTPUT_LIMIT = 4_000;

/** The commands that a tool call runs; none when it is no call of a shell. A code-mode program may run several. */
export function commandsOf(item: JsonObject): readonly string[] {
  const name = asText(item.name);
  if (item.type === 'custom_tool_call' && name === 'exec') return commandsInProgram(asText(item.input));
  const call = item.type === 'function_call' || item.type === 'tool_use' || item.type === 'local_shell_call';
  if (!call || (!SHELL_TOOLS.has(name) && item.type !== 'local_shell_call')) return [];
  const command = commandIn(argumentsOf(item));
  return command === '' || /^apply_patch\b/.test(command) ? [] : [command];
}

/** Paths that a call changes: an edit tool's, or those in the headers of a patch. */
export function patchedFiles(item: JsonObject): readonly string[] {
  if (!['function_call', 'custom_tool_call', 'tool_use'].includes(asText(item.type))) return [];
  if (EDIT_TOOLS.has(asText(item.name))) {
    const path = asText(argumentsOf(item).file_path ?? argumentsOf(item).notebook_path);
    return path === '' ? [] : [path];
  }
  const source = asText(item.input) + asText(item.arguments);
  if (!source.includes('*** Begin Patch')) return [];
  const text = source.replaceAll('\\n', '\n').replaceAll('\\"', '"');
  return [...text.matchAll(/^\*\*\* (?:Update|Add|Delete) File: ([^\n]+)$/gm)].map((match) => (match[1] ?? '').trim());
}

/** How a call ended, from any of the forms of its output. @returns undefined when the item is no output */
export function outcomeOf(item: JsonObject): Run | undefined {
  if (!/(?:_output|^tool_result)$/.test(asText(item.type))) return undefined;
  const raw = item.output ?? item.content;
  const wrapped = typeof raw === 'string' ? parseObject(raw) : isObject(raw) ? raw : undefined;
  const text = wrapped ? asText(wrapped.output ?? wrapped.text) : joinParts(raw);
  const exitCode = exitCodeOf(wrapped, text, item);
  const output = withoutHead(text).slice(0, OUTPUT_LIMIT);
  const failed =
    exitCode === null ? item.is_error === true || /^(?:Script failed|execution error:)/.test(text) : exitCode !== 0;
  return { exitCode, failed, output };
}

function exitCodeOf(wrapped: JsonObject | undefined, text: string, item: JsonObject): number | null {
  const metadata = wrapped && isObject(wrapped.metadata) ? wrapped.metadata.exit_code : undefined;
  if (typeof metadata === 'number') return metadata;
  const told =
    /^Process exited with code (-?\d+)$/m.exec(text.slice(0, 400)) ??
    /^Exit code:? (-?\d+)$/m.exec(text.slice(0, 200)) ??
    /^\{?"?exit_code"?: ?(-?\d+)/m.exec(text) ??
    /\\?"exit_code\\?": ?(-?\d+)/.exec(text);
  if (told) return Number(told[1]);
  return isClaudeResult(item) && item.is_error !== true && !/^Command running in background/.test(text) ? 0 : null;
}

/** Claude Code tells a failure apart by a flag and says nothing of success. */
function isClaudeResult(item: JsonObject): boolean {
  return item.type === 'tool_result' || /^toolu_/.test(asText(item.call_id));
}

/** What tools put before the output proper. */
function withoutHead(text: string): string {
  const body = text.replace(
    /^(?:Chunk ID|Wall time|Exit code|Process exited|Script (?:completed|failed))[\s\S]*?\nOutput:\n/,
    '',
  );
  return body.replace(/^Exit code \d+\n/, '').replace(/\n?exit_code: \d+$/, '');
}

function joinParts(raw: unknown): string {
  if (typeof raw === 'string') return raw;
  if (!Array.isArray(raw)) return '';
  return raw
    .filter(isObject)
    .map((part) => asText(part.text))
    .join('\n');
}

function argumentsOf(item: JsonObject): JsonObject {
  if (isObject(item.input)) return item.input;
  if (isObject(item.arguments)) return item.arguments;
  if (isObject(item.action)) return item.action;
  return parseObject(asText(item.arguments)) ?? {};
}

/** `["bash","-lc","x"]` is x; other lists are joined by spaces. */
function commandIn(args: JsonObject): string {
  const value = args.cmd ?? args.command;
  if (typeof value === 'string') return value.trim();
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) return '';
  const [program, flag, script] = value;
  return (
    /(?:^|\/)(?:ba|z)?sh$/.test(program ?? '') && /^-\w*c$/.test(flag ?? '') ? (script ?? '') : value.join(' ')
  ).trim();
}

/** Commands in a code-mode program: the string after `cmd:` of each `exec_command`. */
function commandsInProgram(program: string): readonly string[] {
  const calls = program.matchAll(/exec_command\(\s*\{\s*"?cmd"?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`$]*`)/g);
  const commands = [...calls].map((match) => readLiteral(match[1] ?? ''));
  return commands.length === 1 ? commands : []; // several commands share one output: which one failed is not told
}

function readLiteral(literal: string): string {
  const body = literal.slice(1, -1);
  if (literal.startsWith('"')) return asText(parseObject(`{"text":${literal}}`)?.text).trim();
  return body.replaceAll("\\'", "'").replaceAll('\\n', '\n').trim();
}
