import { describe, expect, it } from 'vitest';
import type { JobMessage, JobQueue } from '../../core/ports/job-queue.ts';

/** A queue, and a way to see what it handed out. */
export interface OpenQueue {
  readonly queue: JobQueue;
  /** All that was sent so far, taken out of the queue. */
  delivered(): Promise<readonly JobMessage[]>;
}

/** What every queue keeps to. */
export function jobQueueContract(name: string, open: () => Promise<OpenQueue>): void {
  describe(`job queue: ${name}`, () => {
    it('hands out every message at least once, as it was sent', async () => {
      const { queue, delivered } = await open();
      const messages = Array.from(
        { length: 40 },
        (_, at): JobMessage => ({ kind: 'thread-due', userKey: `u${at % 3}`, threadId: `t${at}` }),
      );
      await queue.send(messages.slice(0, 25));
      await queue.send([]);
      await queue.send(messages.slice(25));
      const got = await delivered();
      expect(got).toEqual(expect.arrayContaining(messages));
      expect(messages).toEqual(expect.arrayContaining([...got]));
    });

    it('carries ids of every form that a user key and a thread id may have', async () => {
      const { queue, delivered } = await open();
      const messages: readonly JobMessage[] = [
        { kind: 'thread-due', userKey: '~YS9i', threadId: 'a.b-C_9' },
        { kind: 'thread-due', userKey: 'x'.repeat(128), threadId: 'y'.repeat(128) },
      ];
      await queue.send(messages);
      expect(await delivered()).toEqual(expect.arrayContaining([...messages]));
    });
  });
}
