import { describe, expect, it, vi } from 'vitest';
import { diffVersions } from '../../../core/control/diff-versions.ts';
import { editFile } from '../../../core/control/edit-file.ts';
import { restoreVersion } from '../../../core/control/restore-version.ts';
import { NotFoundError } from '../../../core/errors.ts';
import { LIMITS } from '../../../core/settings.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { DAY_MS } from '../../../core/time.ts';
import { NOW } from '../../support/sample-state.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import {
  benchWith,
  type ConsolidationBench,
  firstMessage,
  lastResult,
  reading,
  USER,
} from '../consolidation/consolidation-bench.ts';
import { SUMMARY_TEXT } from '../consolidation/memory-text.ts';

const NOTE = 'extensions/ad_hoc/notes/2026-01-02T03-04-05-tabs.md';

const restore = (bench: ConsolidationBench, version: number) => restoreVersion(bench, USER, { version, actor: 'user' });

async function isDue(bench: ConsolidationBench): Promise<boolean> {
  const job = await bench.jobs.get(USER, { kind: 'consolidation' });
  return (job?.inputWatermark ?? 0) > (job?.successWatermark ?? 0);
}

/** Version 1 rests on t1, version 2 on t1 and t2. */
async function benchWithTwoVersions(): Promise<ConsolidationBench> {
  const bench = await benchWith('t1');
  await bench.goodRun('t1');
  await bench.addOutput('t2');
  await bench.run([writing('MEMORY.md', bench.goodMemory(['t1', 't2'], ['Bad [Task 2]'])), finishing()]);
  return bench;
}

describe('restoreVersion', () => {
  it('makes a version of the same files, inputs and notes, readable at once, with no model call and nothing due', async () => {
    const bench = await benchWithTwoVersions();
    const first = await bench.memories.manifest(USER, 1);
    expect(await restore(bench, 1)).toEqual({ version: 3, restored: 1, changed: true });
    const made = await bench.manifest();
    expect(made).toMatchObject({
      version: 3,
      parent: 2,
      reason: 'restore',
      inputs: [{ threadId: 't1' }],
      removed: ['t2'],
      model: null,
    });
    const hashes = (files = made?.files) =>
      Object.fromEntries(Object.entries(files ?? {}).map(([path, entry]) => [path, entry.sha256]));
    expect(hashes()).toEqual(hashes(first?.files));
    expect((await bench.heads.read(USER)).summary).toBe(SUMMARY_TEXT);
    expect(await isDue(bench)).toBe(false);
  });

  it('stores what differs anew, and nothing else: entries of old versions expire', async () => {
    const bench = await benchWithTwoVersions();
    const stored = vi.spyOn(bench.memories, 'putFile');
    await restore(bench, 1);
    expect(stored.mock.calls.map(([, path]) => path).sort()).toEqual(['MEMORY.md', 'raw_memories.md']);
  });

  it('says so when the version is the present one, or reads the same, and makes none', async () => {
    const bench = await benchWithTwoVersions();
    expect(await restore(bench, 2)).toEqual({ version: 2, restored: 2, changed: false });
    await restore(bench, 1);
    expect(await restore(bench, 1)).toEqual({ version: 3, restored: 1, changed: false });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([1, 2, 3]);
  });

  it('can be taken back', async () => {
    const bench = await benchWithTwoVersions();
    const before = await bench.files();
    await restore(bench, 1);
    expect(await restore(bench, 2)).toMatchObject({ version: 4, changed: true });
    expect(await bench.files()).toEqual(before);
  });

  it.each([0, 3, 99])('knows no version %i, and writes nothing', async (version) => {
    const bench = await benchWithTwoVersions();
    await expect(restore(bench, version)).rejects.toThrow(NotFoundError);
    await expect(restore(bench, version)).rejects.toMatchObject({ code: 'memory.version_not_found' });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([1, 2]);
  });

  it('tells a version that is older than history apart', async () => {
    const bench = await benchWithTwoVersions();
    bench.clock.advance(LIMITS.historyDays * DAY_MS + 1);
    await expect(restore(bench, 1)).rejects.toMatchObject({ code: 'memory.version_expired' });
  });

  it('lets notes that the version had not taken in wait again, and makes their consolidation due', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.publishSmall('note', { [NOTE]: 'use tabs' });
    await bench.run([writing('MEMORY.md', bench.goodMemory(['t1'], ['Use tabs [ad-hoc note]'])), finishing()]);
    expect((await bench.heads.read(USER)).pendingNotes).toEqual([]);
    await restore(bench, 2);
    expect((await bench.heads.read(USER)).pendingNotes).toEqual([{ path: NOTE, text: 'use tabs' }]);
    expect(await isDue(bench)).toBe(true);
  });

  it('begins again where an edit comes in between, so that the edit stays in the history', async () => {
    const bench = await benchWithTwoVersions();
    const manifest = bench.memories.putManifest.bind(bench.memories);
    let raced = false;
    bench.memories.putManifest = async (userKey, made) => {
      if (!raced) {
        raced = true;
        await editFile(bench, USER, {
          path: 'skills/a/SKILL.md',
          content: encodeUtf8('mine\n'),
          version: 2,
          actor: 'user',
        });
      }
      return manifest(userKey, made);
    };
    const { version } = await restore(bench, 1);
    expect(await bench.manifest()).toMatchObject({ version, reason: 'restore' });
    expect(Object.keys(await bench.files())).not.toContain('skills/a/SKILL.md');
    const parent = (await bench.manifest())?.parent ?? 0;
    expect(await bench.memories.manifest(USER, parent)).toMatchObject({ reason: 'edit' });
  });
});

describe('a thread that was forgotten since (A23)', () => {
  async function forgottenBench() {
    const bench = await benchWithTwoVersions();
    await bench.threads.update(USER, 't2', (thread) => (thread ? { ...thread, forgottenAt: NOW } : undefined));
    await bench.publishSmall('forget', await onlyFirst(bench), ['t2']);
    return bench;
  }
  const onlyFirst = async (bench: ConsolidationBench) => ({
    'MEMORY.md': bench.goodMemory(['t1']),
    'raw_memories.md': '# Raw Memories\n',
    [`rollout_summaries/${bench.stemOf('t2')}.md`]: null,
  });

  it('does not come back by a restore', async () => {
    const bench = await forgottenBench();
    await restore(bench, 2);
    expect(await bench.manifest()).toMatchObject({ reason: 'restore', inputs: [{ threadId: 't1' }] });
    const all = JSON.stringify([await bench.files(), await bench.manifest()]);
    expect(all).toContain('Work on t1');
    expect(all).not.toMatch(/Work on t2|memory of t2|Bad \[Task 2\]|thread_id=t2/);
  });

  it('is not in the present version either where it is forgotten while that is restored', async () => {
    const bench = await benchWithTwoVersions();
    await restore(bench, 1);
    const switchTo = bench.heads.switchTo.bind(bench.heads);
    bench.heads.switchTo = async (userKey, request) => {
      await bench.threads.update(USER, 't2', (thread) => (thread ? { ...thread, forgottenAt: NOW } : undefined));
      return switchTo(userKey, request);
    };
    expect(await restore(bench, 2)).toMatchObject({ version: 5, restored: 2, changed: true });
    expect(JSON.stringify(await bench.files())).not.toMatch(/Work on t2|memory of t2|thread_id=t2/);
  });

  it('is in no diff, on either side', async () => {
    const bench = await forgottenBench();
    for (const [version, against] of [
      [2, 1],
      [2, 0],
      [3, 2],
      [1, 2],
    ] as const) {
      const { text } = await diffVersions(bench, USER, { version, against });
      expect(text).not.toMatch(/Work on t2|memory of t2|Bad \[Task 2\]|thread_id=t2/);
    }
  });
});

describe('the consolidation after a restore', () => {
  it('builds on what was restored, takes in what is new, and is not told to learn the rest again', async () => {
    const bench = await benchWithTwoVersions();
    await restore(bench, 1);
    await bench.addOutput('t3');
    const memory = bench.goodMemory(['t1', 't3'], ['Good [Task 1]', 'New [Task 2]']);
    const seen: string[] = [];
    const result = await bench.run([
      reading('MEMORY.md'),
      (request) => {
        seen.push(lastResult(request));
        return writing('MEMORY.md', memory);
      },
      finishing(),
    ]);
    expect(seen[0]).not.toContain('Bad [Task 2]');
    expect(result).toMatchObject({ kind: 'published', version: 4, added: ['t3'], retained: ['t1', 't2'], removed: [] });
    expect(await bench.manifest()).toMatchObject({ parent: 3, reason: 'consolidation' });
    expect((await bench.files())['MEMORY.md']).toBe(memory);
    expect(await bench.run()).toMatchObject({ kind: 'unchanged', version: 4 });
  });

  it('starts over where the restore comes in while it runs', async () => {
    const bench = await benchWithTwoVersions();
    await bench.addOutput('t3');
    const memory = bench.goodMemory(['t1', 't3']);
    const result = await bench.run([
      writing('MEMORY.md', bench.goodMemory(['t1', 't2', 't3'])),
      async () => {
        await restore(bench, 1);
        return finishing();
      },
      writing('MEMORY.md', memory),
      finishing(),
    ]);
    expect(result).toMatchObject({ kind: 'published', turns: 4 });
    const made = await bench.manifest();
    expect(await bench.memories.manifest(USER, made?.parent ?? 0)).toMatchObject({ reason: 'restore', version: 3 });
    expect((await bench.files())['MEMORY.md']).toBe(memory);
  });

  it('is told of threads that the restored version rests on and that are selected no more, with their summaries', async () => {
    const bench = await benchWith('t1', 't2', 't3', 't4', 't5');
    await bench.goodRun('t1', 't2', 't3', 't4', 't5');
    const gone = ['t2', 't3', 't4', 't5'];
    const stems = gone.map((id) => bench.stemOf(id));
    for (const id of gone) await bench.threads.setMemoryMode(USER, id, 'disabled');
    await bench.goodRun('t1');
    await restore(bench, 1);
    const result = await bench.run([
      reading(`removed/rollout_summaries/${stems[0]}.md`),
      (request) => {
        expect(lastResult(request)).toContain('memory of t2');
        return writing('MEMORY.md', bench.goodMemory(['t1']));
      },
      finishing(),
    ]);
    expect(firstMessage(result.model.requests[0])).toContain(
      `- removed/rollout_summaries/${stems[0]}.md (thread_id=t2)`,
    );
    expect(result).toMatchObject({ kind: 'published', removed: gone });
  });
});

describe('a hand edit while a run is at work (A31)', () => {
  it.each(['skills/a/SKILL.md', 'extensions/team/rules.md'])(
    'refuses the run at its commit although it changed other files than %s, and is seen by what starts over',
    async (path) => {
      const bench = await benchWith('t1');
      await bench.goodRun('t1');
      await bench.addOutput('t2');
      const both = bench.goodMemory(['t1', 't2']);
      const skill = '---\nname: a\ndescription: by hand\n---\nMine.\n';
      const seen: string[] = [];
      const result = await bench.run([
        writing('MEMORY.md', both),
        async () => {
          await editFile(bench, USER, { path, content: encodeUtf8(skill), version: 1, actor: 'user' });
          return finishing();
        },
        reading('phase2_workspace_diff.md'),
        (request) => {
          seen.push(lastResult(request));
          return writing('MEMORY.md', both);
        },
        finishing(),
      ]);
      expect(seen[0]).toContain(`- A ${path}`);
      expect(result).toMatchObject({ kind: 'published', turns: 5 });
      expect((await bench.files())[path]).toBe(skill);
      expect(await bench.manifest()).toMatchObject({ parent: 2, reason: 'consolidation' });
    },
  );

  it('costs no retry where it happens each time, and the person has the last word', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    await bench.addOutput('t2');
    const racing = (version: number) => async () => {
      const content = encodeUtf8(bench.goodMemory(['t1'], [`Edit ${version} [Task 1]`]));
      await editFile(bench, USER, { path: 'MEMORY.md', content, version, actor: 'user' });
      return finishing();
    };
    const result = await bench.run([racing(1), racing(2)]);
    expect(result).toMatchObject({ kind: 'failed', code: 'consolidation.moved' });
    expect(await bench.jobs.get(USER, { kind: 'consolidation' })).toMatchObject({
      status: 'error',
      retryRemaining: LIMITS.retryBudget,
      retryAt: NOW + LIMITS.retryDelayMs,
    });
    expect((await bench.files())['MEMORY.md']).toContain('Edit 2');
  });

  it('is taken in where it lands between the look and the end of a run that finds nothing to do', async () => {
    const bench = await benchWith('t1');
    await bench.goodRun('t1');
    const edited = bench.goodMemory(['t1'], ['By hand [Task 1]']);
    let edits = 0;
    const templates = {
      get: async (name: Parameters<typeof bench.templates.get>[0]) => {
        if (edits++ === 0)
          await editFile(bench, USER, { path: 'MEMORY.md', content: encodeUtf8(edited), version: 1, actor: 'user' });
        return bench.templates.get(name);
      },
    };
    const result = await bench.run([finishing()], { ports: { templates } });
    expect(result).toMatchObject({ kind: 'published', version: 3 });
    expect((await bench.files())['MEMORY.md']).toBe(edited);
  });
});
