import { beforeEach, describe, expect, it } from 'vitest';
import {
  ConflictError,
  DefectError,
  InvalidInputError,
  NotFoundError,
  UnavailableError,
} from '../../../core/errors.ts';
import { LIMITS } from '../../../core/settings.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { NOW } from '../../core/extraction/sample-session.ts';
import { batchOf, dueBody, messageOf, objectEvent, s3Body, s3TestBody } from './events.ts';
import { Phase1Bench, session, withMethods } from './phase1-bench.ts';

const USER = 'user-1';

let bench: Phase1Bench;
beforeEach(() => {
  bench = new Phase1Bench();
});

/** Every read of this thread fails so, as often as `times` says. */
function failOn(threadId: string, error: Error, times = Number.POSITIVE_INFINITY): Phase1Bench {
  let left = times;
  return bench.open((ports) => ({
    threads: withMethods(ports.threads, {
      get: async (userKey, id) => {
        if (id === threadId && left-- > 0) throw error;
        return bench.core.threads.get(userKey, id);
      },
    }),
  }));
}

const OUT = new UnavailableError('table.unavailable', 'out');

describe('phase1, a batch', () => {
  it("C2 acknowledges S3's test message and extracts the two uploads beside it", async () => {
    const [first, second] = [await bench.upload(USER, 'a'), await bench.upload(USER, 'b')];
    bench.expectCalls(2);
    expect(await bench.invoke(batchOf(s3TestBody(), s3Body(first), s3Body(second)))).toEqual([]);
    expect(bench.flushes).toBe(1);
    expect(await bench.drain()).toEqual([]);
    expect(await bench.outcome(USER, 'a')).toBe('extracted');
    expect(await bench.outcome(USER, 'b')).toBe('extracted');
  });

  it('C2 a body that is not JSON goes back alone', async () => {
    const upload = await bench.upload(USER, 'a');
    bench.expectCalls(1);
    expect(await bench.deliver(batchOf('not JSON', s3Body(upload)))).toEqual(['message-1']);
    expect(await bench.outcome(USER, 'a')).toBe('extracted');
  });

  it('C7 of ten messages exactly the fourth goes back, of ten uploads as of ten threads that are due', async () => {
    failOn('t4', OUT);
    const ids = Array.from({ length: 10 }, (_, at) => `t${at + 1}`);
    const bodies: string[] = [];
    for (const id of ids) bodies.push(s3Body(await bench.upload(USER, id)));
    const fourth = { batchItemFailures: [{ itemIdentifier: 'message-4' }] };
    expect(await bench.answer(batchOf(...bodies))).toEqual(fourth);
    expect(bench.queue.drain().map((message) => message.threadId)).toEqual(ids.filter((id) => id !== 't4'));
    bench.expectCalls(9);
    expect(await bench.answer(batchOf(...ids.map((id) => dueBody(USER, id))))).toEqual(fourth);
    bench.core.model.assertDone();
  });

  it('C7 an exception that nobody expected is still the failure of its own message, in either step', async () => {
    failOn('t2', new TypeError('cannot read MARKER'));
    const bodies = [await bench.upload(USER, 't1'), await bench.upload(USER, 't2'), await bench.upload(USER, 't3')];
    expect(await bench.invoke(batchOf(...bodies.map((record) => s3Body(record))))).toEqual(['message-2']);
    bench.expectCalls(2);
    expect(await bench.invoke(batchOf(...['t1', 't2', 't3'].map((id) => dueBody(USER, id))))).toEqual(['message-2']);
    bench.core.model.assertDone();
    expect(JSON.stringify(bench.core.telemetry.events)).not.toContain('MARKER');
    expect(bench.core.telemetry.events).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { code: 'phase1.unexpected', error: 'TypeError' } }),
    );
  });

  it('answers per message also when all of them fail', async () => {
    failOn('t', OUT);
    const body = s3Body(await bench.upload(USER, 't'));
    expect(await bench.invoke(batchOf(body, body, 'no JSON'))).toEqual(['message-1', 'message-2', 'message-3']);
  });

  it('refuses an event that is no batch of a queue', async () => {
    await expect(bench.answer({ Records: [{ body: 1 }] })).rejects.toBeInstanceOf(DefectError);
    await expect(bench.answer({})).rejects.toMatchObject({ code: 'phase1.unreadable_event' });
    expect(bench.flushes).toBe(2);
  });

  it.each([
    ['InvalidInputError', new InvalidInputError('x.invalid', 'x'), []],
    ['NotFoundError', new NotFoundError('x.not_found', 'x'), []],
    ['ConflictError', new ConflictError('x.conflict', 'x'), []],
    ['UnavailableError', OUT, ['message-1']],
    ['DefectError', new DefectError('x.defect', 'x'), ['message-1']],
  ])('%s goes by the table of failures', async (_name, error, returned) => {
    failOn('t', error);
    expect(await bench.invoke(batchOf(dueBody(USER, 't')))).toEqual(returned);
    expect(bench.core.telemetry.events).toContainEqual(expect.objectContaining({ name: 'message.failed' }));
  });
});

describe('phase1, what comes again', () => {
  it('C3 the same event five times, two of them at once: one model call, one row', async () => {
    const event = batchOf(s3Body(await bench.upload(USER, 't')));
    bench.expectCalls(1);
    const answers = [...(await Promise.all([bench.invoke(event), bench.invoke(event)]))];
    const messages = bench.queue.drain().map(({ userKey, threadId }) => batchOf(dueBody(userKey, threadId)));
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages)
      answers.push(...(await Promise.all([bench.invoke(message), bench.invoke(message)])));
    for (let again = 0; again < 3; again++) answers.push(await bench.invoke(event));
    expect(answers.flat()).toEqual([]);
    expect(bench.queue.drain()).toEqual([]);
    expect(bench.calls).toBe(1);
    expect(await bench.core.outputs.heads(USER)).toHaveLength(1);
    expect(await bench.outcome(USER, 't')).toBe('extracted');
  });

  it('C4 an older event that comes second changes nothing, with a sequencer of another length', async () => {
    const upload = await bench.upload(USER, 't', { sequencer: '0055AED6DCD90281E5' });
    bench.expectCalls(1);
    await bench.deliver(batchOf(s3Body(upload)));
    const head = await bench.core.outputs.head(USER, 't');
    const older = objectEvent('ObjectCreated:Put', `rollouts/${USER}/t.jsonl`, { sequencer: '0055AED6DCD90281' });
    expect(await bench.invoke(batchOf(s3Body(older)))).toEqual([]);
    expect(bench.queue.drain()).toEqual([]);
    expect(await bench.core.outputs.head(USER, 't')).toEqual(head);
    expect((await bench.core.threads.get(USER, 't'))?.rollout.order).toBe('0055AED6DCD90281E5');
    expect(bench.calls).toBe(1);
  });

  it('C4 a newer upload is extracted anew and its row wins', async () => {
    bench.expectCalls(2);
    await bench.deliver(batchOf(s3Body(await bench.upload(USER, 't', { sequencer: '0055AED6DCD90281' }))));
    const bytes = session('t', 'more', NOW - 20 * HOUR_MS);
    await bench.deliver(batchOf(s3Body(await bench.upload(USER, 't', { bytes, sequencer: '0055AED6DCD90281E5' }))));
    const thread = await bench.core.threads.get(USER, 't');
    expect((await bench.core.outputs.head(USER, 't'))?.sourceUpdatedAt).toBe(thread?.updatedAt);
    expect(bench.calls).toBe(2);
  });

  it('an upload whose thread could not be queued comes back, and is queued then', async () => {
    const event = batchOf(s3Body(await bench.upload(USER, 't')));
    let out = true;
    bench.open(() => ({
      queue: {
        send: async (messages) => {
          if (out) throw new UnavailableError('queue.send_failed', 'out');
          await bench.queue.send(messages);
        },
      },
    }));
    expect(await bench.invoke(event)).toEqual(['message-1']);
    out = false;
    bench.expectCalls(1);
    expect(await bench.deliver(event)).toEqual([]);
    expect(await bench.outcome(USER, 't')).toBe('extracted');
  });

  it('C6 one bad record of three: the message comes back, and the good ones are not paid for again', async () => {
    failOn('b', OUT, 1);
    const records = [await bench.upload(USER, 'a'), await bench.upload(USER, 'b'), await bench.upload(USER, 'c')];
    bench.expectCalls(3);
    expect(await bench.deliver(batchOf(s3Body(...records)))).toEqual(['message-1']);
    expect(bench.calls).toBe(2);
    expect(await bench.invoke(batchOf(s3Body(...records)))).toEqual([]);
    expect(bench.queue.waiting).toMatchObject([{ threadId: 'b' }]);
    expect(await bench.drain()).toEqual([]);
    expect(bench.calls).toBe(3);
    for (const id of ['a', 'b', 'c']) expect(await bench.outcome(USER, id)).toBe('extracted');
  });

  it('C6 a record of no known shape does not keep the others of its message back', async () => {
    const good = await bench.upload(USER, 'a');
    bench.expectCalls(1);
    expect(await bench.deliver(batchOf(s3Body({ s3: 1 }, good)))).toEqual(['message-1']);
    expect(await bench.outcome(USER, 'a')).toBe('extracted');
  });

  it('waits longer with every receive, an hour at most', async () => {
    failOn('t', OUT);
    const body = dueBody(USER, 't');
    for (const receives of [1, 2, 3, 4, 5]) await bench.invoke({ Records: [messageOf(body, receives, receives)] });
    const waits = ['receipt-1: 60', 'receipt-2: 240', 'receipt-3: 960', 'receipt-4: 3600', 'receipt-5: 3600'];
    expect(bench.redelivered).toEqual(waits);
  });

  it('waits as long as an outage says', async () => {
    failOn('t', new UnavailableError('x.throttled', 'x', { details: { retry_after_ms: 90_500 } }));
    await bench.invoke(batchOf(dueBody(USER, 't')));
    expect(bench.redelivered).toEqual(['receipt-1: 91']);
  });

  it('answers as well when the wait cannot be set', async () => {
    bench.open({ redelivery: { redeliver: () => Promise.reject(new UnavailableError('queue.release_failed', 'x')) } });
    expect(await bench.invoke(batchOf('no JSON'))).toEqual(['message-1']);
    expect(bench.core.telemetry.events).toContainEqual(
      expect.objectContaining({ fields: { message_id: 'message-1', code: 'queue.release_failed' } }),
    );
  });
});

describe('phase1, the time of an invocation', () => {
  const FULL = LIMITS.modelTimeoutMs + LIMITS.extractionReserveMs;

  /** Threads that were taken in, and the messages that say that they are due. */
  async function due(...ids: readonly string[]): Promise<readonly string[]> {
    for (const id of ids) await bench.invoke(batchOf(s3Body(await bench.upload(USER, id))));
    return bench.queue.drain().map(({ userKey, threadId }) => dueBody(userKey, threadId));
  }

  it('C9 stops taking records when the time left is under one extraction; the rest goes back at once, unclaimed', async () => {
    const bodies = await due('a', 'b', 'c', 'd');
    let left = 2 * FULL;
    bench.remainingMs = () => left;
    const slow = () => {
      left -= 200_000;
      return { kind: 'unavailable', code: 'http_503' } as const;
    };
    bench.core.model.expect(slow, slow);
    expect(await bench.invoke(batchOf(...bodies))).toEqual(['message-3', 'message-4']);
    expect(bench.redelivered).toEqual(['receipt-3: 0', 'receipt-4: 0']);
    const job = await bench.core.jobs.get(USER, { kind: 'extraction', threadId: 'c' });
    expect(job).toMatchObject({ attempts: 0, inputWatermark: null });
    bench.core.model.assertDone();
  });

  it('takes uploads in with less time than a model call needs, and stops when there is too little for that too', async () => {
    const bodies: string[] = [];
    for (const id of ['a', 'b', 'c']) bodies.push(s3Body(await bench.upload(USER, id)));
    let left = LIMITS.extractionReserveMs + 1_000;
    bench.remainingMs = () => left;
    bench.open((ports) => ({
      rollouts: withMethods(ports.rollouts, {
        open: (userKey, threadId) => {
          left -= 1_000;
          return bench.core.rollouts.open(userKey, threadId);
        },
      }),
    }));
    expect(await bench.invoke(batchOf(...bodies))).toEqual(['message-3']);
    expect(bench.redelivered).toEqual(['receipt-3: 0']);
    expect(await bench.core.threads.get(USER, 'c')).toBeUndefined();
  });

  it('C9 stops between the records of one message too, and the message comes back for the rest', async () => {
    const records = [await bench.upload(USER, 'a'), await bench.upload(USER, 'b')];
    let left = LIMITS.extractionReserveMs + 1_000;
    bench.remainingMs = () => left;
    bench.open((ports) => ({
      rollouts: withMethods(ports.rollouts, {
        open: (userKey, threadId) => {
          left -= 2_000;
          return bench.core.rollouts.open(userKey, threadId);
        },
      }),
    }));
    expect(await bench.invoke(batchOf(s3Body(...records)))).toEqual(['message-1']);
    expect(bench.queue.drain()).toMatchObject([{ threadId: 'a' }]);
    left = 10 * FULL;
    bench.expectCalls(2);
    expect(await bench.deliver(batchOf(s3Body(...records)))).toEqual([]);
    expect(await bench.outcome(USER, 'b')).toBe('extracted');
  });

  it('begins with the first record where the function has less time than a whole call, and cuts the call', async () => {
    const bodies = await due('a');
    bench.remainingMs = () => 60_000;
    bench.expectCalls(1);
    expect(await bench.invoke(batchOf(...bodies))).toEqual([]);
    expect(bench.core.model.requests[0]?.timeoutMs).toBe(60_000 - LIMITS.extractionReserveMs);
  });

  it('begins with a first extraction also behind uploads', async () => {
    const bodies = await due('a');
    bench.remainingMs = () => 60_000;
    bench.expectCalls(1);
    expect(await bench.invoke(batchOf(s3Body(await bench.upload(USER, 'b')), ...bodies))).toEqual([]);
    expect(await bench.outcome(USER, 'a')).toBe('extracted');
  });

  it('C37 a model that never answers is given up in time; the thread waits for its retry, and nothing calls twice', async () => {
    bench.remainingMs = () => 100_000;
    bench.core.model.expect((request) => {
      expect(request.timeoutMs).toBe(100_000 - LIMITS.extractionReserveMs);
      return { kind: 'unavailable', code: 'timeout' };
    });
    const event = batchOf(s3Body(await bench.upload(USER, 'a')));
    expect(await bench.deliver(event)).toEqual([]);
    expect(await bench.outcome(USER, 'a')).toBe('failed(model_unavailable)');
    expect(await bench.dueAt(USER, 'a')).toBe(NOW + LIMITS.silenceRetryMs);
    expect(await bench.deliver(event)).toEqual([]);
    expect(await bench.invoke(batchOf(dueBody(USER, 'a')))).toEqual([]);
    expect(bench.calls).toBe(1);
    bench.core.clock.advance(LIMITS.silenceRetryMs);
    bench.expectCalls(1);
    await bench.invoke(batchOf(dueBody(USER, 'a')));
    expect(await bench.outcome(USER, 'a')).toBe('extracted');
  });
});
