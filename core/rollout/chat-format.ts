import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asList, asObject, asText, isObject, type JsonObject } from './json-value.ts';
import type { RecordHead } from './record-head.ts';
import { type KnownTools, readOutput, readParts, TurnItems } from './turn-items.ts';

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);
const TOOLS: KnownTools = {
  web: new Set(['web_search', 'web_fetch', 'browser', 'search_web']),
  asking: new Set(['ask_user', 'request_user_input']),
};

/**
 * Conversations in the form of the chat completions API: messages, or objects that hold a list of them, one or many. A file
 * is one thread whatever it holds, as a trace file is upstream (behaviours V-04): several conversations follow one another
 * in it, and from the second on each message tells the number of its own. The thread's id is that of the one conversation;
 * where there are several none of them names the file, and its id has to come with the upload.
 */
export const chatFormat: RolloutFormat = {
  agentKind: 'chat',
  isUnnamed: true,
  lists: ['messages', 'traj', 'trajectory', 'conversation'],
  isLoose: true,
  recognises(record) {
    if ('type' in record || 'payload' in record || typeof record['role'] !== 'string') return false;
    const speaks = 'content' in record || 'tool_calls' in record || 'function_call' in record;
    return ROLES.has(record['role']) && speaks;
  },
  open: (sink) => new ChatReader(sink),
};

class ChatReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #items: TurnItems;
  #conversations = 0;
  #threadId: string | null = null;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#items = new TurnItems(sink, TOOLS);
  }

  skim(_head: RecordHead): 'drop' | 'defer' | 'read' {
    return 'read';
  }

  /** Never asked for. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(message: JsonObject): boolean {
    switch (message['role']) {
      case 'user':
        return this.#items.message('human', 'user', readParts(message['content']), this.#mark());
      case 'assistant':
        return this.#readAssistant(message);
      case 'tool':
      case 'function':
        this.#items.output({
          callId: asText(message['tool_call_id']) ?? asText(message['name']) ?? '',
          output: readOutput(message['content']),
          failed: message['is_error'] === true,
        });
        return true;
      default:
        return false; // instructions: nothing that happened (user case A18)
    }
  }

  /** A conversation begins, or its fields end. */
  readHead(fields: JsonObject, begins: boolean): boolean {
    if (begins) this.#conversations++;
    const id = idOf(fields);
    if (this.#conversations === 1) this.#threadId ??= id;
    return id !== null;
  }

  finish(): void {
    if (this.#conversations === 1) this.#sink.learn({ threadId: this.#threadId });
  }

  #mark(): JsonObject {
    return this.#conversations > 1 ? { conversation: this.#conversations } : {};
  }

  #readAssistant(message: JsonObject): boolean {
    const calls = [...asList(message['tool_calls']).filter(isObject), ...oldCall(message['function_call'])];
    const said = message['content'] ?? message['refusal'];
    const tier = calls.length > 0 ? 'commentary' : 'final';
    const kept = this.#items.message(tier, 'assistant', readParts(said), this.#mark());
    for (const call of calls) {
      const called = asObject(call['function'] ?? call['custom']);
      this.#items.call({
        name: asText(called['name']) ?? 'tool',
        callId: asText(call['id']) ?? '',
        args: called['arguments'] ?? called['input'],
      });
    }
    return kept || calls.length > 0;
  }
}

/** Before there were ids, a call was one field, and its result was told by the name. */
function oldCall(call: unknown): readonly JsonObject[] {
  return isObject(call) ? [{ id: call['name'], function: call }] : [];
}

function idOf(fields: JsonObject): string | null {
  const keys = ['session_id', 'sessionId', 'thread_id', 'threadId', 'conversation_id'];
  return keys.map((key) => asText(fields[key])).find((id) => id !== null) ?? null;
}
