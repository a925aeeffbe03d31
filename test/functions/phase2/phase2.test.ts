import { describe, expect, it } from 'vitest';
import { UnavailableError } from '../../../core/errors.ts';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import { LIMITS } from '../../../core/settings.ts';
import { DAY_MS } from '../../../core/time.ts';
import { finishing, writing } from '../../core/agent/agent-script.ts';
import { benchWith, type ConsolidationBench, USER } from '../../core/consolidation/consolidation-bench.ts';
import { SUMMARY_TEXT } from '../../core/consolidation/memory-text.ts';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import type { DurableEnd } from '../../support/durable-host.ts';
import { NOW } from '../../support/sample-state.ts';
import { Phase2Bench } from './phase2-bench.ts';

const job = (bench: ConsolidationBench) => bench.jobs.get(USER, { kind: 'consolidation' });
const versions = (bench: ConsolidationBench) => bench.memories.manifestNumbers(USER);

describe('one execution', () => {
  it('publishes, and answers with numbers, no content', async () => {
    const bench = await benchWith('t1');
    const model = new ScriptedModel(bench.goodScript('t1'));
    const phase2 = new Phase2Bench(bench);
    const execution = phase2.execution(model);
    expect(await execution.run()).toEqual({
      status: 'SUCCEEDED',
      result: { result: 'published', version: 1, turns: 3, tokens: 330 },
    });
    model.assertDone();
    expect(await job(bench)).toMatchObject({ status: 'done', lastError: null });
    for (const content of ['took in t1', 'memory of t1', 'Task Group'])
      expect(execution.history()).not.toContain(content);
    expect(phase2.flushes).toBe(1);
    expect(bench.telemetry.total('stillroom.phase2')).toBe(2);
  });

  it('has nothing to do, ends, and calls no model', async () => {
    const execution = new Phase2Bench(await benchWith()).execution(new ScriptedModel(), { immediate: true });
    expect(await execution.run()).toEqual({ status: 'SUCCEEDED', result: { result: 'nothing' } });
  });

  it('removes texts that no output names, and stale outputs before it begins', async () => {
    const bench = await benchWith('t1');
    await bench.outputs.putBody(
      USER,
      { threadId: 'gone', sourceUpdatedAt: 1 },
      { rawMemory: 'x', rolloutSummary: 'y' },
    );
    await bench.addOutput('stale', { at: NOW - 40 * DAY_MS });
    await new Phase2Bench(bench).execution(new ScriptedModel(bench.goodScript('t1'))).run();
    expect((await bench.outputs.heads(USER)).map((head) => head.threadId)).toEqual(['t1']);
    const bodies = [...bench.jobs.table.bodies(USER)].filter(([, snapshots]) => snapshots.size > 0);
    expect(bodies.map(([threadId]) => threadId)).toEqual(['t1']);
  });

  it('C15 that fails ends normally: the job says when to try again, the platform does not', async () => {
    const bench = await benchWith('t1');
    const model = new ScriptedModel([{ kind: 'unavailable', code: 'http_503' }]);
    expect(await new Phase2Bench(bench).execution(model).run()).toEqual({
      status: 'SUCCEEDED',
      result: { result: 'failed', code: 'model.unavailable', turns: 1, tokens: 0 },
    });
    expect(await job(bench)).toMatchObject({ status: 'error', retryAt: NOW + LIMITS.retryDelayMs });
  });

  it('goes on an hour later, in another execution, with the turns that were paid', async () => {
    const bench = await benchWith('t1');
    const phase2 = new Phase2Bench(bench);
    const [first = finishing(), ...rest] = bench.goodScript('t1');
    await phase2.execution(new ScriptedModel([first, { kind: 'unavailable', code: 'http_503' }])).run();
    bench.clock.advance(LIMITS.retryDelayMs);
    const model = new ScriptedModel(rest);
    const later = phase2.execution(model, { dueAt: NOW + LIMITS.retryDelayMs });
    expect(await later.run()).toMatchObject({ result: { result: 'published', turns: 3 } });
    model.assertDone();
  });

  it('ends normally where the settings cannot be read now, with nothing claimed', async () => {
    const bench = await benchWith('t1');
    const settings = () => Promise.reject(new UnavailableError('table.throttled', 'the table is throttled'));
    const execution = new Phase2Bench(bench).execution(new ScriptedModel(), { settings });
    expect(await execution.run()).toEqual({
      status: 'SUCCEEDED',
      result: { result: 'failed', code: 'table.throttled' },
    });
    expect(await job(bench)).toMatchObject({ status: 'pending' });
  });

  it('fails for an event that asks for no consolidation, and for a fault of ours, without quoting', async () => {
    const bench = await benchWith('t1');
    const phase2 = new Phase2Bench(bench);
    const foreign = phase2.executionOf({ user_key: '../u10', due_at: 1, immediate: false }, new ScriptedModel());
    expect(await foreign.run()).toMatchObject({ status: 'FAILED', message: expect.not.stringContaining('u10') });
    const settings = () => Promise.reject(new TypeError('PRIVATE TEXT'));
    const broken = phase2.execution(new ScriptedModel(), { settings });
    expect(await broken.run()).toEqual({ status: 'FAILED', message: 'unexpected TypeError thrown' });
    expect(JSON.stringify(bench.telemetry.events)).not.toContain('PRIVATE');
    expect(bench.telemetry.events.map((event) => event.fields['code'])).toEqual([
      'phase2.unreadable_event',
      'core.unexpected',
    ]);
  });
});

describe('several executions', () => {
  const resultOf = (end: DurableEnd): unknown => ('result' in end ? end.result : end.status);

  it('C15 of one user at once: one holds, two exit without a model call', async () => {
    const bench = await benchWith('t1');
    const model = new ScriptedModel(bench.goodScript('t1'));
    const phase2 = new Phase2Bench(bench);
    const ends = await Promise.all([1, 2, 3].map((dueAt) => phase2.execution(model, { dueAt }).run()));
    const refused = { result: 'refused', code: 'running' };
    expect(ends.map(resultOf)).toEqual(expect.arrayContaining([expect.objectContaining({ result: 'published' })]));
    expect(ends.map(resultOf).filter((result) => JSON.stringify(result) === JSON.stringify(refused))).toHaveLength(2);
    expect(model.requests).toHaveLength(3);
    expect(await versions(bench)).toEqual([1]);
  });

  it('B17 of two users in one process at once never mix', async () => {
    const bench = await benchWith('t1');
    await bench.addOutput('t2', { userKey: 'u2', text: 'MARKER OF U2' });
    const phase2 = new Phase2Bench(bench);
    const ofOne = new ScriptedModel(bench.goodScript('t1'));
    const ofTwo = new ScriptedModel([
      writing('memory_summary.md', SUMMARY_TEXT),
      { kind: 'unavailable', code: 'http_503' },
    ]);
    const ends = await Promise.all([phase2.execution(ofOne).run(), phase2.execution(ofTwo, { userKey: 'u2' }).run()]);
    expect(ends.map(resultOf)).toMatchObject([{ result: 'published' }, { result: 'failed' }]);
    expect(JSON.stringify(ofOne.requests)).not.toContain('t2');
    expect(JSON.stringify(ofTwo.requests)).not.toContain('t1');
    expect((await bench.heads.read('u2')).version).toBe(0);
    expect([bench.ledger.calls(USER), bench.ledger.calls('u2')].map((calls) => calls.length)).toEqual([3, 2]);
  });

  it('C24 a holder that stalled past its lease commits nothing once another took over, and asks no model again', async () => {
    const bench = await benchWith('t1');
    const phase2 = new Phase2Bench(bench);
    const asked = Promise.withResolvers<null>();
    const answered = Promise.withResolvers<ModelReply>();
    const stalling = new ScriptedModel([
      () => {
        asked.resolve(null);
        return answered.promise;
      },
    ]);
    const stalled = phase2.execution(stalling, { dueAt: 1 }).run();
    await asked.promise;
    bench.clock.advance(LIMITS.consolidationLeaseMs);
    const taking = new ScriptedModel(bench.goodScript('t1'));
    expect(await phase2.execution(taking, { dueAt: 2 }).run()).toMatchObject({ result: { result: 'published' } });
    answered.resolve(writing('MEMORY.md', 'stale'));
    expect(await stalled).toMatchObject({ result: { result: 'failed', code: 'consolidation.ownership_lost' } });
    expect(stalling.requests).toHaveLength(1);
    expect(await versions(bench)).toEqual([1]);
    expect(await job(bench)).toMatchObject({ status: 'done' });
  });
});
