/** What is kept of a request that carried an idempotency key. */
export interface Receipt {
  /** Hash of what was asked: tells a repetition from another request under the same key. */
  readonly fingerprint: string;
  /** The answer as JSON text. */
  readonly answer: string;
}

/** Receipts of requests that must not act twice (storage.md, `receipt#<key>`). A receipt lives `LIMITS.receiptMs`. */
export interface ReceiptStore {
  /** The living receipt under a key; undefined when there is none. */
  find(userKey: string, key: string, now: number): Promise<Receipt | undefined>;

  /**
   * Keeps a receipt under a key, unless a living one is there already. One atomic change: of concurrent calls exactly one is
   * answered `kept`.
   * @param key 1 to 255 characters, any; keys of different users never meet
   */
  keep(
    userKey: string,
    key: string,
    receipt: Receipt,
    now: number,
  ): Promise<{ readonly kind: 'kept' } | { readonly kind: 'present'; readonly receipt: Receipt }>;
}
