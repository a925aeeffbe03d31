import { describe, expect, it } from 'vitest';
import { WorkerPool } from '../../../adapters/system/worker-pool.ts';
import type { JobMessage } from '../../../core/ports/job-queue.ts';

const message = (threadId: string, userKey = 'u'): JobMessage => ({ kind: 'thread-due', userKey, threadId });

/** A handler that a test ends message by message. */
class GatedHandler {
  readonly begun: string[] = [];
  readonly #open: (() => void)[] = [];

  handle = async ({ threadId }: JobMessage): Promise<void> => {
    this.begun.push(threadId);
    await new Promise<void>((resolve) => this.#open.push(resolve));
  };

  /** Ends the oldest `count` open messages and lets what follows begin. */
  async end(count = 1): Promise<void> {
    for (const open of this.#open.splice(0, count)) open();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
}

describe('the worker pool', () => {
  it('handles eight at a time by default, in the order they came', async () => {
    const gate = new GatedHandler();
    const pool = new WorkerPool(gate.handle);
    const ids = Array.from({ length: 10 }, (_, at) => `t${at}`);
    await pool.send(ids.map((id) => message(id)));
    expect(gate.begun).toEqual(ids.slice(0, 8));
    await gate.end();
    expect(gate.begun).toEqual(ids.slice(0, 9));
    await gate.end(20);
    await gate.end(20);
    await pool.idle();
    expect(gate.begun).toEqual(ids);
  });

  it('handles at least one at a time', async () => {
    const seen: string[] = [];
    const pool = new WorkerPool(async ({ threadId }) => void seen.push(threadId), 0);
    await pool.send([message('a')]);
    await pool.idle();
    expect(seen).toEqual(['a']);
  });

  it('takes a message that waits already only once, and the same thread of another user twice', async () => {
    const gate = new GatedHandler();
    const pool = new WorkerPool(gate.handle, 1);
    await pool.send([message('busy'), message('t'), message('t'), message('t', 'v')]);
    await pool.send([message('t')]);
    for (let turn = 0; turn < 5; turn++) await gate.end();
    await pool.idle();
    expect(gate.begun).toEqual(['busy', 't', 't']);
  });

  it('handles news about a thread after the message in flight, never beside it, without holding up others', async () => {
    const gate = new GatedHandler();
    const pool = new WorkerPool(gate.handle, 3);
    await pool.send([message('t')]);
    await pool.send([message('t'), message('other')]);
    expect(gate.begun).toEqual(['t', 'other']);
    await gate.end();
    expect(gate.begun).toEqual(['t', 'other', 't']);
    await gate.end(2);
    await pool.idle();
  });

  it('is idle at once when nothing was sent', async () => {
    await new WorkerPool(() => Promise.reject(new Error('nothing to handle'))).idle();
  });

  it('waits for messages that a handler sends', async () => {
    const seen: string[] = [];
    const pool: WorkerPool = new WorkerPool(async ({ threadId }) => {
      seen.push(threadId);
      if (threadId.length < 4) await pool.send([message(`${threadId}x`)]);
    }, 1);
    await pool.send([message('a')]);
    await pool.idle();
    expect(seen).toEqual(['a', 'ax', 'axx', 'axxx']);
  });

  it('goes on after a failure and hands it to the one who waits, once', async () => {
    const seen: string[] = [];
    const pool = new WorkerPool(async ({ threadId }) => {
      seen.push(threadId);
      if (threadId === 'bad') throw new RangeError('bad thread');
    }, 1);
    await pool.send([message('bad'), message('good')]);
    await expect(pool.idle()).rejects.toThrow(new RangeError('bad thread'));
    expect(seen).toEqual(['bad', 'good']);
    await pool.idle();
  });

  it('loses none of several failures, thrown at once or later', async () => {
    const pool = new WorkerPool(({ threadId }) => {
      throw new RangeError(threadId);
    });
    await pool.send([message('a'), message('b')]);
    const failure = await pool.idle().catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'defect', code: 'queue.handlers_failed', details: { failures: 2 } });
    expect(failure).toHaveProperty('cause.errors', [new RangeError('a'), new RangeError('b')]);
  });
});
