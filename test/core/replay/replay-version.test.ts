import { describe, expect, it } from 'vitest';
import { forgetThread } from '../../../core/control/forget-thread.ts';
import { restoreVersion } from '../../../core/control/restore-version.ts';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import type { TemplateStore } from '../../../core/ports/template-store.ts';
import { replayVersion } from '../../../core/replay/replay-version.ts';
import { LIMITS } from '../../../core/settings.ts';
import { DAY_MS } from '../../../core/time.ts';
import { finishing, listing, writing } from '../agent/agent-script.ts';
import { benchWith, type ConsolidationBench, reading, USER } from '../consolidation/consolidation-bench.ts';
import { SUMMARY_TEXT } from '../consolidation/memory-text.ts';
import { readOnly, replay } from './replay-bench.ts';

const NOTE = 'extensions/ad_hoc/notes/2026-01-02T03-04-05-tabs.md';
const CUT: ModelReply = { kind: 'incomplete', reason: 'length', usage: null };
const SKILL = '---\nname: deploy\ndescription: how to deploy\n---\n\nRun it.\n';

/** Changes the text of what is kept of a version. */
function tamper(bench: ConsolidationBench, version: number, change: (text: string) => string): void {
  for (const kept of bench.replays.kept.get(USER)?.values() ?? [])
    if (kept.ref.version === version) kept.text = change(kept.text ?? '');
}

async function expectEqual(bench: ConsolidationBench, version: number, answers: number): Promise<void> {
  const files = Object.keys((await bench.memories.manifest(USER, version))?.files ?? {}).length;
  expect(await replay(bench, version)).toEqual({ version, equal: true, difference: null, files, answers, model: 'm' });
}

describe('a version is made again byte for byte, without a model', () => {
  it('after a first build, and after a later run while versions have gone on', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    await bench.run([
      listing('.'),
      reading('phase2_workspace_diff.md'),
      writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
      writing('skills/deploy/SKILL.md', SKILL),
      finishing(),
    ]);
    await bench.publishSmall('edit', { 'memory_summary.md': `${SUMMARY_TEXT}\n` });
    await expectEqual(bench, 1, 3);
    await expectEqual(bench, 2, 5);
  });

  it('where a note was taken in, an input fell out and an old extension file was pruned', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    await bench.publishSmall('note', {
      [NOTE]: 'use tabs',
      'extensions/wiki/resources/2020-01-01T00-00-00-a.md': 'old',
    });
    await bench.outputs.remove(USER, [{ threadId: 't2', sourceUpdatedAt: bench.clock.now() - 3_600_000 }], {
      onlyUnselected: false,
    });
    const memory = bench.goodMemory(['t1'], ['Use tabs [ad-hoc note]']);
    expect(await bench.run([writing('MEMORY.md', memory), finishing()])).toMatchObject({
      kind: 'published',
      version: 3,
      removed: ['t2'],
    });
    await expectEqual(bench, 3, 2);
  });

  it('where faults went back to the agent', async () => {
    const bench = await benchWith('t1');
    const broken = writing('memory_summary.md', 'broken');
    await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1'])),
      broken,
      finishing(),
      writing('memory_summary.md', SUMMARY_TEXT),
      finishing(),
    ]);
    await expectEqual(bench, 1, 5);
  });

  it('where a run was cut off and went on later, and where an answer was asked for with more room', async () => {
    const bench = await benchWith('t1');
    const unavailable: ModelReply = { kind: 'unavailable', code: 'http_503' };
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'])), unavailable]);
    bench.clock.advance(LIMITS.silenceRetryMs);
    await bench.run([{ kind: 'incomplete', reason: 'length', usage: null }, ...bench.goodScript('t1').slice(1)]);
    await expectEqual(bench, 1, 5);
  });

  it('where it was merged over a note that came in between, and where it started over from an edit', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    const both = writing('MEMORY.md', bench.goodMemory(['t1', 't2']));
    const meanwhile = (reason: 'note' | 'edit', path: string, text: string) => async () => {
      await bench.publishSmall(reason, { [path]: text });
      return finishing();
    };
    await bench.run([both, meanwhile('note', NOTE, 'use tabs')]);
    const merged = await bench.manifest();
    expect(Object.keys(merged?.files ?? {})).toContain(NOTE);
    await expectEqual(bench, merged?.version ?? 0, 2);

    await bench.addOutput('t3');
    const all = bench.goodMemory(['t1', 't2', 't3'], ['By hand [Task 1]']);
    await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1', 't2', 't3'])),
      meanwhile('edit', 'MEMORY.md', bench.goodMemory(['t1', 't2'], ['By hand [Task 1]'])),
      writing('MEMORY.md', all),
      finishing(),
    ]);
    const restarted = await bench.manifest();
    expect(restarted?.tokenUsage.totalTokens).toBe(440);
    await expectEqual(bench, restarted?.version ?? 0, 2);
  });

  it('where it built on a version that was restored', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    await bench.outputs.remove(USER, [{ threadId: 't2', sourceUpdatedAt: bench.clock.now() - 3_600_000 }], {
      onlyUnselected: false,
    });
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'])), finishing()]);
    expect(await restoreVersion(bench, USER, { version: 1, actor: 'user' })).toMatchObject({ version: 3 });
    const end = await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'])), finishing()]);
    expect(end).toMatchObject({ kind: 'published', version: 4, removed: ['t2'] });
    await expectEqual(bench, 4, 2);
  });

  it.each([
    ['too long', [{ kind: 'too_long' }], 4],
    ['cut twice', [CUT, CUT], 5],
  ] as const)(
    'where one call was found %s and the loop took over, cut off once on its way',
    async (_name, first, answers) => {
      const bench = await benchWith('t1');
      const once = { oneShotTokens: LIMITS.oneShotTokens };
      const [memory, ...rest] = bench.goodScript('t1');
      if (memory === undefined) throw new Error('no script');
      const dying = async (): Promise<never> => {
        throw new Error('killed');
      };
      await expect(bench.run([...first, memory, dying], once)).rejects.toThrow('killed');
      bench.clock.advance(2 * LIMITS.retryDelayMs);
      expect(await bench.run(rest, once)).toMatchObject({ kind: 'published', way: 'loop' });
      await expectEqual(bench, 1, answers);
    },
  );

  it('and leaves everything as it was', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    const state = () =>
      JSON.stringify([
        [...bench.memories.shelf(USER).manifests],
        [...(bench.replays.kept.get(USER) ?? [])],
        bench.tokens.next(),
      ]);
    const calls = bench.telemetry.events.length;
    const [before, day] = [state(), await bench.ledger.day(USER, '2026-01-01')];
    await replay(bench, 1);
    expect(await bench.ledger.day(USER, '2026-01-01')).toEqual(day);
    expect(bench.telemetry.events).toHaveLength(calls);
    expect(JSON.parse(state()).slice(0, 2)).toEqual(JSON.parse(before).slice(0, 2));
  });
});

describe('a replay that comes out otherwise', () => {
  it('names the first file and line that differ', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    tamper(bench, 1, (text) => text.replace('start the database first', 'start it twice'));
    const result = await replay(bench, 1);
    expect(result).toMatchObject({ equal: false, difference: { kind: 'file', path: 'memory_summary.md' } });
    const { difference } = result;
    const line = difference?.kind === 'file' ? difference.line : 0;
    expect(difference).toMatchObject({
      kept: SUMMARY_TEXT.split('\n')[line - 1],
      replayed: '  - learnings: start it twice',
    });
  });

  it('names what is said of the making where only that differs', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    tamper(bench, 1, (text) => text.replace('"model":"m"', '"model":"n"'));
    expect((await replay(bench, 1)).difference).toEqual({ kind: 'manifest', field: 'model' });
  });

  it.each([
    ['one is missing', (answers: unknown[]) => answers.slice(0, -1), { kind: 'step', asked: 'turn-003', kept: null }],
    ['two are swapped', ([a, b, c]: unknown[]) => [b, a, c], { kind: 'step', asked: 'turn-001', kept: 'turn-002' }],
    [
      'one is left',
      (answers: unknown[]) => [...answers, { step: 'turn-004', answer: { kind: 'too_long' } }],
      { kind: 'end', code: 'replay.answers_left', detail: 'turn-004' },
    ],
    [
      'the last one refuses',
      (answers: unknown[]) => [
        ...answers.slice(0, -1),
        { step: 'turn-003', answer: { kind: 'too_long' } },
        { step: 'turn-003-2', answer: { kind: 'too_long' } },
      ],
      { kind: 'step' },
    ],
  ])('says where it left the way of its run: of the answers %s', async (_name, change, difference) => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    tamper(bench, 1, (text) => {
      const record = JSON.parse(text);
      return JSON.stringify({ ...record, answers: change(record.answers) });
    });
    expect(await replay(bench, 1)).toMatchObject({ equal: false, difference });
  });
});

describe('a replay is refused', () => {
  it.each([0, 7])('for version %i, which no run made', async (version) => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await expect(replay(bench, version)).rejects.toMatchObject({
      code: version === 0 ? 'replay.no_run' : 'memory.version_not_found',
    });
  });

  it('for a version that a person made, by its reason', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.publishSmall('note', { [NOTE]: 'use tabs' });
    await expect(replay(bench, 2)).rejects.toMatchObject({
      code: 'replay.no_run',
      message: expect.stringContaining('(note)'),
    });
  });

  it('after 30 days, and not a moment before, whether or not the record still lies there', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    bench.clock.advance(30 * DAY_MS);
    await expectEqual(bench, 1, 3);
    bench.clock.advance(1);
    await expect(replay(bench, 1)).rejects.toMatchObject({
      code: 'replay.expired',
      message: expect.stringContaining('30 days'),
    });
  });

  it('after a thread was forgotten that it rested on, by its id', async () => {
    const bench = await benchWith('t1', 't2');
    await bench.goodRun('t1', 't2');
    await forgetThread({ ...bench, rollouts: { remove: async () => true } }, USER, 't2');
    await expect(replay(bench, 1)).rejects.toMatchObject({
      code: 'replay.forgotten',
      message: expect.stringMatching(/thread t2$/),
    });
  });

  it('where no record is kept', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.replays.remove(USER, await bench.replays.list(USER));
    await expect(replay(bench, 1)).rejects.toMatchObject({ kind: 'not_found', code: 'replay.not_kept' });
  });

  it.each(['consolidation', 'repair'] as const)(
    'where the template %s has another text now, by name and versions',
    async (name) => {
      const bench = await benchWith('t1');
      await bench.goodRun('t1');
      const templates: TemplateStore = {
        get: async (wanted) => {
          const template = await bench.templates.get(wanted);
          return wanted === name ? { ...template, version: '99', text: `${template.text}\nAnd more.` } : template;
        },
      };
      const { version } = await bench.templates.get(name);
      await expect(replayVersion({ ...readOnly(bench), templates }, USER, 1)).rejects.toMatchObject({
        code: 'replay.template_changed',
        details: { template: name, template_version: version, template_version_now: '99' },
      });
    },
  );

  it('where a text that the run started from is gone', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1', 't2'])), finishing()]);
    const raw = (await bench.memories.manifest(USER, 1))?.files['raw_memories.md'];
    bench.memories.shelf(USER).contents.delete(raw?.versionId ?? '');
    await expect(replay(bench, 2)).rejects.toMatchObject({ kind: 'not_found', code: 'replay.inputs_gone' });
  });

  it.each([
    ['cut in the middle', (text: string) => text.slice(0, text.length >> 1)],
    ['no JSON', () => 'quince'],
    ['of another form', (text: string) => text.replace('"format":1', '"format":2')],
    ["another version's", (text: string) => text.replace('"version":1', '"version":2')],
    ['without answers', (text: string) => text.replace('"answers"', '"answer"')],
    ['with an answer that is none', (text: string) => text.replace('"kind":"reply"', '"kind":"quince"')],
    ['with a base that it cannot have', (text: string) => text.replace('"base":0', '"base":-1')],
  ])('where the record is %s: by the field, without its content', async (_name, change) => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    tamper(bench, 1, change);
    const error = await replay(bench, 1).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ kind: 'defect', code: 'replay.unreadable', details: { field: expect.any(String) } });
    expect(JSON.stringify([error, (error as Error).message])).not.toContain('quince');
  });
});
