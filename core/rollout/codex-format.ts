import { parseTime } from '../time.ts';
import { CopiedBlock } from './codex-copies.ts';
import { CodexItems } from './codex-items.ts';
import { readOrigin } from './codex-source.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asObject, asText, isObject, type JsonObject } from './json-value.ts';
import type { RecordHead } from './record-head.ts';

const ENVELOPES = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
]);
const BARE_ITEMS = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'web_search_call',
]);
const DEFERRED_ITEMS = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
]);
/** Items that are looked into; every other kind is counted and dropped (behaviours 1.S). */
const READ_ITEMS = new Set([
  ...DEFERRED_ITEMS,
  'message',
  'agent_message',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
]);
const READ_EVENTS = new Set([
  'item_completed',
  'mcp_tool_call_end',
  'thread_rolled_back',
  'user_message',
  'web_search_end',
]);

/** Codex rollouts of every version: the bare era (header line, then items) and the envelope `{timestamp, type, payload}`. */
export const codexFormat: RolloutFormat = {
  agentKind: 'codex',
  recognises(record, place) {
    const type = record['type'];
    if (isObject(record['payload'])) {
      // An item in an envelope without a time is one of some trace (behaviours V-03).
      if (type === 'response_item') return typeof record['timestamp'] === 'string';
      return typeof type === 'string' && ENVELOPES.has(type);
    }
    if (place !== 'line') return false;
    // A bare item has an id, be it null, or is an output; others are items of some trace.
    if (typeof type === 'string')
      return (
        ('id' in record || 'output' in record) &&
        BARE_ITEMS.has(type) &&
        ('role' in record || 'call_id' in record || 'summary' in record)
      );
    return record['record_type'] === 'state' || isBareHeader(record);
  },
  open: (sink) => new CodexReader(sink),
};

function isBareHeader(record: JsonObject): boolean {
  const hasPlace = 'instructions' in record || 'git' in record;
  return typeof record['id'] === 'string' && typeof record['timestamp'] === 'string' && hasPlace;
}

class CodexReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #items: CodexItems;
  #threadId: string | undefined;
  readonly #copied = new CopiedBlock();
  #itemsSeen = false;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#items = new CodexItems(sink);
  }

  skim(head: RecordHead): 'drop' | 'defer' | 'read' {
    switch (head.type) {
      case 'response_item':
        return this.#skimItem(head, head.payloadType);
      case 'event_msg':
        return head.payloadType === undefined || READ_EVENTS.has(head.payloadType) ? 'read' : 'drop';
      case 'turn_context':
        return this.#sink.isIn(head.cwd) ? 'drop' : 'read';
      case 'session_meta':
      case 'inter_agent_communication':
      case undefined:
        return 'read';
      default:
        return this.#skimItem(head, head.type);
    }
  }

  #skimItem(head: RecordHead, kind: string | undefined): 'drop' | 'defer' | 'read' {
    if (kind === undefined) return 'read';
    if (this.#copied.holds(head.timeMs)) return 'drop';
    if (!READ_ITEMS.has(kind)) return 'drop';
    return DEFERRED_ITEMS.has(kind) && this.#items.canDefer(head, kind) ? 'defer' : 'read';
  }

  defer(head: RecordHead, bytes: Uint8Array): void {
    this.#itemsSeen = true;
    this.#items.defer(head, bytes);
  }

  read(record: JsonObject, timeMs: number | undefined): boolean {
    const type = record['type'];
    const payload = record['payload'];
    if (!isObject(payload)) return this.#readBare(record);
    switch (type) {
      case 'session_meta':
        return this.#readMeta(payload, timeMs);
      case 'response_item':
        if (this.#copied.holds(timeMs)) return false;
        this.#itemsSeen = true;
        return this.#items.read(payload);
      case 'inter_agent_communication':
        return !this.#copied.holds(timeMs) && this.#items.read({ ...payload, type: 'agent_message' });
      case 'event_msg':
        return !this.#copied.holds(timeMs) && this.#items.readEvent(payload);
      case 'turn_context':
        return !this.#copied.holds(timeMs) && this.#moveTo(asText(payload['cwd']));
      default:
        return false;
    }
  }

  finish(): void {
    this.#items.finish();
  }

  #readBare(record: JsonObject): boolean {
    if (typeof record['type'] === 'string') {
      if (!BARE_ITEMS.has(record['type'])) return false;
      this.#itemsSeen = true;
      return this.#items.read(record);
    }
    if (!isBareHeader(record) || this.#threadId !== undefined) return false;
    this.#threadId = asText(record['id']) ?? undefined;
    this.#learn(record, 'bare');
    return true;
  }

  /** The first one with an id names the thread; later ones of the same thread may change its memory mode and its place. */
  #readMeta(meta: JsonObject, timeMs: number | undefined): boolean {
    const id = threadIdOf(meta);
    if (this.#threadId === undefined) this.#readFirstMeta(meta, timeMs);
    else if (id !== null && id !== this.#threadId) {
      if (!this.#itemsSeen) this.#copied.open(timeMs);
      return false;
    }
    this.#learnPlace(meta);
    const mode = asText(meta['memory_mode']);
    if (mode !== null) this.#sink.setMemoryMode(mode);
    return true;
  }

  #readFirstMeta(meta: JsonObject, timeMs: number | undefined): void {
    this.#threadId = threadIdOf(meta) ?? undefined;
    const origin = readOrigin(meta);
    this.#learn(meta, asText(meta['cli_version']));
    this.#sink.learn({ ...origin, cwd: asText(meta['cwd']), ephemeral: meta['ephemeral'] === true });
    if (origin.subagent) this.#items.workForAgent();
    this.#learnPlace(meta);
    this.#moveTo(asText(meta['cwd']));
    if (asText(meta['forked_from_id']) !== null) this.#copied.open(timeMs);
  }

  #learn(meta: JsonObject, formatVersion: string | null): void {
    const git = asObject(meta['git']);
    this.#sink.learn({
      threadId: threadIdOf(meta),
      formatVersion,
      repository: asText(git['repository_url']),
      gitBranch: asText(git['branch']),
      startedAt: parseTime(asText(meta['timestamp']) ?? ''),
    });
  }

  /** Notes where the work moves to another directory, so that what follows is not filed under the first one (A13). */
  #moveTo(cwd: string | null): boolean {
    if (cwd === null || this.#sink.isIn(cwd)) return false;
    this.#items.settle();
    this.#sink.workIn(cwd);
    return true;
  }

  #learnPlace(meta: JsonObject): void {
    const cwd = asText(meta['cwd']);
    const repository = asText(asObject(meta['git'])['repository_url']);
    if (cwd !== null && repository !== null) this.#sink.learnPlace(cwd, repository);
  }
}

/** `session_id` is the root of a tree of agents: it names the thread only where nothing else does. */
function threadIdOf(meta: JsonObject): string | null {
  return asText(meta['id']) ?? asText(meta['session_id']);
}
