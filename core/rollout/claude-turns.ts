import { type ClaudeText, dropReminders, readUserText } from './claude-text.ts';
import type { RolloutSink } from './format-reader.ts';
import { cleanItem, cleanText, cutForeignRollout, textPart } from './item-text.ts';
import { asList, asObject, asText, isObject, type JsonObject } from './json-value.ts';
import type { EvidenceTier } from './rollout.ts';

const ASKING_TOOL = 'AskUserQuestion';
const MAX_OPEN_QUESTIONS = 64;
/** A person who refuses a tool call may say what to do instead; it arrives inside the tool result. */
const REFUSAL = "The user doesn't want to";
const SAID = 'the user said:\n';

export interface ClaudeMessage {
  readonly message: JsonObject;
  readonly speaker: 'user' | 'assistant';
  /** Said by another agent: the prompt of a sub-agent, or a sub-agent inside this session. */
  readonly byAgent: boolean;
  /** Called before the first words of a person are told of. */
  readonly onPrompt?: () => void;
}

/**
 * Turns the messages of Claude Code into evidence items of the same shape as those of Codex: `message`, `function_call`,
 * `function_call_output`. Thinking is dropped.
 */
export class ClaudeTurns {
  readonly #sink: RolloutSink;
  readonly #questions = new Map<string, string>();
  /** One message of the assistant comes as several records with one id. */
  #messageId: string | null = null;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
  }

  /** @returns false when nothing of the message is kept */
  read(turn: ClaudeMessage): boolean {
    const content = turn.message['content'];
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content).filter(isObject);
    let kept = false;
    for (const part of parts) {
      if (part['type'] === 'tool_use' || part['type'] === 'server_tool_use') kept = this.#readCall(part) || kept;
      else if (part['type'] === 'tool_result') kept = this.#readResult(part) || kept;
    }
    const said = parts.filter(
      (part) => part['type'] === 'text' || part['type'] === 'image' || part['type'] === 'document',
    );
    return this.#readSaid(said, turn) || kept;
  }

  #readSaid(parts: readonly JsonObject[], turn: ClaudeMessage): boolean {
    const texts = parts.map((part) => readText(part, turn.speaker)).filter(({ text }) => text.trim() !== '');
    const tier = tierOf(texts, turn);
    // What the harness put into a person's message is none of their words.
    const shown = tier === 'human' ? texts.filter(({ speaker }) => speaker === 'person') : texts;
    if (shown.length === 0) return false;
    const content = shown.map(({ text }) => textPart(text));
    const item = cleanItem({ type: 'message', role: turn.speaker, content });
    if (tier === 'human') turn.onPrompt?.();
    const id = turn.speaker === 'assistant' ? asText(turn.message['id']) : null;
    this.#sink.said(tier, shown.map(({ text }) => text).join('\n'), id !== null && id === this.#messageId);
    this.#messageId = id;
    this.#add(tier, item);
    return true;
  }

  #readCall(part: JsonObject): boolean {
    const name = asText(part['name']) ?? 'tool';
    const callId = asText(part['id']) ?? '';
    const args = JSON.stringify(part['input'] ?? {});
    this.#sink.calledTool(name);
    if (name === 'WebSearch' || name === 'WebFetch' || name === 'web_search') this.#sink.looked('web_search');
    if (name === 'ToolSearch') this.#sink.looked('tool_search');
    if (name === ASKING_TOOL && this.#questions.size < MAX_OPEN_QUESTIONS) this.#questions.set(callId, cleanText(args));
    this.#add('tool', cleanItem({ type: 'function_call', name, arguments: args, call_id: callId }));
    return true;
  }

  #readResult(part: JsonObject): boolean {
    const callId = asText(part['tool_use_id']) ?? '';
    const failed = part['is_error'] === true;
    const output = cutForeignRollout(outputOf(part['content']));
    const item = cleanItem({
      type: 'function_call_output',
      call_id: callId,
      ...(failed ? { is_error: true } : {}),
      output,
    });
    const question = this.#questions.get(callId);
    const text = typeof output === 'string' ? output : '';
    if (question !== undefined && !failed && text.trim() !== '') {
      this.#questions.delete(callId);
      this.#sink.said('human', text);
      this.#addText('human', `Assistant question: ${question}\nHuman reply: ${JSON.stringify(item)}`);
      return true;
    }
    this.#addOutput(item);
    this.#readRefusal(text);
    return true;
  }

  #readRefusal(text: string): void {
    const at = text.startsWith(REFUSAL) ? text.indexOf(SAID) : -1;
    const said = at < 0 ? '' : text.slice(at + SAID.length).trim();
    if (said === '') return;
    this.#sink.said('human', said);
    this.#add('human', cleanItem({ type: 'message', role: 'user', content: [textPart(said)] }));
  }

  #add(tier: EvidenceTier, item: JsonObject): void {
    this.#addText(tier, JSON.stringify(item));
  }

  #addText(tier: EvidenceTier, json: string): void {
    this.#sink.item({ tier, isToolOutput: false, toJson: () => json });
  }

  #addOutput(item: JsonObject): void {
    const json = JSON.stringify(item);
    this.#sink.item({ tier: 'tool', isToolOutput: true, toJson: () => json });
  }
}

function readText(part: JsonObject, speaker: ClaudeMessage['speaker']): ClaudeText {
  if (part['type'] !== 'text') return { speaker: 'person', text: '[image omitted]' };
  const text = asText(part['text']) ?? '';
  return speaker === 'user' ? readUserText(text) : { speaker: 'agent', text: dropReminders(text) };
}

function tierOf(texts: readonly ClaudeText[], turn: ClaudeMessage): EvidenceTier {
  if (turn.byAgent) return 'other_agent';
  if (turn.speaker === 'assistant') return turn.message['stop_reason'] === 'tool_use' ? 'commentary' : 'final';
  if (texts.some(({ speaker }) => speaker === 'person')) return 'human';
  return texts.some(({ speaker }) => speaker === 'agent') ? 'other_agent' : 'context';
}

/** The text of a result where it is text alone, else its parts. */
function outputOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? '';
  const texts = content.map((part) => (asObject(part)['type'] === 'text' ? asText(asObject(part)['text']) : undefined));
  return texts.every((text) => text !== undefined) ? texts.map((text) => text ?? '').join('\n') : content;
}
