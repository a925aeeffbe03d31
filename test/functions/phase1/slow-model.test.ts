import { expect, it } from 'vitest';
import type { ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import { LIMITS } from '../../../core/settings.ts';
import { MINUTE_MS } from '../../../core/time.ts';
import { goodReply } from '../../core/extraction/extraction-bench.ts';
import { batchOf, dueBody, s3Body } from './events.ts';
import { MINUTES_15, Phase1Bench } from './phase1-bench.ts';

const USER = 'user-1';
const outputsOf = async (bench: Phase1Bench) => (await bench.core.outputs.heads(USER)).map(({ threadId }) => threadId);

it('C8 a model slower than what the function has left is given up in time; the thread comes back, and is published once', async () => {
  const bench = new Phase1Bench();
  let left = 120_000;
  bench.remainingMs = () => left;
  bench.core.model.expect(({ timeoutMs }: ModelRequest): ModelReply => {
    left -= timeoutMs;
    bench.core.clock.advance(timeoutMs);
    return { kind: 'unavailable', code: 'timeout' };
  });
  const record = await bench.upload(USER, 't');
  expect(await bench.deliver(batchOf(s3Body(record)))).toEqual([]);
  expect(left).toBeGreaterThan(LIMITS.insistMs);
  expect(await outputsOf(bench)).toEqual([]);
  const dueAt = await bench.dueAt(USER, 't');
  expect(dueAt).toBe(bench.core.clock.now() + LIMITS.silenceRetryMs);

  left = MINUTES_15;
  bench.core.clock.advance(LIMITS.silenceRetryMs);
  bench.expectCalls(1);
  for (let copy = 0; copy < 2; copy++) expect(await bench.invoke(batchOf(dueBody(USER, 't')))).toEqual([]);
  expect(await outputsOf(bench)).toEqual(['t']);
  expect(await bench.dueAt(USER, 't')).toBeNull();
  expect(bench.calls).toBe(2);
});

it('C8 a call that outlives its function and its lease commits nothing after the message was delivered anew', async () => {
  const bench = new Phase1Bench();
  const late = Promise.withResolvers<ModelReply>();
  bench.core.model.expect(() => late.promise, goodReply());
  await bench.invoke(batchOf(s3Body(await bench.upload(USER, 't'))));
  const stalled = bench.drain();
  while (bench.calls === 0) await new Promise((resolve) => setImmediate(resolve));
  // The queue hands a message out again after six times the function's limit.
  bench.core.clock.advance(6 * MINUTES_15);
  expect(await bench.invoke(batchOf(dueBody(USER, 't')))).toEqual([]);
  const published = await bench.core.outputs.head(USER, 't');
  expect(published).toMatchObject({ threadId: 't' });
  bench.core.clock.advance(MINUTE_MS);
  late.resolve(goodReply());
  await stalled;
  expect(await bench.core.outputs.head(USER, 't')).toEqual(published);
  expect(await outputsOf(bench)).toEqual(['t']);
});
