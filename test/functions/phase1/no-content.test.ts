import { afterEach, describe, expect, it, vi } from 'vitest';
import { PowertoolsTelemetry } from '../../../adapters/telemetry/powertools-telemetry.ts';
import { DefectError, UnavailableError } from '../../../core/errors.ts';
import type { Phase1Deps } from '../../../functions/phase1/deps.ts';
import { goodReply } from '../../core/extraction/extraction-bench.ts';
import { textReply } from '../../doubles/scripted-model.ts';
import { captureOutput } from '../../support/capture-output.ts';
import { batchOf, dueBody, objectCreated, s3Body, throughTopic } from './events.ts';
import { Phase1Bench, session, withMethods } from './phase1-bench.ts';

const USER = 'user-1';
const MARKER = 'PLUM-MARKER-7731';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The function with the telemetry that is deployed, and what it writes to its log. */
function openLogged(more: (bench: Phase1Bench) => Partial<Phase1Deps> = () => ({})) {
  const bench = new Phase1Bench();
  const output = captureOutput();
  const telemetry = new PowertoolsTelemetry({ functionName: 'phase1', stage: 'test' });
  const tracing: Phase1Deps['tracing'] = {
    correlate: (ids) => telemetry.correlate(ids),
    flush: () => telemetry.flush(),
    withSpan: (_name, _attributes, work) => work(),
  };
  bench.open({ telemetry, tracing, ...more(bench) });
  return { bench, output };
}

/** Errors as libraries throw them: with what they were given in their text. */
const QUOTING = new TypeError(`cannot store ${MARKER}`);
const WRAPPED = new UnavailableError('table.unavailable', `out while ${MARKER}`, { cause: QUOTING });
const DEFECT = new DefectError('table.item_unreadable', `item ${MARKER}`, { details: { field: 'raw_memory' } });

describe('phase1, what is told (B31)', () => {
  it.each<[string, (bench: Phase1Bench) => Partial<Phase1Deps>]>([
    [
      'an outage of the table',
      (bench) => ({ outputs: withMethods(bench.core.outputs, { putBody: rejecting(WRAPPED) }) }),
    ],
    ['an unexpected error', (bench) => ({ outputs: withMethods(bench.core.outputs, { putBody: rejecting(QUOTING) }) })],
    ['a defect while claiming', (bench) => ({ jobs: withMethods(bench.core.jobs, { claim: rejecting(DEFECT) }) })],
    [
      'a job that cannot be given back',
      (bench) => ({
        outputs: withMethods(bench.core.outputs, { putBody: rejecting(WRAPPED) }),
        jobs: withMethods(bench.core.jobs, { fail: rejecting(QUOTING) }),
      }),
    ],
    [
      'a rollout that breaks while it is read',
      (bench) => ({
        rollouts: withMethods(bench.core.rollouts, { open: rejecting(QUOTING) }),
      }),
    ],
    [
      'a queue that does not release',
      () => ({
        redelivery: { redeliver: rejecting(QUOTING) },
        settings: { read: rejecting(WRAPPED), write: rejecting(WRAPPED) },
      }),
    ],
  ])('%s: ids and codes, no word of the session', async (_name, more) => {
    const { bench, output } = openLogged(more);
    const record = await bench.upload(USER, 't', { bytes: session('t', MARKER) });
    bench.core.model.expect(goodReply(`# ${MARKER}`));
    expect(await bench.deliver(batchOf(s3Body(record)))).toEqual(['message-1']);
    expect(output.text()).toContain('"request_id":"request-1"');
    expect(output.text()).toContain('message.returned');
    expect(output.text() + JSON.stringify(bench.redelivered)).not.toContain(MARKER);
  });

  it.each([
    ['a reply that is no JSON', textReply(`not JSON ${MARKER}`)],
    ['a reply of another shape', textReply(JSON.stringify({ [MARKER]: MARKER }))],
    ['a time-out', { kind: 'unavailable', code: 'timeout' }],
    ['a good reply', goodReply(`# ${MARKER}`)],
  ] as const)('%s: outcome and sizes, no word of it', async (_name, reply) => {
    const { bench, output } = openLogged();
    bench.core.model.expect(reply);
    const record = await bench.upload(USER, 't', { bytes: session('t', MARKER) });
    expect(await bench.deliver(batchOf(s3Body(record)))).toEqual([]);
    expect(output.text()).toContain('"thread_id":"t"');
    expect(output.text()).toContain('extraction.ended');
    expect(output.text()).not.toContain(MARKER);
  });

  it('messages that are unreadable or foreign are told by size and hash', async () => {
    const { bench, output } = openLogged();
    const bodies = [
      `no JSON ${MARKER}`,
      JSON.stringify({ [MARKER]: 1 }),
      throughTopic(`{"${MARKER}`),
      dueBody(USER, `${MARKER}/x`),
      s3Body(objectCreated(`rollouts/${USER}/${MARKER} x.jsonl`, '1')),
      s3Body({ s3: MARKER }),
    ];
    expect(await bench.invoke(batchOf(...bodies))).toHaveLength(5);
    expect(output.text()).toContain('key_hash');
    expect(output.text()).not.toContain(MARKER);
  });

  it('a rollout that cannot be read is told by its reason', async () => {
    const { bench, output } = openLogged();
    const bytes = new TextEncoder().encode(`{"${MARKER}":"${MARKER}"}\n`.repeat(3_000));
    const record = await bench.upload(USER, 't', { bytes });
    expect(await bench.deliver(batchOf(s3Body(record)))).toEqual([]);
    expect(output.text()).toContain('failed(unrecognised_format)');
    expect(output.text()).not.toContain(MARKER);
  });

  it('a line belongs to its thread, and the lines after it do not', async () => {
    const { bench, output } = openLogged();
    await bench.invoke(batchOf(dueBody(USER, 'unknown'), 'no JSON'));
    const lines = output.lines();
    expect(lines.find((line) => line['message'] === 'extraction.unknown_thread')).toMatchObject({
      thread_id: 'unknown',
    });
    expect(lines.find((line) => line['message'] === 'message.failed')).not.toHaveProperty('thread_id');
  });
});

function rejecting(error: Error): () => Promise<never> {
  return () => Promise.reject(error);
}
