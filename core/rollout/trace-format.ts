import { CodexItems } from './codex-items.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { cleanItem } from './item-text.ts';
import { asText, isObject, type JsonObject } from './json-value.ts';
import type { RecordHead } from './record-head.ts';

const INSTRUCTING_ROLES = new Set(['system', 'developer']);
const SPEAKING_ROLES = new Set(['assistant', 'user']);
const ITEMS = new Set([
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
]);

/**
 * Generic traces (behaviours 1.V): items of the Responses API in a list, or one a line, bare or as the payload of a
 * `response_item`. What other records hold is not looked at. A file is one thread; nothing in it names the thread.
 */
export const traceFormat: RolloutFormat = {
  agentKind: 'trace',
  isUnnamed: true,
  lists: ['items', 'input'],
  isLoose: true,
  recognises(record, place) {
    // On lines of their own, items with an id are those of the oldest Codex, and so are outputs, which had none.
    if (!('payload' in record)) return place === 'element' ? isItem(record) : isItem(record) && isTraceLine(record);
    if (record['type'] !== 'response_item') return false;
    const payload = record['payload'];
    return Array.isArray(payload) || (isObject(payload) && typeof record['timestamp'] !== 'string');
  },
  open: (sink) => new TraceReader(sink),
};

function isItem(record: JsonObject): boolean {
  const type = asText(record['type']) ?? '';
  if (type === 'message') return isKnownRole(record['role']);
  return ITEMS.has(type) && ('call_id' in record || 'summary' in record || 'status' in record || 'action' in record);
}

function isTraceLine(record: JsonObject): boolean {
  return !('id' in record) && !('output' in record);
}

function isKnownRole(role: unknown): boolean {
  return typeof role === 'string' && (SPEAKING_ROLES.has(role) || INSTRUCTING_ROLES.has(role));
}

class TraceReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #items: CodexItems;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#items = new CodexItems(sink);
  }

  skim(_head: RecordHead): 'drop' | 'defer' | 'read' {
    return 'read';
  }

  /** Never asked for. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(record: JsonObject): boolean {
    if (!('payload' in record)) return this.#readItem(record);
    if (record['type'] !== 'response_item') return false;
    const payload = record['payload'];
    let kept = false;
    for (const item of Array.isArray(payload) ? payload : [payload]) {
      if (isObject(item)) kept = this.#readItem(item) || kept;
    }
    return kept;
  }

  finish(): void {
    this.#items.finish();
  }

  /** Instructions are kept here, unlike in a rollout (V-03), but nobody said them. */
  #readItem(item: JsonObject): boolean {
    if (item['type'] !== 'message') return this.#items.read(item);
    if (!isKnownRole(item['role'])) return false;
    if (SPEAKING_ROLES.has(asText(item['role']) ?? '')) return this.#items.read(item);
    const json = JSON.stringify(cleanItem(item));
    this.#sink.item({ tier: 'context', isToolOutput: false, toJson: () => json });
    return true;
  }
}
