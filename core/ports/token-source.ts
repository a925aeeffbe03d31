/** Unguessable identifiers. Adapters: random UUIDs; a numbered sequence for tests. */
export interface TokenSource {
  /** A UUID (version 4 form) that was never given before. */
  next(): string;
}
