import { describe, expect, it } from 'vitest';
import { DynamoJobStore } from '../../../adapters/dynamodb/job-store.ts';
import { DynamoStageOneStore } from '../../../adapters/dynamodb/stage-one-store.ts';
import { DynamoThreadStore } from '../../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../../adapters/dynamodb/usage-ledger.ts';
import { goodReply } from '../../core/extraction/extraction-bench.ts';
import { NOW } from '../../core/extraction/sample-session.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryBodyShelf } from '../../doubles/memory-body-shelf.ts';
import { tableGround } from '../../support/dynalite.ts';
import { batchOf, dueBody, s3Body } from './events.ts';
import { Phase1Bench } from './phase1-bench.ts';

const USER = 'user-1';
const shelf = new MemoryBodyShelf();
const onTable = tableGround((table) => ({
  threads: new DynamoThreadStore(table),
  jobs: new DynamoJobStore(table),
  outputs: new DynamoStageOneStore(table, shelf),
  ledger: new DynamoUsageLedger(table, new FixedClock(NOW)),
}));

/** Two processes of the function on one table, each with its own client; rollouts, queue, model and tokens are shared. */
function openTwo() {
  const ground = onTable();
  const [left, right] = [ground.connect(), ground.connect()];
  const first = new Phase1Bench();
  const { rollouts, model, tokens } = first.core;
  first.open(left.store);
  const second = new Phase1Bench().open({ ...right.store, rollouts, model, tokens, queue: first.queue });
  const close = async () => {
    await left.close();
    await right.close();
  };
  return { first, second, store: left.store, close };
}

describe('phase1 on DynamoDB, what comes again', () => {
  it('C3 the same event five times, two of them at once in two processes: one model call, one row', async () => {
    const { first, second, store, close } = openTwo();
    const event = batchOf(s3Body(await first.upload(USER, 't')));
    expect(await Promise.all([first.invoke(event), second.invoke(event)])).toEqual([[], []]);
    const sent = first.queue.drain();
    expect(sent.length).toBeGreaterThan(0);
    expect(new Set(sent.map(({ userKey, threadId }) => `${userKey}/${threadId}`))).toEqual(new Set([`${USER}/t`]));

    // Whoever is asked waits until the other process has given up: so both are surely at it at the same time.
    const { promise: otherEnded, resolve: endOther } = Promise.withResolvers<void>();
    first.core.model.expect(async () => {
      await otherEnded;
      return goodReply();
    });
    const due = batchOf(dueBody(USER, 't'));
    const both = [first.invoke(due), second.invoke(due)];
    expect(await Promise.race(both)).toEqual([]);
    expect((await store.jobs.get(USER, { kind: 'extraction', threadId: 't' }))?.status).toBe('running');
    endOther();
    expect(await Promise.all(both)).toEqual([[], []]);

    for (let again = 0; again < 3; again++) expect(await second.invoke(event)).toEqual([]);
    expect(first.queue.drain()).toEqual([]);
    for (const process of [first, second, first]) expect(await process.invoke(due)).toEqual([]);
    first.core.model.assertDone();
    expect(first.calls).toBe(1);
    expect(await store.outputs.heads(USER)).toHaveLength(1);
    expect(await store.jobs.get(USER, { kind: 'extraction', threadId: 't' })).toMatchObject({
      status: 'done',
      attempts: 1,
      outcome: { kind: 'extracted' },
    });
    await close();
  });
});
