import type { JobMessage, JobQueue } from '../../core/ports/job-queue.ts';

/** Keeps what is sent, in order; a test takes it out. */
export class MemoryJobQueue implements JobQueue {
  readonly waiting: JobMessage[] = [];

  async send(messages: readonly JobMessage[]): Promise<void> {
    this.waiting.push(...messages);
  }

  /** Takes out all that waits. */
  drain(): readonly JobMessage[] {
    return this.waiting.splice(0);
  }
}
