import { TIER_LABELS } from '../../core/rollout/rollout.ts';
import type { Row } from './evidence.ts';
import { humanText } from './human-text.ts';
import { asText, isObject, type JsonObject, parseObject } from './json.ts';
import { commandsOf, outcomeOf, patchedFiles, type Run } from './tool-items.ts';

/** What happened in a session, in order, as far as the rules understand it. */
export type SessionEvent =
  | { readonly kind: 'human'; readonly text: string }
  | { readonly kind: 'command'; readonly command: string; readonly run: Run | null }
  | { readonly kind: 'files'; readonly paths: readonly string[] };

interface PendingCommand {
  readonly at: number;
  readonly command: string;
}

/**
 * Reads evidence rows as events. Calls and outputs pair by their id; a call whose output is missing has no run. Only rows
 * labelled as the human's count as human: words in tool output are never a wish (user case A19).
 */
export function readEvents(rows: readonly Row[]): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  const pending = new Map<string, PendingCommand>();
  for (const row of rows) {
    if (row.label === TIER_LABELS.human) {
      const text = humanText(row.text);
      if (text !== '') events.push({ kind: 'human', text });
    } else {
      for (const item of itemsOf(row.text)) addToolItem(item, events, pending);
    }
  }
  return events;
}

/** The tool items of a row: the item itself, or the tool blocks of a message. A row that is cut is read by pattern. */
function itemsOf(text: string): readonly JsonObject[] {
  const parsed = parseObject(text) ?? salvage(text);
  if (parsed === undefined) return [];
  const message = isObject(parsed.message) ? parsed.message : parsed;
  const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : [];
  return [parsed, ...blocks];
}

function addToolItem(item: JsonObject, events: SessionEvent[], pending: Map<string, PendingCommand>): void {
  const paths = patchedFiles(item);
  if (paths.length > 0) events.push({ kind: 'files', paths });
  const id = asText(item.call_id ?? item.id ?? item.tool_use_id);
  for (const command of commandsOf(item)) {
    pending.set(id, { at: events.length, command });
    events.push({ kind: 'command', command, run: null });
  }
  const answered = pending.get(asText(item.call_id ?? item.tool_use_id));
  const run = answered && outcomeOf(item);
  if (answered && run) events[answered.at] = { kind: 'command', command: answered.command, run };
}

/** A row cut in the middle is no JSON any more; its type, id and the start of its main text still stand in it. */
function salvage(row: string): JsonObject | undefined {
  const field = (name: string): string | undefined => {
    const found = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)`).exec(row)?.[1];
    return found === undefined ? undefined : (parseString(found) ?? found);
  };
  const type = field('type');
  if (type === undefined) return undefined;
  return {
    type,
    name: field('name'),
    call_id: field('call_id'),
    tool_use_id: field('tool_use_id'),
    arguments: field('arguments'),
    input: field('input'),
    output: field('output'),
  };
}

function parseString(escaped: string): string | undefined {
  try {
    const value: unknown = JSON.parse(`"${escaped}"`);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined; // cut inside an escape
  }
}
