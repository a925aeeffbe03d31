import { decodeUtf8 } from '../text.ts';
import { environmentDirectory, type KnownMessage, readMessage } from './codex-message.ts';
import { externalUse } from './codex-program.ts';
import { UserBlock } from './codex-user-block.ts';
import { ConversationPassages } from './conversation-passages.ts';
import type { RolloutSink } from './format-reader.ts';
import { cleanItem, cleanText, cutForeignRollout, hasHumanAnswer, textPart } from './item-text.ts';
import { asList, asObject, asText, isObject, type JsonObject, parseJson } from './json-value.ts';
import type { RecordHead } from './record-head.ts';
import type { EvidenceTier } from './rollout.ts';

const OUTPUTS = new Set(['function_call_output', 'custom_tool_call_output', 'tool_search_output']);
const ASKING_TOOL = 'request_user_input';
/** Tools whose arguments tell more than that they were called. */
const READ_TOOLS = new Set([
  ASKING_TOOL,
  'exec',
  'read_mcp_resource',
  'list_mcp_resources',
  'list_mcp_resource_templates',
]);
const SEARCH_TOOLS = new Set(['web_search', 'web.run', 'web__run']);
const MAX_OPEN_QUESTIONS = 64;

/** Turns the items of a Codex rollout into evidence items (behaviours 1.S, 1.T). */
export class CodexItems {
  readonly #sink: RolloutSink;
  /** Open questions to the person, by call id: the arguments (TI-04). */
  readonly #questions = new Map<string, string>();
  readonly #block = new UserBlock();
  readonly #passages: ConversationPassages;
  /** What comes in the user's role is another agent's. */
  #forAgent = false;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#passages = new ConversationPassages(sink);
  }

  /** The thread is a sub-agent's: its tasks are given by an agent. */
  workForAgent(): void {
    this.#forAgent = true;
  }

  /** Whether the record can wait: its text matters only if it becomes a row. */
  canDefer(head: RecordHead, kind: string): boolean {
    if (OUTPUTS.has(kind)) return this.#questions.size === 0;
    if (kind === 'local_shell_call') return true;
    return head.name !== undefined && !READ_TOOLS.has(head.name);
  }

  /** Takes a record that can wait; its bytes are kept until it is known whether the row is wanted. */
  defer(head: RecordHead, bytes: Uint8Array): void {
    const kind = head.payloadType ?? head.type ?? '';
    this.settle();
    const isToolOutput = OUTPUTS.has(kind);
    if (!isToolOutput) this.#called(head.name ?? null, head.namespace ?? null);
    this.#sink.item({ tier: 'tool', isToolOutput, bytes, unpack: unpackTool });
  }

  /** @returns false when the item is dropped */
  read(item: JsonObject): boolean {
    const kind = asText(item['type']) ?? '';
    if (kind === 'message') return this.#readMessage(readMessage(item));
    if (kind === 'agent_message') return this.#readAgentMessage(item);
    return this.#readTool(item, kind);
  }

  /**
   * User turns that stand in no item, what else was looked at (DV-15), and turns that were taken back. Events are otherwise
   * not evidence.
   * @returns false when the event brings no row of its own
   */
  readEvent(event: JsonObject): boolean {
    switch (event['type']) {
      case 'user_message':
        this.#block.confirm(asText(event['message']) ?? '');
        return false;
      case 'web_search_end':
        this.#sink.looked('web_search');
        return false;
      case 'mcp_tool_call_end':
        this.#sink.usedMcpServer(asText(asObject(event['invocation'])['server']) ?? '');
        return false;
      case 'thread_rolled_back':
        this.settle();
        this.#passages.takeBack(asCount(event['num_turns']));
        return false;
      default:
        return this.#readCompleted(asObject(event['item']));
    }
  }

  #readCompleted(item: JsonObject): boolean {
    if (item['type'] === 'McpToolCall') this.#sink.usedMcpServer(asText(item['server']) ?? '');
    if (item['type'] !== 'UserMessage') return false;
    const texts = asList(item['content']).flatMap((part) => asText(asObject(part)['text']) ?? []);
    const message = readMessage({ type: 'message', role: 'user', content: texts.map(textPart) });
    if (!message) return false;
    if (this.#block.isFull) this.settle();
    if (message.tier === 'human') return this.#block.addEvent(message);
    this.#block.addItem(message);
    return true;
  }

  finish(): void {
    this.settle();
  }

  #readMessage(message: KnownMessage | undefined): boolean {
    if (!message) return false;
    const cwd = message.tier === 'context' ? environmentDirectory(message.text) : null;
    if (cwd !== null && !this.#sink.isIn(cwd)) {
      this.settle();
      this.#sink.workIn(cwd, true);
    }
    const ofUser = message.tier === 'human' || message.tier === 'context';
    if (!ofUser || this.#block.isFull) this.settle();
    if (ofUser) this.#block.addItem(message);
    else this.#addMessage(message);
    return true;
  }

  #readAgentMessage(item: JsonObject): boolean {
    this.settle();
    this.#add('other_agent', JSON.stringify(cleanItem(item)));
    return true;
  }

  #readTool(item: JsonObject, kind: string): boolean {
    const isOutput = OUTPUTS.has(kind);
    if (!isOutput && !/^(?:function|custom_tool|local_shell|tool_search|web_search)_call$/.test(kind)) return false;
    this.settle();
    if (kind === 'tool_search_call' || kind === 'tool_search_output') this.#sink.looked('tool_search');
    if (kind === 'web_search_call') this.#sink.looked('web_search');
    const callId = asText(item['call_id']);
    if (isOutput) {
      const question = callId === null ? undefined : this.#questions.get(callId);
      if (question !== undefined) return this.#readAnswer(item, callId ?? '', question);
      this.#addTool(item, true);
      return true;
    }
    this.#called(asText(item['name']) ?? kind, asText(item['namespace']));
    this.#lookInto(item);
    if (item['name'] === ASKING_TOOL && asText(item['namespace']) === null && callId !== null) {
      if (this.#questions.size < MAX_OPEN_QUESTIONS)
        this.#questions.set(callId, cleanText(asText(item['arguments']) ?? ''));
    }
    this.#addTool(item, false);
    return true;
  }

  /** TI-04: the first output of a question that holds an answer is the person speaking. */
  #readAnswer(item: JsonObject, callId: string, question: string): boolean {
    if (!hasHumanAnswer(item['output'])) {
      this.#addTool(item, true);
      return true;
    }
    this.#questions.delete(callId);
    const reply = toolJson(item);
    this.#sink.said('human', asText(item['output']) ?? JSON.stringify(item['output']));
    this.#add('human', `Assistant question: ${question}\nHuman reply: ${reply}`);
    return true;
  }

  #called(name: string | null, namespace: string | null): void {
    this.#sink.calledTool(name, namespace);
    if (name !== null && SEARCH_TOOLS.has(name)) this.#sink.looked('web_search');
  }

  /** What a program of code mode calls, and whose resources were read. */
  #lookInto(item: JsonObject): void {
    if (item['name'] === 'exec') {
      const { webSearch, mcpServers } = externalUse(asText(item['input']) ?? '');
      if (webSearch) this.#sink.looked('web_search');
      for (const server of mcpServers) this.#sink.usedMcpServer(server);
    } else if (/_mcp_resource/.test(asText(item['name']) ?? '')) {
      const args = item['arguments'];
      const given = asObject(typeof args === 'string' ? parseJson(args) : args);
      this.#sink.usedMcpServer(asText(given['server']) ?? '');
    }
  }

  #addTool(item: JsonObject, isToolOutput: boolean): void {
    this.#sink.item({ tier: 'tool', isToolOutput, toJson: () => toolJson(item) });
  }

  #addMessage({ tier: told, item, text, isCommand }: KnownMessage): void {
    const speaker = told === 'human' && this.#forAgent ? 'other_agent' : told;
    const tier = isCommand === true ? 'context' : speaker;
    if (speaker === 'human') this.#passages.begin();
    this.#sink.said(speaker, text);
    this.#sink.item({ tier, isToolOutput: false, toJson: () => JSON.stringify(item) });
  }

  #add(tier: EvidenceTier, json: string): void {
    this.#sink.item({ tier, isToolOutput: false, toJson: () => json });
  }

  /** The answer begins: what came in the user's role before it is told of now, in order. */
  settle(): void {
    for (const message of this.#block.settle()) this.#addMessage(message);
  }
}

function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}

/** The item's JSON out of its whole record. */
function unpackTool(bytes: Uint8Array): string | undefined {
  const record = parseJson(decodeUtf8(bytes));
  const payload = isObject(record) ? (record['payload'] ?? record) : undefined;
  return isObject(payload) ? toolJson(payload) : undefined;
}

function toolJson(item: JsonObject): string {
  const shown = cleanItem(item);
  return JSON.stringify('output' in shown ? { ...shown, output: cutForeignRollout(shown['output']) } : shown);
}
