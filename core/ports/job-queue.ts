/** What a queue carries: ids, never content. */
export interface JobMessage {
  readonly kind: 'thread-due';
  readonly userKey: string;
  readonly threadId: string;
}

/** Hands work to extraction workers, at least once, in no promised order. Concurrency is the queue's (DV-1). */
export interface JobQueue {
  send(messages: readonly JobMessage[]): Promise<void>;
}
