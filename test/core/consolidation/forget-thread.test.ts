import { beforeEach, describe, expect, it } from 'vitest';
import { validateArtifacts } from '../../../core/consolidation/validate-artifacts.ts';
import type { HistoryCut } from '../../../core/control/forget-in-history.ts';
import { forgetThread } from '../../../core/control/forget-thread.ts';
import { NotFoundError } from '../../../core/errors.ts';
import { openPinned } from '../../../core/memory/pinned-version.ts';
import { STALE_MARK } from '../../../core/memory/stale-mark.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { NOW } from '../../support/sample-state.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { ConsolidationBench, PROJECT, USER } from './consolidation-bench.ts';

const SECRET = 'the garden of t2';

/** Version 1: one bullet of `t1`, one of `t2`, one of both. */
async function benchWithMemory(): Promise<ConsolidationBench> {
  const bench = new ConsolidationBench();
  await bench.addOutput('t1');
  await bench.addOutput('t2', { text: SECRET });
  const memory = bench.goodMemory(
    ['t1', 't2'],
    ['Port is 5433 [Task 1]', `Walk in ${SECRET} [Task 2]`, 'Start the database [Task 1][Task 2]'],
  );
  const [first, ...rest] = bench.goodScript('t1', 't2');
  if (first === undefined) throw new Error('no script');
  await bench.run([writing('MEMORY.md', memory), ...rest]);
  return bench;
}

function forget(bench: ConsolidationBench, threadId: string, history: HistoryCut = 'own') {
  return forgetThread({ ...bench, rollouts: { remove: async () => true } }, USER, threadId, history);
}

const allText = async (bench: ConsolidationBench) =>
  Object.entries(await bench.files())
    .flat()
    .join('\n');

describe('a forgotten thread', () => {
  let bench: ConsolidationBench;
  beforeEach(async () => {
    bench = await benchWithMemory();
  });

  it('leaves the current version at once, without a model, and the version passes the gates', async () => {
    const inputs = [{ threadId: 't1', project: PROJECT }];
    expect(await forget(bench, 't2')).toMatchObject({ version: 2, consolidationDue: true });
    expect(await bench.manifest()).toMatchObject({
      version: 2,
      parent: 1,
      reason: 'forget',
      model: null,
      removed: ['t2'],
      inputs: [{ threadId: 't1' }],
    });
    const text = await allText(bench);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('t2');
    expect(text).toContain(`- Start the database ${STALE_MARK} [Task 1]\n`);
    const tree = new Map(Object.entries(await bench.files()).map(([path, file]) => [path, encodeUtf8(file)]));
    expect(validateArtifacts(tree, inputs, tree)).toEqual([]);
  });

  it('is in the index of the version that rested on it, and a note carries the index on', async () => {
    const first = (await bench.manifest())?.provenance;
    expect(first?.threads).toEqual(['t1', 't2']);
    expect(first?.blocks['MEMORY.md']).toContainEqual([expect.any(Number), 1]);
    await bench.publishSmall('note', { 'extensions/ad_hoc/notes/a.md': 'a note' });
    expect((await bench.manifest())?.provenance).toEqual(first);
  });

  it('stores only what changed: what is shared, and no rollout summary', async () => {
    const puts: string[] = [];
    const putFile = bench.memories.putFile.bind(bench.memories);
    bench.memories.putFile = (user, path, content) => {
      puts.push(path);
      return putFile(user, path, content);
    };
    await forget(bench, 't2');
    expect(puts.sort()).toEqual(['MEMORY.md', 'memory_summary.md', 'raw_memories.md']);
  });

  it('is told to the next run as marked lines alone: no file, no difference, no removed input', async () => {
    await forget(bench, 't2');
    let sent = '';
    const end = await bench.run([
      (request) => {
        sent = JSON.stringify(request);
        return writing('MEMORY.md', bench.goodMemory(['t1'], ['Port is 5433 [Task 1]']));
      },
      (request) => {
        sent += JSON.stringify(request);
        return writing('memory_summary.md', summaryWithoutMark());
      },
      finishing(),
    ]);
    expect(end).toMatchObject({ kind: 'published', added: [], removed: [] });
    expect(sent).toMatch(/Lines marked as stale[^#]*- MEMORY\.md:\d+/);
    expect(sent).not.toContain('t2');
    expect(sent).not.toContain(SECRET);
    expect(await bench.run()).toMatchObject({ kind: 'unchanged' });
  });

  it('costs no model call where nothing else rested on it', async () => {
    const other = new ConsolidationBench();
    await other.addOutput('t1');
    await other.addOutput('t2', { text: SECRET });
    const [, summary, end] = other.goodScript();
    const memory = other.goodMemory(['t1', 't2'], ['Port is 5433 [Task 1]', `Walk in ${SECRET} [Task 2]`]);
    if (summary === undefined || end === undefined) throw new Error('no script');
    await other.run([writing('MEMORY.md', memory), writing('memory_summary.md', plainSummary()), end]);
    await forget(other, 't2');
    expect(await allText(other)).not.toContain(STALE_MARK);
    expect(await other.run()).toMatchObject({ kind: 'unchanged', version: 2 });
  });

  it('is not published again by a model that keeps the mark', async () => {
    await forget(bench, 't2');
    const marked = bench.goodMemory(['t1'], ['Port is 5433 [Task 1]', `Start the database ${STALE_MARK} [Task 1]`]);
    const end = await bench.run([writing('MEMORY.md', marked), finishing('a'), finishing('b'), finishing('c')]);
    expect(end).toMatchObject({ kind: 'failed', code: 'artifacts.invalid' });
    expect(await bench.manifest()).toMatchObject({ version: 2 });
  });

  it('B22-B29, A23: three consolidations and the same rollout again do not bring it back', async () => {
    await forget(bench, 't2');
    const write = (...ids: readonly string[]) => [
      writing('MEMORY.md', bench.goodMemory(ids, ['Port is 5433 [Task 1]'])),
      writing('memory_summary.md', summaryWithoutMark()),
      finishing(),
    ];
    await bench.run(write('t1'));
    const known = ['t1'];
    for (const threadId of ['t3', 't4', 't5']) {
      known.push(threadId);
      await bench.addOutput(threadId);
      const tombstone = await bench.threads.get(USER, 't2');
      await bench.addOutput('t2', { text: SECRET, thread: { forgottenAt: tombstone?.forgottenAt ?? null } });
      const end = await bench.run([
        (request) => {
          expect(JSON.stringify(request)).not.toContain(SECRET);
          return write(...known)[0] ?? finishing();
        },
        finishing(),
      ]);
      expect(end).toMatchObject({ kind: 'published' });
      expect(await allText(bench)).not.toMatch(/t2|garden/);
    }
  });

  it('is taken out by the next run where forgetting died after the tombstone', async () => {
    await bench.threads.update(USER, 't2', (stored) => stored && { ...stored, forgottenAt: NOW });
    const end = await bench.run([
      (request) => {
        expect(JSON.stringify(request)).not.toContain(SECRET);
        return writing('MEMORY.md', bench.goodMemory(['t1'], ['Port is 5433 [Task 1]']));
      },
      writing('memory_summary.md', summaryWithoutMark()),
      finishing(),
    ]);
    expect(end).toMatchObject({ kind: 'published', removed: [] });
    expect(await allText(bench)).not.toMatch(/t2|garden/);
  });

  it('B29: a run that read it and is about to publish loses, whatever it wrote', async () => {
    await bench.addOutput('t3');
    const end = await bench.run([
      async () => {
        await forget(bench, 't2');
        return writing('MEMORY.md', bench.goodMemory(['t1', 't2', 't3'], [`Walk in ${SECRET} [Task 2]`]));
      },
      finishing(),
      finishing(),
      finishing(),
    ]);
    expect(end.kind).toBe('failed');
    expect(await bench.manifest()).toMatchObject({ reason: 'forget' });
    expect(await allText(bench)).not.toContain(SECRET);
  });

  it('stays out where a note, an edit or another forget is published at the same moment', async () => {
    const switchTo = bench.heads.switchTo.bind(bench.heads);
    let raced = false;
    bench.heads.switchTo = async (user, request) => {
      if (!raced) {
        raced = true;
        const memory = (await bench.files())['MEMORY.md'] ?? '';
        await bench.publishSmall('edit', { 'MEMORY.md': memory.replace('Walk in', 'Stroll in') });
      }
      return switchTo(user, request);
    };
    expect(await forget(bench, 't2')).toMatchObject({ version: 4 });
    expect(await allText(bench)).not.toContain(SECRET);
  });

  it('leaves the history: its own summary at once, what is shared when it is purged; the next run needs neither', async () => {
    const first = await bench.manifest();
    const read = async (path: string) => {
      const entry = first?.files[path];
      if (entry === undefined) throw new Error(`no ${path}`);
      return decodeUtf8(await bench.memories.readFile(USER, path, entry));
    };
    const [own = '', others = ''] = ['t2', 't1'].map((id) => `rollout_summaries/${bench.stemOf(id)}.md`);
    await forget(bench, 't2');
    await expect(read(own)).rejects.toMatchObject({ code: 'memory.content_gone' });
    expect(await read('MEMORY.md')).toContain(SECRET);
    await expect(openPinned(bench, USER, 1)).rejects.toBeInstanceOf(NotFoundError);
    await forget(bench, 't2', 'purge');
    await expect(read('MEMORY.md')).rejects.toMatchObject({ code: 'memory.content_gone' });
    expect(await read(others)).toContain('t1');
    const stored = [...bench.memories.shelf(USER).contents.values()].map(decodeUtf8).join('\n');
    expect(stored).not.toContain(SECRET);
    const end = await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1'], ['Port is 5433 [Task 1]'])),
      writing('memory_summary.md', summaryWithoutMark()),
      finishing(),
    ]);
    expect(end).toMatchObject({ kind: 'published' });
  });

  it('can be forgotten again: nothing is left to do', async () => {
    const first = await forget(bench, 't2');
    bench.clock.advance(LIMITS.retryDelayMs);
    expect(await forget(bench, 't2')).toEqual({ ...first, consolidationDue: false, version: null });
  });
});

function plainSummary(): string {
  return [
    'v1',
    '',
    '## User Profile',
    '',
    '## User preferences',
    '',
    '## General Tips',
    '',
    "## What's in Memory",
    '',
    `### ${PROJECT}`,
    '',
    '#### 2026-02-03',
    '',
    '- tests: npm test, port 5433',
    '  - desc: shop tests; how to run them',
    '  - learnings: Port is 5433',
    '',
  ].join('\n');
}

const summaryWithoutMark = plainSummary;
