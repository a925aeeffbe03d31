import { ConversationPassages } from './conversation-passages.ts';
import type { RolloutSink } from './format-reader.ts';
import { asText, type JsonObject } from './json-value.ts';
import type { Passage } from './rollout.ts';

/** Entries that a prompt can go back to; the newest ones. */
const MAX_ENTRIES = 50_000;

/**
 * The tree that `id` and `parentId` span through a pi session from its third version on. A prompt below an entry of an
 * earlier passage means that the person went back to there: what lies between is abandoned.
 */
export class PiTree {
  readonly #passages: ConversationPassages;
  readonly #passageOf = new Map<string, Passage>();

  constructor(sink: Pick<RolloutSink, 'begin'>) {
    this.#passages = new ConversationPassages(sink);
  }

  /** An entry that is no prompt: it belongs where its parent does, as the summary of an abandoned branch does. */
  pass(entry: JsonObject): void {
    this.#place(entry, this.#above(entry));
  }

  /** The person says something. */
  prompt(entry: JsonObject): void {
    this.#passages.begin(this.#above(entry));
    this.#place(entry, this.#passages.now);
  }

  #above(entry: JsonObject): Passage {
    return this.#passageOf.get(asText(entry['parentId']) ?? '') ?? this.#passages.now;
  }

  #place(entry: JsonObject, passage: Passage): void {
    const id = asText(entry['id']);
    if (id === null) return;
    this.#passageOf.set(id, passage);
    if (this.#passageOf.size <= MAX_ENTRIES) return;
    const [oldest] = this.#passageOf.keys();
    if (oldest !== undefined) this.#passageOf.delete(oldest);
  }
}
