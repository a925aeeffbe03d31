import { cutInjected, isContextAnswer } from './injected-text.ts';
import { asObject, isObject, type JsonObject, parseJson, setOwn } from './json-value.ts';
import { RECALLED_MEMORY } from './tool-command.ts';

/** What is taken out of items before they become evidence, whatever agent wrote them. */
const DATA_URL = /data:[\w.+-]{1,40}\/[\w.+-]{1,80};base64,[A-Za-z0-9+/=_-]{64,}/g;
const ENCRYPTED = /(?<![A-Za-z0-9_-])gAAAA[A-Za-z0-9_-]{60,}={0,2}/g;
const CODEX_RECORD = /"type\\*"\s?:\s?\\*"(?:session_meta|response_item|event_msg|turn_context)(?=\\*")/g;
const BARE_RECORD = /"record_type\\*"\s?:\s?\\*"state(?=\\*")/g;
const COPILOT_RECORD =
  /"type\\*"\s?:\s?\\*"(?:session\.(?:start|resume|shutdown)|(?:user|assistant)\.message|tool\.execution_(?:start|complete))(?=\\*")/g;
const PI_RECORD = /"role\\*"\s?:\s?\\*"toolResult(?=\\*")|"type\\*"\s?:\s?\\*"thinking_level_change(?=\\*")/g;
const GEMINI_MARKS = ['"sessionId', '"projectHash', '"lastUpdated', '"messages'];
const CLAUDE_RECORD = /"(?:isSidechain|parentUuid)\\*"\s?:/g;
const MAX_DEPTH = 32;

const MEMORY_FILE_MARKS = [
  ['## User Profile', "## What's in Memory"],
  ['# Task Group: ', 'applies_to: cwd=', '### rollout_summary_files'],
  ['thread_id: ', 'updated_at: ', 'rollout_path: ', 'cwd: '],
];

export const FOREIGN_ROLLOUT = '[another rollout omitted]';

/**
 * A copy of an item that can be shown: encrypted content is cleared (behaviours S-03), images and audio become placeholders
 * (TI-01), data URLs go, NUL characters go (user case D10), and so do the rules and the memory that we injected ourselves
 * (A16, A18).
 */
export function cleanItem(item: JsonObject): JsonObject {
  return asObject(cleanValue(item, 0));
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) {
    return value.filter((part) => !isEncryptedPart(part)).map((part) => cleanValue(placeholder(part), depth + 1));
  }
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    if (key !== 'encrypted_content') setOwn(copy, key, cleanValue(part, depth + 1));
  }
  return copy;
}

function isEncryptedPart(part: unknown): boolean {
  return isObject(part) && part['type'] === 'encrypted_content';
}

function placeholder(part: unknown): unknown {
  if (!isObject(part)) return part;
  const kind = part['type'];
  if (kind === 'input_image' || kind === 'image' || kind === 'image_url') return textPart('[image omitted]');
  if (kind === 'input_audio' || kind === 'audio') return textPart('[audio omitted]');
  return part;
}

export function textPart(text: string): JsonObject {
  return { type: 'input_text', text };
}

export function cleanText(text: string): string {
  let clean = text.includes('\0') ? text.replaceAll('\0', '') : text;
  clean = cutInjected(clean);
  if (clean.includes(';base64,')) clean = clean.replace(DATA_URL, '[image omitted]');
  if (clean.includes('gAAAA')) clean = clean.replace(ENCRYPTED, '[encrypted content omitted]');
  return clean;
}

/**
 * A tool output that is itself a rollout, or a file of a memory, says what happened in other sessions: it is not evidence of
 * this one (A16).
 * @returns the output, or a placeholder for it
 */
export function cutForeignRollout(output: unknown): unknown {
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  if (isRollout(text)) return FOREIGN_ROLLOUT;
  return isContextAnswer(text) || isMemoryFile(text) ? RECALLED_MEMORY : output;
}

/** The marks of memory files as consolidation writes them: the summary, the tasks, the record of a session. */
function isMemoryFile(text: string): boolean {
  return MEMORY_FILE_MARKS.some((marks) => marks.every((mark) => text.includes(mark)));
}

function isRollout(text: string): boolean {
  if (text.includes('payload') && countUpTo(text, CODEX_RECORD, 2) === 2) return true;
  if (text.includes('isSidechain') && countUpTo(text, CLAUDE_RECORD, 4) === 4) return true;
  if (text.includes('"record_type') && countUpTo(text, BARE_RECORD, 2) === 2) return true;
  if (text.includes('"parentId') && countUpTo(text, COPILOT_RECORD, 2) === 2) return true;
  if (/toolResult|thinking_level/.test(text) && countUpTo(text, PI_RECORD, 2) === 2) return true;
  return GEMINI_MARKS.every((mark) => text.includes(mark));
}

function countUpTo(text: string, pattern: RegExp, limit: number): number {
  let count = 0;
  pattern.lastIndex = 0;
  while (count < limit && pattern.test(text)) count++;
  return count;
}

/**
 * The answers of a person to a question that the assistant asked through a tool (behaviours TI-04).
 * @returns whether the output decodes as answers with at least one that is not blank
 */
export function hasHumanAnswer(output: unknown): boolean {
  const decoded = typeof output === 'string' ? parseJson(output) : output;
  const answers = asObject(asObject(decoded)['answers']);
  return Object.values(answers).some((answer) => {
    const given = isObject(answer) ? answer['answers'] : answer;
    const list = Array.isArray(given) ? given : [given];
    return list.some((text) => typeof text === 'string' && text.trim() !== '');
  });
}
