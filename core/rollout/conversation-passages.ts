import type { RolloutSink } from './format-reader.ts';
import type { Passage } from './rollout.ts';

/** Passages that can still be taken back; what lies before them counts for good. */
const MAX_PASSAGES = 4_096;

class OpenPassage implements Passage {
  isTakenBack = false;
  /** What it answers; undefined at the start, and where that lies too far back. */
  before: OpenPassage | undefined;

  constructor(before: OpenPassage | undefined) {
    this.before = before;
  }
}

/**
 * The passages of one conversation. A person who goes back and says something else abandons what came after that point: it
 * shows what was tried and given up, and not what was decided, so it is neither evidence nor counted.
 */
export class ConversationPassages {
  readonly #sink: Pick<RolloutSink, 'begin'>;
  readonly #start = new OpenPassage(undefined);
  #passages: OpenPassage[] = [];
  #now = this.#start;

  constructor(sink: Pick<RolloutSink, 'begin'>) {
    this.#sink = sink;
  }

  /** The passage that is going on; before the first prompt there is one too. */
  get now(): Passage {
    return this.#now;
  }

  /** The person says something. @param after the passage that it answers */
  begin(after: Passage = this.#now): void {
    const goesOn = after === this.#now;
    const before = goesOn ? this.#now : [this.#start, ...this.#passages].find((passage) => passage === after);
    const passage = new OpenPassage(before ?? this.#now);
    this.#passages.push(passage);
    if (this.#passages.length > 2 * MAX_PASSAGES) this.#forgetOldest();
    this.#now = passage;
    if (!goesOn && before) this.#keepOnly(passage);
    this.#sink.begin(passage);
  }

  /** The last passages did not happen. */
  takeBack(count: number): void {
    for (let left = count; left > 0 && this.#now !== this.#start && this.#now.before; left--) {
      this.#now.isTakenBack = true;
      this.#now = this.#now.before;
    }
    this.#sink.begin(this.#now);
  }

  /** Going back to an abandoned passage takes it up again. */
  #keepOnly(last: OpenPassage): void {
    const kept = new Set<OpenPassage>();
    for (let at: OpenPassage | undefined = last; at; at = at.before) kept.add(at);
    for (const passage of this.#passages) passage.isTakenBack = !kept.has(passage);
  }

  #forgetOldest(): void {
    this.#passages = this.#passages.slice(MAX_PASSAGES);
    const open = new Set(this.#passages);
    for (const passage of open) if (passage.before && !open.has(passage.before)) passage.before = undefined;
  }
}
