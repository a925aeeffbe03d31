/**
 * Work of one key, one after another in the order of asking; work of different keys goes on at once. For changes that would
 * only overtake each other: parallel notes of one user each publish a version, and all but one would start over.
 */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns what the work answers; a failure before it does not keep it from running */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.then(
      () => undefined,
      () => undefined, // told to whoever asked for it
    );
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }
}
