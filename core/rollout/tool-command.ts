import { asList, asObject, asText } from './json-value.ts';

/** Which command a tool call runs, and whether its result would only bring back what is no evidence of this session. */
const MAX_COMMAND_UNITS = 2_000;
const SHELLS = /^(?:\S*\/)?(?:ba|z|da|k|fi)?sh$|^(?:power|pw)shell(?:\.exe)?$/i;
/** What is typed around a command to see less of its output; the command is the same without it. */
const LEADING = /^(?:cd\s+[^;&|]{1,300}&&\s*|set -[a-z]+(?: pipefail)?\s*(?:;|&&|\n)\s*)+/;
const TRAILING = /(?:\s*(?:2>&1|\|&)|\s*\|\s*(?:tail|head|cat|tee|less|grep|rg|sed)\b[^|;&]{0,200})+\s*$/;

export interface RunCommand {
  /** As it was given. */
  readonly whole: string;
  /** Without what varies between repetitions. */
  readonly command: string;
  readonly masked: boolean;
}

/** @param args decoded arguments, or the text where they are none */
export function commandOf(name: string, args: unknown): RunCommand | undefined {
  const given = asObject(args);
  const value = given['command'] ?? given['cmd'] ?? given['script'] ?? (name === 'exec' ? args : undefined);
  const whole = (typeof value === 'string' ? value : joinWords(asList(value))).trim();
  if (whole === '' || whole.length > MAX_COMMAND_UNITS) return undefined;
  const command = whole.replace(LEADING, '').replace(TRAILING, '').replace(/\s+/g, ' ').trim();
  return { whole, command: command === '' ? whole : command, masked: /\||;/.test(whole.replaceAll('||', '')) };
}

/** `["bash", "-lc", "npm test"]` runs `npm test`. */
function joinWords(words: readonly unknown[]): string {
  const texts = words.filter((word) => typeof word === 'string');
  const [shell = '', flag = '', script] = texts;
  if (texts.length === 3 && script !== undefined && SHELLS.test(shell) && flag.startsWith('-')) return script;
  return texts.join(' ');
}

export const RECALLED_MEMORY = '[recalled memory omitted]';
const SESSION_FILES = '[records of other sessions omitted]';
const RULES_FILE = '[instructions file omitted]';

/** Our own MCP tools that answer from memory, and those of other memory servers by the server's name. */
const RECALLING_TOOL = /^memory_(?:summary|list|read|search)$|^(?:search|read|list|get|recall|query)_memor(?:y|ies)$/;
const MEMORY_SERVER = /(?:^|[_-])(?:memory|memories|openmemory|mem0|stillroom)(?:[_-]|$)/i;
const WRITING_TOOL = /(?:^|_)(?:add|append|cite|create|delete|note|put|remember|save|store|update|write)(?:_|$)/i;
const MEMORY_PATH =
  /(?:^|[/\\\s"'=])(?:memory_summary\.md|raw_memories\.md|rollout_summaries(?:[/\\]|$)|MEMORY\.md)|\.codex[/\\]memories|\.stillroom[/\\]|\bstillroom (?:show|search|diff|context|rules)\b/;
const SESSION_PATH =
  /\.codex[/\\](?:sessions|archived_sessions|history\.jsonl)|\.claude[/\\]projects|\.gemini[/\\]tmp[/\\]|\.pi[/\\]agent[/\\]sessions|\.copilot[/\\](?:history-)?session-state|\brollout-\d{4}-\d\d-\d\dT[\w-]{8,80}\.jsonl/;
const RULES_PATH = /(?:^|[/\\\s"'])(?:AGENTS(?:\.override)?|CLAUDE(?:\.local)?|GEMINI|SKILL)\.md["']?\s*$/;
const PLAIN_READ = /^(?:cat|bat|less|more|head|tail|nl|type|gc|Get-Content|sed -n)\s[^|;&<>]{1,400}$/i;
const READING_TOOL = /^(?:read|view|cat|open|get)(?:_?(?:text_?)?file)?$/i;

/**
 * What stands in for the result of a call that reads memory (A16), records of other sessions (A16), or the rules that every
 * session is given anyway (A18); null: the result is evidence.
 */
export function omissionOf(call: {
  readonly name: string;
  readonly namespace: string | null;
  readonly command: string | null;
  readonly args: unknown;
}): string | null {
  const [, server = call.namespace?.replace(/^mcp__/, '') ?? '', tool = call.name] =
    /^mcp__(.{1,100}?)__(.{1,100})$/.exec(call.name) ?? [];
  if (RECALLING_TOOL.test(tool)) return RECALLED_MEMORY;
  if (MEMORY_SERVER.test(server) && !WRITING_TOOL.test(tool)) return RECALLED_MEMORY;
  const reads = READING_TOOL.test(tool) ? pathOf(call.args) : null;
  const looked = call.command ?? reads;
  if (looked === null) return null;
  if (SESSION_PATH.test(looked)) return SESSION_FILES;
  if (MEMORY_PATH.test(looked)) return RECALLED_MEMORY;
  const plain = call.command === null || PLAIN_READ.test(call.command);
  return plain && RULES_PATH.test(looked) ? RULES_FILE : null;
}

function pathOf(args: unknown): string | null {
  const given = asObject(args);
  return asText(given['file_path']) ?? asText(given['path']) ?? asText(given['absolute_path']) ?? asText(given['file']);
}
