import { describe, expect, it } from 'vitest';
import { completionWatermark } from '../../../core/consolidation/consolidate.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import { NOW } from '../../support/sample-state.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { benchWith, ConsolidationBench, firstMessage, lastResult, reading, USER } from './consolidation-bench.ts';
import { SUMMARY_TEXT } from './memory-text.ts';

describe('a first build', () => {
  it('publishes the inputs and what the agent wrote, as version 1', async () => {
    const bench = await benchWith('t1', 't2');
    const result = await bench.goodRun('t1', 't2');
    expect(result).toMatchObject({
      kind: 'published',
      version: 1,
      added: ['t1', 't2'],
      retained: [],
      removed: [],
      turns: 3,
      report: 'took in t1, t2',
    });
    const files = await bench.files();
    expect(Object.keys(files).sort()).toEqual(
      [
        'MEMORY.md',
        'memory_summary.md',
        'raw_memories.md',
        ...['t1', 't2'].map((id) => `rollout_summaries/${bench.stemOf(id)}.md`),
      ].sort(),
    );
    expect(await bench.manifest()).toMatchObject({
      reason: 'consolidation',
      model: 'm',
      promptVersion: expect.stringMatching(/^\d+$/),
      inputs: [{ threadId: 't1' }, { threadId: 't2' }],
      tokenUsage: { totalTokens: 330 },
    });
    expect(await bench.heads.read(USER)).toMatchObject({ version: 1, summary: SUMMARY_TEXT });
  });

  it('marks what it took in and ends the job, with the watermark of its newest input', async () => {
    const bench = await benchWith('t1');
    await bench.addOutput('t2', { at: NOW - 1_000 });
    await bench.goodRun('t1', 't2');
    expect((await bench.outputs.heads(USER)).map((head) => head.selectedSnapshot)).toEqual([
      NOW - 3_600_000,
      NOW - 1_000,
    ]);
    expect(await bench.jobs.get(USER, { kind: 'consolidation' })).toMatchObject({
      status: 'done',
      lastError: null,
      successWatermark: NOW - 1_000,
    });
  });

  it('tells the model what varies in the first message only, and projects by their keys', async () => {
    const bench = await benchWith('t1');
    const { model } = await bench.goodRun('t1');
    const other = await benchWith('t7');
    const second = (await other.goodRun('t7')).model;
    expect(model.requests[0]?.instructions).toBe(second.requests[0]?.instructions);
    const message = firstMessage(model.requests[0]);
    expect(message).toContain('Mode: first build');
    expect(message).toContain(
      `- rollout_summaries/${bench.stemOf('t1')}.md (thread_id=t1, project=git.example.org/dev/shop)`,
    );
    expect(message).toContain('120 turns');
    expect(message).not.toMatch(/\{\{|<!--/);
  });

  it('lets the agent read the diff, which is no part of the version', async () => {
    const bench = await benchWith('t1');
    const seen: string[] = [];
    await bench.run([
      reading('phase2_workspace_diff.md'),
      (request) => {
        seen.push(lastResult(request));
        return writing('MEMORY.md', bench.goodMemory(['t1']));
      },
      ...bench.goodScript('t1').slice(1),
    ]);
    expect(seen[0]).toContain('- A raw_memories.md');
    expect(Object.keys(await bench.files())).not.toContain('phase2_workspace_diff.md');
  });

  it('uses the model of the settings, else that of the request', async () => {
    const bench = await benchWith('t1');
    const settings = { ...DEFAULT_SETTINGS, consolidationModel: 'mine' };
    const { model } = await bench.run(bench.goodScript('t1'), { settings });
    expect(model.requests.every((request) => request.model === 'mine')).toBe(true);
    expect((await bench.manifest())?.model).toBe('mine');
  });
});

describe('nothing to do', () => {
  it('A7 makes no version and no model call without inputs and files', async () => {
    const bench = new ConsolidationBench();
    expect(await bench.run()).toMatchObject({ kind: 'nothing' });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([]);
    expect(await bench.jobs.get(USER, { kind: 'consolidation' })).toMatchObject({ status: 'done' });
  });

  it('makes no version and no model call when nothing changed', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    expect(await bench.run()).toMatchObject({ kind: 'unchanged', version: 1, turns: 0 });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([1]);
  });

  it('calls the model where nothing changed but the files do not pass the gates', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    const manifest = await bench.manifest();
    if (!manifest) throw new Error('no version');
    const entry = await bench.memories.putFile(USER, 'memory_summary.md', new TextEncoder().encode('broken'));
    const { manifests } = bench.memories.shelf(USER);
    const text = manifests.get(1) ?? '';
    const old = manifest.files['memory_summary.md'];
    manifests.set(
      1,
      text.replaceAll(old?.sha256 ?? '', entry.sha256).replace(`"bytes":${old?.bytes}`, `"bytes":${entry.bytes}`),
    );
    const seen: string[] = [];
    const result = await bench.run([
      reading('phase2_workspace_diff.md'),
      (request) => {
        seen.push(lastResult(request));
        return writing('memory_summary.md', SUMMARY_TEXT);
      },
      finishing(),
    ]);
    expect(seen[0]).toContain('- none');
    expect(result).toMatchObject({ kind: 'published', version: 2 });
  });

  it('is refused in the cooldown after a success, unless a person asks now', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    expect(await bench.run([], { immediate: false })).toMatchObject({
      kind: 'refused',
      reason: 'cooldown',
      retryAt: NOW + LIMITS.consolidationCooldownMs,
    });
    expect(await bench.run()).toMatchObject({ kind: 'unchanged' });
  });

  it.each([
    [100, [], 100],
    [100, [50, 70], 100],
    [100, [150, 120], 150],
    [0, [], 0],
  ])('TC-142 claimed at %i with sources %j completes at %i', (claimed, sources, expected) => {
    expect(
      completionWatermark(
        claimed,
        sources.map((sourceUpdatedAt) => ({ sourceUpdatedAt })),
      ),
    ).toBe(expected);
  });
});

describe('an incremental update', () => {
  it('lists added, retained and removed inputs, and shows the removed ones for this run only', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    const gone = `rollout_summaries/${bench.stemOf('t2')}.md`;
    await bench.threads.setMemoryMode(USER, 't2', 'disabled');
    await bench.addOutput('t3');
    const seen: string[] = [];
    const result = await bench.run([
      reading(`removed/${gone}`),
      (request) => {
        seen.push(lastResult(request));
        return writing('MEMORY.md', bench.goodMemory(['t1', 't3']));
      },
      finishing(),
    ]);
    expect(result).toMatchObject({ kind: 'published', version: 2, added: ['t3'], retained: ['t1'], removed: ['t2'] });
    expect(seen[0]).toContain('memory of t2');
    expect(firstMessage(result.model.requests[0])).toContain('Mode: incremental update');
    expect(firstMessage(result.model.requests[0])).toContain(`- removed/${gone} (thread_id=t2)`);
    expect(Object.keys(await bench.files()).filter((path) => path === gone || path.startsWith('removed/'))).toEqual([]);
    expect((await bench.manifest())?.removed).toEqual(['t2']);
  });

  it('G-13 counts a refreshed snapshot as added and replaces its file', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t1', { at: NOW - 1_000, text: 'newer memory' });
    const result = await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'], ['newer [Task 1]'])), finishing()]);
    expect(result).toMatchObject({ kind: 'published', added: ['t1'], retained: [], removed: [] });
    const summaries = Object.entries(await bench.files()).filter(([path]) => path.startsWith('rollout_summaries/'));
    expect(summaries).toHaveLength(1);
    expect(summaries[0]?.[1]).toContain('newer memory');
    expect((await bench.files())['raw_memories.md']).toContain('newer memory');
    expect((await bench.outputs.heads(USER))[0]?.selectedSnapshot).toBe(NOW - 1_000);
  });

  it('stores only the files that changed', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    const before = await bench.manifest();
    await bench.addOutput('t3');
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1', 't2', 't3'])), finishing()]);
    const after = await bench.manifest();
    for (const path of ['memory_summary.md', `rollout_summaries/${bench.stemOf('t1')}.md`])
      expect(after?.files[path]).toEqual(before?.files[path]);
  });

  it('runs when only an old extension resource was pruned (G-05, K-05), and shows it under removed/', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    const old = 'extensions/wiki/resources/2024-01-01T00-00-00-page.md';
    await bench.publishSmall('edit', { 'extensions/wiki/instructions.md': 'read', [old]: 'page' });
    await bench.run([reading(old.replace('page.md', 'none.md')), finishing()]);
    expect(Object.keys(await bench.files())).not.toContain(old);
  });

  it('A4 keeps what is current in the diff: the newest snapshot alone stands in raw_memories.md', async () => {
    const bench = await benchWith('t1');
    await bench.addOutput('t1', { text: 'use X', at: NOW - 5_000 });
    await bench.goodRun('t1');
    await bench.addOutput('t1', { text: 'use Y, X was rejected', at: NOW - 1_000 });
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'], ['Y, not X [Task 1]'])), finishing()]);
    expect((await bench.files())['raw_memories.md']?.match(/use /g)).toHaveLength(1);
  });
});
