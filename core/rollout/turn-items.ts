import type { RolloutSink } from './format-reader.ts';
import { dropRules } from './injected-text.ts';
import { cleanItem, cleanText, cutForeignRollout, textPart } from './item-text.ts';
import { asList, asText, isObject, type JsonObject } from './json-value.ts';
import type { EvidenceTier } from './rollout.ts';

const IMAGE = textPart('[image omitted]');
const AUDIO = textPart('[audio omitted]');
const MAX_OPEN_QUESTIONS = 64;

/** Tools that mean something to us, by the names one agent gives them. */
export interface KnownTools {
  /** Look at the web. */
  readonly web: ReadonlySet<string>;
  /** Ask the person: what comes back is the person speaking (behaviours TI-04). */
  readonly asking: ReadonlySet<string>;
}

export interface ToolCall {
  readonly name: string;
  readonly callId: string;
  /** JSON, or the text of it. */
  readonly args: unknown;
}

export interface ToolOutput {
  readonly callId: string;
  readonly output: unknown;
  readonly failed: boolean;
}

/**
 * Puts the turns of agents other than Codex into evidence items of the one shape: `message`, `function_call` and
 * `function_call_output`, which belong together by their `call_id`.
 */
export class TurnItems {
  readonly #sink: RolloutSink;
  readonly #tools: KnownTools;
  readonly #questions = new Map<string, string>();

  constructor(sink: RolloutSink, tools: KnownTools) {
    this.#sink = sink;
    this.#tools = tools;
  }

  /**
   * @param extra further fields of the item
   * @returns false when nothing is said
   */
  message(
    tier: EvidenceTier,
    role: 'user' | 'assistant',
    content: readonly JsonObject[],
    extra: JsonObject = {},
  ): boolean {
    const said = role === 'user' ? content.flatMap(withoutRules) : content;
    const item = cleanItem({ type: 'message', role, ...extra, content: said });
    const texts = asList(item['content'])
      .map((part) => (isObject(part) ? (asText(part['text']) ?? '') : ''))
      .filter((text) => text.trim() !== '');
    if (texts.length === 0) return false;
    this.#sink.said(tier, texts.join('\n'));
    this.#add(tier, JSON.stringify(item));
    return true;
  }

  call({ name, callId, args }: ToolCall): void {
    this.#sink.calledTool(name);
    if (this.#tools.web.has(name)) this.#sink.looked('web_search');
    const item = cleanItem({ args });
    const text = typeof item['args'] === 'string' ? item['args'] : JSON.stringify(item['args'] ?? {});
    if (this.#tools.asking.has(name) && this.#questions.size < MAX_OPEN_QUESTIONS)
      this.#questions.set(callId, cleanText(text));
    this.#add(
      'tool',
      JSON.stringify({ type: 'function_call', name: cleanText(name), arguments: text, call_id: callId }),
    );
  }

  output({ callId, output, failed }: ToolOutput): void {
    const shown = cutForeignRollout(cleanItem({ output })['output'] ?? '');
    const error = failed ? { is_error: true } : {};
    const json = JSON.stringify({ type: 'function_call_output', call_id: callId, ...error, output: shown });
    const question = this.#questions.get(callId);
    const reply = typeof shown === 'string' ? shown : JSON.stringify(shown);
    if (question === undefined || failed || reply.trim() === '') {
      this.#sink.item({ tier: 'tool', isToolOutput: true, toJson: () => json });
      return;
    }
    this.#questions.delete(callId);
    this.#sink.said('human', reply);
    this.#add('human', `Assistant question: ${question}\nHuman reply: ${json}`);
  }

  /** Something that happened to the session: an abort, a move to another directory. */
  notice(item: JsonObject): void {
    this.#add('context', JSON.stringify(cleanItem(item)));
  }

  #add(tier: EvidenceTier, json: string): void {
    this.#sink.item({ tier, isToolOutput: false, toJson: () => json });
  }
}

/**
 * The parts of a message that can be shown, from any of the usual forms: a text, a list of texts or parts, one part. Images
 * and audio become placeholders (TI-01); what is neither text nor one of them is left out.
 */
export function readParts(content: unknown): readonly JsonObject[] {
  const list: readonly unknown[] = Array.isArray(content) ? content : [content];
  return list.flatMap((part) => {
    const shown = readPart(part);
    return shown === undefined ? [] : [shown];
  });
}

/** What is left of a part of a user's message without the rules in it; a part that was nothing else goes. */
function withoutRules(part: JsonObject): readonly JsonObject[] {
  const text = asText(part['text']);
  const rest = text === null ? null : dropRules(text);
  if (rest === null || rest === text) return [part];
  return rest === '' ? [] : [{ ...part, text: rest }];
}

/** The text of a tool's result where it is text alone, else its parts. */
export function readOutput(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? '';
  const parts = readParts(content);
  return parts.length === content.length ? parts.map((part) => asText(part['text']) ?? '').join('\n') : content;
}

function readPart(part: unknown): JsonObject | undefined {
  if (typeof part === 'string') return textPart(part);
  if (!isObject(part)) return undefined;
  const type = asText(part['type']) ?? '';
  if (type === 'thinking' || type === 'reasoning' || part['thought'] === true) return undefined;
  const text = asText(part['text']);
  if (text !== null) return textPart(text);
  const mime = mimeOf(part);
  if (type.includes('image') || mime.startsWith('image/')) return IMAGE;
  return type.includes('audio') || mime.startsWith('audio/') ? AUDIO : undefined;
}

/** Of data that stands in the message or in a file beside it. */
function mimeOf(part: JsonObject): string {
  const data = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  return isObject(data) ? (asText(data['mimeType']) ?? asText(data['mime_type']) ?? '') : '';
}
