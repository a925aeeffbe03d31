import { truncateBytes } from '../text.ts';
import { dropContext, isRulesPart } from './injected-text.ts';
import { cleanItem, textPart } from './item-text.ts';
import { asList, asObject, asText, isObject, type JsonObject } from './json-value.ts';
import type { EvidenceTier } from './rollout.ts';

/** Messages of the Codex format: what is left of them (behaviours S-02), and who speaks (TI-03). */
export interface KnownMessage {
  readonly tier: EvidenceTier;
  readonly item: JsonObject;
  /** The text parts, joined by line ends. */
  readonly text: string;
  /** The text as it was sent, where the item holds a part of it only. */
  readonly sent?: string;
  /** A person called up a harness text by a command, and said nothing with it: their turn, but not their words. */
  readonly isCommand?: boolean;
}

/** Harness texts in the user role that say what happened: kept, but not as a person's words. */
const HARNESS_NOTICES = ['<turn_aborted>', '<user_action>', '<user_shell_command>', '<hook_prompt'];
const REQUEST_WRAPPERS = ['# Context from my IDE setup:', '## Referenced ChatGPT conversation:'];
const REQUEST_HEADING = '## My request for Codex:';
const COMMAND_BYTES = 600;
const AGENT_HEADERS = ['Message Type:', 'Task name:', 'Sender:', 'Payload:'];

/** @returns undefined when nothing of the message is kept */
export function readMessage(message: JsonObject): KnownMessage | undefined {
  const role = message['role'];
  if (role === 'developer' || typeof role !== 'string') return undefined;
  if (role === 'user') return readUserMessage(message);
  const item = cleanItem(message);
  const text = joinTexts(item);
  if (hasAgentContent(message, texts(message))) return { tier: 'other_agent', item, text };
  return { tier: message['phase'] === 'commentary' ? 'commentary' : 'final', item, text };
}

function readUserMessage(message: JsonObject): KnownMessage | undefined {
  const kept = contentParts(message).filter((part) => !isDroppedPart(part));
  if (kept.length === 0) return undefined;
  const { status: _status, ...rest } = message;
  const before = kept.map(partText);
  const sent = before.join('\n');
  const command = before.length === 1 ? readExpandedCommand(sent) : undefined;
  if (command) {
    const isCommand = command.said === '';
    const content = [textPart(isCommand ? command.about : command.said)];
    return { tier: 'human', item: cleanItem({ ...rest, content }), text: command.said, sent, isCommand };
  }
  const item = cleanItem({ ...rest, content: kept.map((part) => unwrapRequest(dropBlankRuns(withoutContext(part)))) });
  const text = joinTexts(item);
  if (hasAgentContent(message, before)) return { tier: 'other_agent', item, text };
  if (isHarness(message, before)) return { tier: 'context', item, text };
  return { tier: 'human', item, text, sent };
}

/** S-02, and parts without any text. */
function isDroppedPart(part: unknown): boolean {
  const text = partText(part);
  if (text.trim() === '') return isObject(part) && typeof part['text'] === 'string';
  return isRulesPart(text);
}

/** Rules and memory that we injected, in one part with what the person wrote. */
function withoutContext(part: unknown): unknown {
  const text = partText(part);
  const rest = dropContext(text);
  return isObject(part) && rest !== text ? { ...part, text: rest } : part;
}

/** The editor's context and referenced conversations stand before the request, in the same text; the request is at its end. */
function unwrapRequest(part: unknown): unknown {
  const text = partText(part);
  const opening = text.trimStart();
  if (!isObject(part) || !REQUEST_WRAPPERS.some((wrapper) => opening.startsWith(wrapper))) return part;
  const at = text.lastIndexOf(REQUEST_HEADING);
  if (at < 0) return part;
  return { ...part, ...textPart(text.slice(at + REQUEST_HEADING.length).trim()) };
}

/**
 * A prompt file that a slash command expanded into the user's message, in the one form that says where the person's own words
 * are. Others cannot be told from typed text.
 */
function readExpandedCommand(text: string): { readonly said: string; readonly about: string } | undefined {
  const opening = /^\s*## User Input\s+```(?:text)?[^\S\n]*\n/.exec(text);
  if (!opening) return undefined;
  const end = text.indexOf('\n```', opening[0].length - 1);
  const rest = end < 0 ? '' : text.slice(end + '\n```'.length).trimStart();
  if (!rest.startsWith('You **MUST** consider the user input')) return undefined;
  const about = `[slash command] ${truncateBytes(rest, COMMAND_BYTES)}`;
  return { said: text.slice(opening[0].length, end).trim(), about };
}

/** Text pasted from a terminal is filled up with spaces to the width of the window. */
function dropBlankRuns(part: unknown): unknown {
  const text = partText(part);
  if (!isObject(part) || !/ {16}\r?\n/.test(text)) return part;
  const lines = text.split('\n').map((line) => line.trimEnd());
  return { ...part, text: lines.join('\n') };
}

/** TI-03: declared content kinds that are all not the user's, or one part that is a whole harness text. */
function isHarness(message: JsonObject, parts: readonly string[]): boolean {
  const kinds = declaredKinds(message);
  if (kinds.length > 0 && kinds.every((kind) => !kind.startsWith('user.'))) return true;
  return parts.some((text) => {
    const trimmed = text.trim();
    if (trimmed.startsWith('<environment_context>')) return trimmed.endsWith('</environment_context>');
    return HARNESS_NOTICES.some((notice) => trimmed.startsWith(notice));
  });
}

function hasAgentContent(message: JsonObject, parts: readonly string[]): boolean {
  if (declaredKinds(message).some((kind) => kind.startsWith('multi_agent.'))) return true;
  return parts.some((text) => {
    const trimmed = text.trimStart();
    return trimmed.startsWith('<subagent_notification>') || hasAgentHeaders(trimmed);
  });
}

/** The four header lines of a message between agents, one after the other. */
function hasAgentHeaders(text: string): boolean {
  const lines = text.slice(0, 2_000).split('\n', 4);
  return lines.length === 4 && AGENT_HEADERS.every((header, at) => lines[at]?.startsWith(header));
}

function declaredKinds(message: JsonObject): readonly string[] {
  const metadata = asObject(message['internal_chat_message_metadata_passthrough']);
  const kinds = metadata['content_item_kinds'] ?? message['content_item_kinds'];
  return asList(kinds).filter((kind) => typeof kind === 'string');
}

function contentParts(message: JsonObject): readonly unknown[] {
  const content = message['content'];
  return typeof content === 'string' ? [textPart(content)] : asList(content);
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  return asText(asObject(part)['text']) ?? '';
}

function texts(message: JsonObject): readonly string[] {
  return contentParts(message).map(partText);
}

function joinTexts(message: JsonObject): string {
  return texts(message)
    .filter((text) => text !== '')
    .join('\n');
}

/** The directory that an environment block names, in its tag form or the older line form. */
export function environmentDirectory(text: string): string | null {
  if (!text.includes('<environment_context>')) return null;
  const match = /<cwd>([^<\n]{1,4096})<\/cwd>|^Current working directory: ([^\n]{1,4096})$/m.exec(text);
  return match?.[1] ?? match?.[2] ?? null;
}
