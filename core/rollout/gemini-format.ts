import { parseTime } from '../time.ts';
import { ConversationPassages } from './conversation-passages.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asList, asObject, asText, isObject, type JsonObject } from './json-value.ts';
import { RecentIds } from './recent-ids.ts';
import type { RecordHead } from './record-head.ts';
import { type KnownTools, readParts, TurnItems } from './turn-items.ts';

const TOOLS: KnownTools = {
  web: new Set(['google_web_search', 'web_search', 'web_fetch']),
  asking: new Set(['ask_user']),
};
const MAX_PROMPTS = 4_096;
/** How the program shows a tool of an MCP server, and how it names one. */
const SERVER_SHOWN = /\(([^()]{1,100}) MCP Server\)$/;
const SERVER_IN_NAME = /^mcp_([^_]{1,100})_/;

/**
 * Gemini CLI sessions. One JSON document with `messages`; or, in later versions, a log: a header line, then messages that
 * are written again, with the same id, whenever they grow, `$set` lines that repeat messages, and `$rewindTo` lines.
 */
export const geminiFormat: RolloutFormat = {
  agentKind: 'gemini-cli',
  lists: ['messages'],
  recognises(record) {
    return isHeader(record) || (record['type'] === 'gemini' && typeof record['id'] === 'string');
  },
  recognisesHead: isHeader,
  open: (sink) => new GeminiReader(sink),
};

function isHeader(record: JsonObject): boolean {
  return typeof record['sessionId'] === 'string' && typeof record['projectHash'] === 'string';
}

class GeminiReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #items: TurnItems;
  readonly #taken = new RecentIds();
  readonly #passages: ConversationPassages;
  /** Ids of the prompts that stand, the newest ones. */
  readonly #prompts: string[] = [];
  /** The last message, which the next record may write again. */
  #latest: JsonObject | undefined;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#items = new TurnItems(sink, TOOLS);
    this.#passages = new ConversationPassages(sink);
  }

  skim(_head: RecordHead): 'drop' | 'defer' | 'read' {
    return 'read';
  }

  /** Never asked for. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(record: JsonObject): boolean {
    if (isHeader(record)) return this.readHead(record);
    const changed = record['$set'];
    if (isObject(changed)) return this.#readChange(changed);
    if (typeof record['$rewindTo'] === 'string') return this.#rewindTo(record['$rewindTo']);
    const type = record['type'];
    if (type !== 'user' && type !== 'gemini') return false;
    if (this.#latest && idOf(this.#latest) !== idOf(record)) this.#settle();
    this.#latest = record;
    return type === 'user' || saysSomething(record);
  }

  /** There is no directory in it but its hash; later versions name the folders of the workspace. */
  readHead(fields: JsonObject): boolean {
    const cwd = asText(asList(fields['directories'])[0]);
    if (cwd !== null && !this.#sink.isIn(cwd)) this.#sink.workIn(cwd);
    this.#sink.learn({
      threadId: asText(fields['sessionId']),
      source: fields['kind'] === 'subagent' ? 'subagent' : 'cli',
      ...(fields['kind'] === 'subagent' ? { subagent: true } : {}),
      startedAt: parseTime(asText(fields['startTime']) ?? ''),
      endedAt: parseTime(asText(fields['lastUpdated']) ?? ''),
    });
    return true;
  }

  finish(): void {
    this.#settle();
  }

  #readChange(changed: JsonObject): boolean {
    this.#sink.learn({ endedAt: parseTime(asText(changed['lastUpdated']) ?? '') });
    let kept = false;
    for (const message of asList(changed['messages'])) if (isObject(message)) kept = this.read(message) || kept;
    return kept;
  }

  /** The person went back to before one of their prompts. @returns false where it is not known */
  #rewindTo(id: string): boolean {
    this.#settle();
    const at = this.#prompts.lastIndexOf(id);
    if (at < 0) return false;
    this.#passages.takeBack(this.#prompts.length - at);
    this.#prompts.length = at;
    return true;
  }

  #prompt(id: string, content: readonly JsonObject[]): void {
    if (this.#prompts.length >= MAX_PROMPTS) this.#prompts.shift();
    this.#prompts.push(id);
    this.#passages.begin();
    this.#items.message('human', 'user', content);
  }

  /** The last message is whole now. */
  #settle(): void {
    const message = this.#latest;
    this.#latest = undefined;
    if (!message) return;
    const id = idOf(message);
    const content = readParts(message['displayContent'] ?? message['content']);
    const calls = asList(message['toolCalls']).filter(isObject);
    if (content.length > 0 && (id === '' || this.#taken.add(`said ${id}`))) {
      if (message['type'] === 'user') {
        if (isHarness(content)) this.#items.message('context', 'user', content);
        else this.#prompt(id, content);
      } else this.#items.message(calls.length > 0 ? 'commentary' : 'final', 'assistant', content);
    }
    for (const call of calls) this.#readCall(call);
  }

  #readCall(call: JsonObject): void {
    const callId = asText(call['id']) ?? '';
    const name = asText(call['name']) ?? 'tool';
    if (callId === '' || this.#taken.add(`call ${callId}`)) {
      this.#items.call({ name, callId, args: call['args'] });
      const server = SERVER_SHOWN.exec(asText(call['displayName']) ?? '') ?? SERVER_IN_NAME.exec(name);
      if (server?.[1] !== undefined) this.#sink.usedMcpServer(server[1]);
    }
    const result = call['result'];
    if (result === undefined || result === null) return;
    if (callId !== '' && !this.#taken.add(`result ${callId}`)) return;
    this.#items.output({ callId, output: outputOf(result), failed: isFailed(call['status']) });
  }
}

function idOf(message: JsonObject): string {
  return asText(message['id']) ?? '';
}

function saysSomething(message: JsonObject): boolean {
  const texts = readParts(message['content']);
  return texts.some((part) => asText(part['text'])?.trim()) || asList(message['toolCalls']).length > 0;
}

/** What the program tells the model at the start. */
function isHarness(content: readonly JsonObject[]): boolean {
  return content.every((part) =>
    /^\s*<(?:session_context|state_snapshot|hook_context)>/.test(asText(part['text']) ?? ''),
  );
}

/** The answers of the tool, out of the wrapping of the API. */
function outputOf(result: unknown): unknown {
  const answers = (Array.isArray(result) ? result : [result]).map((part) => {
    const response = asObject(asObject(part)['functionResponse'])['response'];
    if (!isObject(response))
      return readParts(part)
        .map((each) => each['text'])
        .join('\n');
    return response['output'] ?? response['error'] ?? response;
  });
  const texts = answers.filter((answer) => typeof answer === 'string');
  return texts.length === answers.length ? texts.filter((text) => text !== '').join('\n') : answers;
}

function isFailed(status: unknown): boolean {
  return status === 'error' || status === 'cancelled';
}
