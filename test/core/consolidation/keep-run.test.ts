import { describe, expect, it } from 'vitest';
import { parseRunRecord, type RunRecord } from '../../../core/consolidation/run-record.ts';
import { forgetThread } from '../../../core/control/forget-thread.ts';
import { resetMemory } from '../../../core/control/reset-memory.ts';
import { DeniedError, UnavailableError } from '../../../core/errors.ts';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import type { ReplayRef } from '../../../core/ports/replay-store.ts';
import { LIMITS } from '../../../core/settings.ts';
import { MemoryReplayStore } from '../../doubles/memory-replay-store.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { benchWith, type ConsolidationBench, USER } from './consolidation-bench.ts';
import { SUMMARY_TEXT } from './memory-text.ts';

/** Does something after each record that is put, before the run looks whether it may stay. */
class InterruptedReplays extends MemoryReplayStore {
  after: () => Promise<unknown> = async () => {};

  override async put(userKey: string, ref: ReplayRef, text: string): Promise<void> {
    await super.put(userKey, ref, text);
    await this.after();
  }
}

async function recordOf(bench: ConsolidationBench): Promise<RunRecord | undefined> {
  const ref = (await bench.replays.list(USER)).at(-1);
  return ref && parseRunRecord((await bench.replays.read(USER, ref)) ?? '', ref);
}

function forget(bench: ConsolidationBench, threadId: string, replays = bench.replays) {
  return forgetThread({ ...bench, replays, rollouts: { remove: async () => true } }, USER, threadId);
}

const told = (bench: ConsolidationBench, name: string) => bench.telemetry.events.filter((event) => event.name === name);

describe('the record of a run', () => {
  it('is kept with the version: inputs by snapshot and hash, and every answer in order', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    const manifest = await bench.manifest();
    expect(await bench.replays.list(USER)).toEqual([{ epoch: 0, version: 1, createdAt: manifest?.createdAt }]);
    const record = await recordOf(bench);
    expect(record).toMatchObject({
      base: 0,
      baseline: 0,
      model: 'm',
      inputs: { added: ['t1', 't2'], retained: [], removed: [] },
      templates: [{ name: 'consolidation', version: manifest?.promptVersion }, { name: 'repair' }],
    });
    expect(record?.selection.map(({ threadId, sourceUpdatedAt }) => ({ threadId, sourceUpdatedAt }))).toEqual(
      manifest?.inputs,
    );
    expect(record?.answers.map(({ step }) => step)).toEqual(['turn-001', 'turn-002', 'turn-003']);
    for (const [path, sha256] of record?.files ?? []) expect(manifest?.files[path]?.sha256, path).toBe(sha256);
  });

  it('holds no text of an input, no reasoning of the provider, and the answers after redaction', async () => {
    const bench = await benchWith();
    await bench.addOutput('t1', { text: 'quince jam in the pantry' });
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    const reply = writing('MEMORY.md', `${bench.goodMemory(['t1'])}\n- token ${secret}\n`);
    const thinking: ModelReply =
      reply.kind === 'reply'
        ? { ...reply, items: [{ kind: 'opaque', json: '{"thought":"plum"}' }, ...reply.items] }
        : reply;
    await bench.run([thinking, ...bench.goodScript('t1')]);
    const [kept] = [...(bench.replays.kept.get(USER)?.values() ?? [])];
    expect(kept?.text).toContain('rollout_summaries');
    for (const hidden of ['quince', 'plum', secret]) expect(kept?.text).not.toContain(hidden);
  });

  it('has the answers of gate rounds, and of the pass before the one that published', async () => {
    const bench = await benchWith('t1');
    const unavailable: ModelReply = { kind: 'unavailable', code: 'http_503' };
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'])), unavailable]);
    expect(await bench.replays.list(USER)).toEqual([]);
    bench.clock.advance(LIMITS.silenceRetryMs);
    const end = await bench.run([
      writing('memory_summary.md', 'broken'),
      finishing(),
      writing('memory_summary.md', SUMMARY_TEXT),
      finishing(),
    ]);
    expect(end.kind).toBe('published');
    expect((await recordOf(bench))?.answers.map(({ step }) => step)).toEqual([
      'turn-001',
      'turn-002', // which was unavailable
      'turn-002-2',
      'turn-003',
      'turn-004',
      'turn-005',
    ]);
  });

  it('is not made by a run that publishes nothing', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    expect(await bench.run()).toMatchObject({ kind: 'unchanged' });
    await bench.addOutput('t2');
    expect(await bench.run([{ kind: 'refused', usage: null }])).toMatchObject({ kind: 'failed' });
    expect(await bench.replays.list(USER)).toHaveLength(1);
  });
});

describe('publishing', () => {
  it.each([
    ['is down', new UnavailableError('replay.write_failed', 'down'), 'warn'],
    ['may not be written', new DeniedError('home.read_only', 'read only'), 'warn'],
    ['breaks', new Error('a fault'), 'error'],
  ] as const)('is done where the store of records %s, and the loss is told', async (_name, error, level) => {
    const bench = await benchWith('t1');
    const put = async (): Promise<never> => {
      throw error;
    };
    const replays = { put, list: async () => [], remove: async () => {} };
    expect(await bench.run(bench.goodScript('t1'), { ports: { replays } })).toMatchObject({
      kind: 'published',
      version: 1,
    });
    expect(await bench.jobs.get(USER, { kind: 'consolidation' })).toMatchObject({ status: 'done', lastError: null });
    expect(told(bench, 'replay.lost')).toMatchObject([{ level, fields: { version: 1 } }]);
  });

  it('comes before the record: readers never wait for it', async () => {
    const bench = await benchWith('t1');
    const replays = new InterruptedReplays();
    let seen = 0;
    replays.after = async () => {
      seen = (await bench.heads.read(USER)).version;
    };
    await bench.run(bench.goodScript('t1'), { ports: { replays } });
    expect(seen).toBe(1);
  });
});

describe('a forgotten thread', () => {
  it('takes the records along of all runs that rested on it, and no others', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1', 't2'])), finishing()]);
    expect(await bench.replays.list(USER)).toHaveLength(2);
    await forget(bench, 't2');
    expect((await bench.replays.list(USER)).map((ref) => ref.version)).toEqual([1]);
    await forget(bench, 't1');
    expect(await bench.replays.list(USER)).toEqual([]);
  });

  it('takes along a record that nobody can read', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    for (const kept of bench.replays.kept.get(USER)?.values() ?? []) kept.text = null;
    await forget(bench, 't2');
    expect(await bench.replays.list(USER)).toEqual([]);
  });

  it('leaves no record of the version that takes it out of the memory: no model was asked', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    await forget(bench, 't2');
    expect(await bench.manifest()).toMatchObject({ version: 2, reason: 'forget', removed: ['t2'] });
    expect(await bench.run()).toMatchObject({ kind: 'unchanged', version: 2 });
    expect(await bench.replays.list(USER)).toEqual([]);
  });

  it('is not kept where it was forgotten while the record was written', async () => {
    const bench = await benchWith('t1');
    const replays = new InterruptedReplays();
    // The forget looks at the records before this one lies there.
    replays.after = () => forget(bench, 't1', new MemoryReplayStore());
    await bench.run(bench.goodScript('t1'), { ports: { replays } });
    expect(await replays.list(USER)).toEqual([]);
  });

  it('leaves no record where its run died before it looked: the next one removes it', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    const [ref] = await bench.replays.list(USER);
    const text = ref && (await bench.replays.read(USER, ref));
    await forget(bench, 't2');
    if (ref !== undefined) await bench.replays.put(USER, ref, text ?? '');
    await bench.run();
    expect(await bench.replays.list(USER)).toEqual([]);
  });
});

describe('a reset', () => {
  it('takes all records of the user along, and of nobody else', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.replays.put('u10', { epoch: 0, version: 1, createdAt: 5 }, 'x');
    await resetMemory(bench, USER);
    expect(await bench.replays.list(USER)).toEqual([]);
    expect(await bench.replays.list('u10')).toHaveLength(1);
  });

  it('leaves none of a run that it came upon', async () => {
    const bench = await benchWith('t1');
    const replays = new InterruptedReplays();
    replays.after = () => resetMemory({ ...bench, replays: new MemoryReplayStore() }, USER);
    await bench.run(bench.goodScript('t1'), { ports: { replays } });
    expect(await replays.list(USER)).toEqual([]);
  });
});

it('a run removes records that are over 30 days old or of a former epoch', async () => {
  const bench = await benchWith('t1');
  await bench.goodRun('t1');
  const [young] = await bench.replays.list(USER);
  const now = bench.clock.now();
  await bench.replays.put(USER, { epoch: 0, version: 90, createdAt: now - LIMITS.replayMs - 1 }, 'x');
  await bench.replays.put(USER, { epoch: -1, version: 91, createdAt: now }, 'x');
  await bench.run();
  expect(await bench.replays.list(USER)).toEqual([young]);
});
