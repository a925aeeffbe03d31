import { ConversationPassages } from './conversation-passages.ts';
import type { RolloutSink } from './format-reader.ts';
import { asText, type JsonObject } from './json-value.ts';
import { RecentMap } from './recent-map.ts';
import type { Passage } from './rollout.ts';

/** Records that a prompt can go back to, or that a repeated record can repeat; at least this many of the newest. */
const MIN_RECORDS = 25_000;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * The thread that `parentUuid` spans through a session. A prompt that answers a record before the last prompt means that the
 * person went back to there: what lies between is abandoned. Only prompts decide that: tools that run side by side branch the
 * thread too, and abandon nothing.
 */
export class ClaudeThread {
  readonly #passages: ConversationPassages;
  readonly #passageOf = new RecentMap<Passage>(MIN_RECORDS);
  readonly #told = new RecentMap<true>(MIN_RECORDS);

  constructor(sink: Pick<RolloutSink, 'begin'>) {
    this.#passages = new ConversationPassages(sink);
  }

  /** A record that was written a second time, as after a torn line. */
  isRepeated(record: JsonObject): boolean {
    const uuid = asText(record['uuid']);
    if (uuid === null || !UUID.test(uuid)) return false;
    const repeated = this.#told.get(uuid) === true;
    this.#told.set(uuid, true);
    return repeated;
  }

  /** A record of the conversation that belongs to the passage that is going on. */
  pass(record: JsonObject): void {
    this.#place(asText(record['uuid']));
  }

  /** The person says something. */
  prompt(record: JsonObject): void {
    const parent = asText(record['parentUuid']);
    const after = parent === null ? undefined : this.#passageOf.get(parent);
    // A parent that was not looked at still marks where this prompt stands, for one that replaces it.
    if (after === undefined) this.#place(parent);
    this.#passages.begin(after ?? this.#passages.now);
    this.#place(asText(record['uuid']));
  }

  #place(uuid: string | null): void {
    if (uuid !== null) this.#passageOf.set(uuid, this.#passages.now);
  }
}
