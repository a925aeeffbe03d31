import { describe, expect, it } from 'vitest';
import { SqliteDueIndex } from '../../../adapters/sqlite/due-index.ts';
import { SqliteJobStore } from '../../../adapters/sqlite/job-store.ts';
import { SqsJobQueue } from '../../../adapters/sqs/job-queue.ts';
import { UnavailableError } from '../../../core/errors.ts';
import type { DueIndex } from '../../../core/ports/due-index.ts';
import { LIMITS } from '../../../core/settings.ts';
import { createHandler } from '../../../functions/sweep/create-handler.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryConsolidationStarter } from '../../doubles/memory-consolidation-starter.ts';
import { MemoryJobQueue } from '../../doubles/memory-job-queue.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { startQueue } from '../../support/fauxqs.ts';
import { onGround, sqliteGround } from '../../support/ground.ts';
import { NOW } from '../../support/sample-state.ts';

/** As EventBridge sends it on a schedule. */
const SCHEDULED = {
  version: '0',
  id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa',
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '000000000000',
  time: '2025-10-09T08:53:20Z',
  region: 'eu-central-1',
  resources: ['arn:aws:events:eu-central-1:000000000000:rule/stillroom-sweep'],
  detail: {},
};

interface State {
  readonly jobs: SqliteJobStore;
  readonly due: SqliteDueIndex;
}

class SweepBench {
  readonly clock = new FixedClock(NOW);
  readonly telemetry = new RecordingTelemetry();
  readonly queue = new MemoryJobQueue();
  readonly consolidations = new MemoryConsolidationStarter();
  flushes = 0;

  invoke(due: DueIndex, more: { queue?: SqsJobQueue; event?: unknown; remainingMs?: () => number } = {}) {
    const handler = createHandler({
      due,
      queue: more.queue ?? this.queue,
      consolidations: this.consolidations,
      clock: this.clock,
      telemetry: this.telemetry,
      tracing: {
        correlate: () => {},
        flush: () => void this.flushes++,
        withSpan: (_name, _attributes, work) => work(),
      },
    });
    const getRemainingTimeInMillis = more.remainingMs ?? (() => 240_000);
    return handler(more.event ?? SCHEDULED, { awsRequestId: 'request-1', getRemainingTimeInMillis });
  }
}

const onState = (check: (state: State) => Promise<void>) => () =>
  onGround(
    sqliteGround<State>((database) => ({ jobs: new SqliteJobStore(database), due: new SqliteDueIndex(database) })),
    check,
  );

async function fill({ jobs }: State, threads: number): Promise<void> {
  for (let at = 0; at < threads; at++) await jobs.wake('u1', `t${at}`, NOW - 1);
  await jobs.enqueueConsolidation('u2', NOW - 1);
}

describe('a pass of the sweep', () => {
  it(
    'hands on what is due, once, and tells of it in numbers',
    onState(async (state) => {
      await fill(state, 12);
      const bench = new SweepBench();
      const report = { extractions: 12, consolidations: 1, failed: 0, unreadable: 0, unreachable: 0, complete: true };
      expect(await bench.invoke(state.due)).toEqual(report);
      expect(bench.queue.drain()).toHaveLength(12);
      expect(bench.consolidations.started).toMatchObject([{ userKey: 'u2', immediate: false }]);
      expect(await bench.invoke(state.due, { event: {} })).toMatchObject({ extractions: 0, consolidations: 0 });
      expect(bench.telemetry.total('stillroom.sweep.handed_on')).toBe(13);
      expect(bench.telemetry.events[0]).toMatchObject({ level: 'info', name: 'sweep.ended', fields: report });
      expect(bench.flushes).toBe(2);
    }),
  );

  it(
    'puts messages into a real queue, and hands a job on again where it was not taken up',
    onState(async (state) => {
      await fill(state, 12);
      const sqs = await startQueue();
      try {
        const bench = new SweepBench();
        const queue = new SqsJobQueue(sqs.client, sqs.queueUrl);
        await bench.invoke(state.due, { queue });
        expect(sqs.waiting()).toHaveLength(12);
        bench.clock.advance(LIMITS.handedOnMs);
        await bench.invoke(state.due, { queue });
        expect(sqs.waiting()).toHaveLength(24);
      } finally {
        await sqs.close();
      }
    }),
  );

  it(
    'begins no page without the time for it, and goes on in the next pass',
    onState(async (state) => {
      await fill(state, 25);
      const bench = new SweepBench();
      let asked = 0;
      const remainingMs = (): number => (asked++ < 2 ? 240_000 : 30_000);
      expect(await bench.invoke(state.due, { remainingMs })).toMatchObject({ consolidations: 1, complete: false });
      expect(bench.telemetry.counts[0]).toMatchObject({ name: 'stillroom.sweep', tags: { status: 'cut_short' } });
      const first = bench.queue.drain();
      expect(await bench.invoke(state.due)).toMatchObject({ complete: true });
      expect(new Set([...first, ...bench.queue.drain()].map((message) => message.threadId)).size).toBe(25);
    }),
  );

  it('fails where the index is out, tells by which code, and writes its metrics all the same', async () => {
    const bench = new SweepBench();
    const due: DueIndex = {
      shards: 1,
      due: () => Promise.reject(new UnavailableError('table.throttled', 'the table is throttled')),
      postpone: async () => false,
    };
    await expect(bench.invoke(due)).rejects.toMatchObject({ code: 'table.throttled' });
    const fields = { code: 'table.throttled' };
    expect(bench.telemetry.events.at(-1)).toEqual({ level: 'error', name: 'sweep.failed', fields });
    expect(bench.flushes).toBe(1);
  });
});
