export interface Waiting<T> {
  /** Whose message it is; null: nobody's in particular, and in nobody's way. */
  readonly group: string | null;
  readonly what: T;
}

/**
 * A standard queue whose messages carry group ids (SQS fair queues): the oldest message of the group with the fewest messages
 * being worked on comes next, so that one group's backlog does not hold up the others. Messages without a group come first.
 */
export class FairQueue<T> {
  readonly #groups = new Map<string, T[]>();
  readonly #working = new Map<string, number>();
  readonly #own: T[] = [];

  push({ group, what }: Waiting<T>): void {
    if (group === null) this.#own.push(what);
    else this.#groups.set(group, [...(this.#groups.get(group) ?? []), what]);
  }

  /** Takes the next message; tell `done` when its work ended. */
  take(): Waiting<T> | undefined {
    const own = this.#own.shift();
    if (own !== undefined) return { group: null, what: own };
    let least: string | undefined;
    for (const group of this.#groups.keys()) {
      if (least === undefined || this.#workingOn(group) < this.#workingOn(least)) least = group;
      if (this.#workingOn(least) === 0) break;
    }
    if (least === undefined) return undefined;
    const [first, ...rest] = this.#groups.get(least) ?? [];
    // A group that is served goes behind the others.
    this.#groups.delete(least);
    if (rest.length > 0) this.#groups.set(least, rest);
    if (first === undefined) return undefined;
    this.#working.set(least, this.#workingOn(least) + 1);
    return { group: least, what: first };
  }

  done(group: string | null): void {
    if (group !== null) this.#working.set(group, this.#workingOn(group) - 1);
  }

  #workingOn(group: string): number {
    return this.#working.get(group) ?? 0;
  }
}
