/** A map that keeps the newest entries, between `atLeast` and twice as many, at the same cost for each. */
export class RecentMap<Value> {
  readonly #atLeast: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(atLeast: number) {
    this.#atLeast = atLeast;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: Value): void {
    if (this.#newer.size >= this.#atLeast && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }
}
