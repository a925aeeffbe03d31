const MAX_IDS = 8_192;

/** Remembers the ids that were met last, so that what is written twice is taken once; memory stays bounded. */
export class RecentIds {
  readonly #ids = new Set<string>();

  /** @returns true the first time */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    if (this.#ids.size >= MAX_IDS) {
      const [oldest] = this.#ids;
      if (oldest !== undefined) this.#ids.delete(oldest);
    }
    this.#ids.add(id);
    return true;
  }
}
