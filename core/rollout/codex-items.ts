import { decodeUtf8 } from '../text.ts';
import { environmentDirectory, type KnownMessage, readMessage } from './codex-message.ts';
import type { PendingItem } from './evidence-collector.ts';
import type { RolloutSink } from './format-reader.ts';
import { cleanItem, cleanText, cutForeignRollout, hasHumanAnswer, textPart } from './item-text.ts';
import { asList, asObject, asText, isObject, type JsonObject, parseJson } from './json-value.ts';
import type { RecordHead } from './record-head.ts';
import type { EvidenceTier } from './rollout.ts';

const OUTPUTS = new Set(['function_call_output', 'custom_tool_call_output', 'tool_search_output']);
const ASKING_TOOL = 'request_user_input';
const MAX_OPEN_QUESTIONS = 64;
/** Turns are remembered within these limits; a person says few things before an answer, a hostile file millions. */
const MAX_TURNS = 64;
const MAX_TURN_UNITS = 4_194_304;

/** Turns the items of a Codex rollout into evidence items (behaviours 1.S, 1.T). */
export class CodexItems {
  readonly #sink: RolloutSink;
  /** Open questions to the person, by call id: the arguments (TI-04). */
  readonly #questions = new Map<string, string>();
  /** What the person said since the last answer, from items; to tell repeated events. */
  #turnTexts: string[] = [];
  #turnUnits = 0;
  /** User turns that have come as events only so far. */
  #eventTurns: KnownMessage[] = [];

  constructor(sink: RolloutSink) {
    this.#sink = sink;
  }

  /** Whether the record can wait: its text matters only if it becomes a row. */
  canDefer(head: RecordHead, kind: string): boolean {
    if (OUTPUTS.has(kind)) return this.#questions.size === 0;
    if (kind === 'local_shell_call') return true;
    return head.name !== undefined && head.name !== ASKING_TOOL;
  }

  /** Takes a record that can wait; its bytes are kept until it is known whether the row is wanted. */
  defer(head: RecordHead, bytes: Uint8Array): void {
    const kind = head.payloadType ?? head.type ?? '';
    this.#settleEventTurns();
    const isToolOutput = OUTPUTS.has(kind);
    if (!isToolOutput) this.#sink.calledTool(head.name ?? null, head.namespace ?? null);
    this.#sink.item(new DeferredTool(isToolOutput, bytes));
  }

  /** @returns false when the item is dropped */
  read(item: JsonObject): boolean {
    const kind = asText(item['type']) ?? '';
    if (kind === 'message') return this.#readMessage(readMessage(item));
    if (kind === 'agent_message') return this.#readAgentMessage(item);
    return this.#readTool(item, kind);
  }

  /** User turns that stand in no item, and what else was looked at (DV-15). Events are otherwise not evidence. */
  readEvent(event: JsonObject): boolean {
    if (event['type'] === 'web_search_end') this.#sink.looked('web_search');
    if (event['type'] === 'mcp_tool_call_end') {
      this.#sink.usedMcpServer(asText(asObject(event['invocation'])['server']) ?? '');
    }
    const item = asObject(event['item']);
    if (event['type'] !== 'item_completed' || item['type'] !== 'UserMessage') return false;
    const texts = asList(item['content']).flatMap((part) => asText(asObject(part)['text']) ?? []);
    const message = readMessage({ type: 'message', role: 'user', content: texts.map(textPart) });
    if (!message || this.#turnTexts.some((text) => isSameText(text, message.text))) return false;
    this.#eventTurns.push(message);
    if (this.#eventTurns.length > MAX_TURNS) this.#settleEventTurns();
    return true;
  }

  /** The work goes on in another directory. */
  moved(cwd: string): void {
    this.#add('context', JSON.stringify({ type: 'turn_context', cwd }));
  }

  finish(): void {
    this.#settleEventTurns();
  }

  #readMessage(message: KnownMessage | undefined): boolean {
    if (!message) return false;
    if (message.tier === 'human') {
      this.#remember(message.text);
      this.#eventTurns = this.#eventTurns.filter((turn) => !isSameText(turn.text, message.text));
    } else if (message.tier !== 'context') this.#settleEventTurns();
    if (message.tier === 'context') this.#sink.learn({ cwd: environmentDirectory(message.text) });
    this.#addMessage(message);
    return true;
  }

  #readAgentMessage(item: JsonObject): boolean {
    this.#settleEventTurns();
    this.#add('other_agent', JSON.stringify(cleanItem(item)));
    return true;
  }

  #readTool(item: JsonObject, kind: string): boolean {
    const isOutput = OUTPUTS.has(kind);
    if (!isOutput && !/^(?:function|custom_tool|local_shell|tool_search|web_search)_call$/.test(kind)) return false;
    this.#settleEventTurns();
    if (kind === 'tool_search_call' || kind === 'tool_search_output') this.#sink.looked('tool_search');
    if (kind === 'web_search_call') this.#sink.looked('web_search');
    const callId = asText(item['call_id']);
    if (isOutput) {
      const question = callId === null ? undefined : this.#questions.get(callId);
      if (question !== undefined) return this.#readAnswer(item, callId ?? '', question);
      this.#addTool(item, true);
      return true;
    }
    this.#sink.calledTool(asText(item['name']) ?? kind, asText(item['namespace']));
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

  #addTool(item: JsonObject, isToolOutput: boolean): void {
    const json = toolJson(item);
    this.#sink.item({ tier: 'tool', isToolOutput, heldBytes: 2 * json.length, toJson: () => json });
  }

  #addMessage({ tier, item, text }: KnownMessage): void {
    this.#sink.said(tier, text);
    this.#add(tier, JSON.stringify(item));
  }

  #add(tier: EvidenceTier, json: string): void {
    this.#sink.item({ tier, isToolOutput: false, heldBytes: 2 * json.length, toJson: () => json });
  }

  /** The answer begins: turns that no item has repeated by now are the only trace of what the person said. */
  #settleEventTurns(): void {
    for (const turn of this.#eventTurns) this.#addMessage(turn);
    this.#eventTurns = [];
    this.#turnTexts = [];
    this.#turnUnits = 0;
  }

  #remember(text: string): void {
    this.#turnTexts.push(text);
    this.#turnUnits += text.length;
    while (this.#turnTexts.length > MAX_TURNS || (this.#turnUnits > MAX_TURN_UNITS && this.#turnTexts.length > 1)) {
      this.#turnUnits -= this.#turnTexts.shift()?.length ?? 0;
    }
  }
}

/** A tool item of which only the record's bytes are held; most are never asked for more. */
class DeferredTool implements PendingItem {
  readonly tier = 'tool';
  readonly isToolOutput: boolean;
  readonly #bytes: Uint8Array;

  constructor(isToolOutput: boolean, bytes: Uint8Array) {
    this.isToolOutput = isToolOutput;
    this.#bytes = bytes;
  }

  get heldBytes(): number {
    return this.#bytes.length;
  }

  toJson(): string | undefined {
    const record = parseJson(decodeUtf8(this.#bytes));
    const payload = isObject(record) ? (record['payload'] ?? record) : undefined;
    return isObject(payload) ? toolJson(payload) : undefined;
  }
}

function toolJson(item: JsonObject): string {
  const shown = cleanItem(item);
  return JSON.stringify('output' in shown ? { ...shown, output: cutForeignRollout(shown['output']) } : shown);
}

/** The event may hold the whole text where the item holds the request alone, or the other way round. */
function isSameText(left: string, right: string): boolean {
  const [a, b] = [left.trim(), right.trim()];
  return a === b || (a !== '' && b.endsWith(a)) || (b !== '' && a.endsWith(b));
}
