import { DefectError } from '../../core/errors.ts';
import type { JobMessage, JobQueue } from '../../core/ports/job-queue.ts';
import { LIMITS } from '../../core/settings.ts';

/**
 * A queue in this process: hands each message to the handler, a few at a time (DV-1). A message that waits already is not
 * taken twice; one that comes while its like is being handled waits for the end of that, so that a thread is never handled
 * twice at once and no news about it is lost.
 */
export class WorkerPool implements JobQueue {
  readonly #handle: (message: JobMessage) => Promise<void>;
  readonly #concurrency: number;
  readonly #waiting = new Map<string, JobMessage>();
  readonly #active = new Set<string>();
  readonly #failures: unknown[] = [];
  #idleWaiters: (() => void)[] = [];

  /** @param concurrency how many are handled at once, at least 1 */
  constructor(handle: (message: JobMessage) => Promise<void>, concurrency: number = LIMITS.extractionConcurrency) {
    this.#handle = handle;
    this.#concurrency = Math.max(1, concurrency);
  }

  async send(messages: readonly JobMessage[]): Promise<void> {
    for (const message of messages) {
      const key = JSON.stringify([message.kind, message.userKey, message.threadId]);
      if (!this.#waiting.has(key)) this.#waiting.set(key, message);
    }
    this.#fill();
  }

  /**
   * Waits until nothing waits or is handled any more; messages sent meanwhile are waited for too. A failure stops nobody else.
   * @throws what a handler threw; of several, a DefectError `queue.handlers_failed` whose cause holds all of them
   */
  async idle(): Promise<void> {
    while (this.#active.size > 0 || this.#waiting.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idleWaiters.push(resolve);
      });
    }
    const failures = this.#failures.splice(0);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) {
      throw new DefectError('queue.handlers_failed', `${failures.length} messages could not be handled`, {
        details: { failures: failures.length },
        cause: new AggregateError(failures),
      });
    }
  }

  /** Starts what may start. */
  #fill(): void {
    for (const [key, message] of this.#waiting) {
      if (this.#active.size >= this.#concurrency) return;
      if (this.#active.has(key)) continue;
      this.#waiting.delete(key);
      this.#active.add(key);
      void this.#work(key, message);
    }
  }

  async #work(key: string, message: JobMessage): Promise<void> {
    try {
      await this.#handle(message);
    } catch (error) {
      this.#failures.push(error);
    }
    this.#active.delete(key);
    this.#fill();
    if (this.#active.size === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }
}
