import { describe, expect, it } from 'vitest';
import { NotFoundError } from '../../../core/errors.ts';
import { explainMemory } from '../../../core/memory/explain-memory.ts';
import { treeFiles } from '../../../core/memory/memory-files.ts';
import { indexProvenance, packProvenance } from '../../../core/memory/provenance.ts';
import { withoutForgotten } from '../../../core/memory/without-forgotten.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';
import { ALPHA, BETA, GAMMA, sampleTree, stemOf } from './forgotten-sample.ts';

const blocks = (path: string) => indexProvenance(sampleTree()).blocks.filter((block) => block.path === path);

describe('provenance', () => {
  it('leads from every block of MEMORY.md to its threads', () => {
    expect(blocks('MEMORY.md').map(({ kind, title, threads }) => [kind, title, threads])).toEqual([
      ['group', 'shop tests', [ALPHA, BETA]],
      ['task', `Work on ${ALPHA}`, [ALPHA]],
      ['task', `Work on ${BETA}`, [BETA]],
      ['bullet', 'Alpha alone says: port 5433', [ALPHA]],
      ['bullet', 'Both say: start the database first', [ALPHA, BETA]],
      ['bullet', 'Beta alone says: use pnpm', [BETA]],
      ['bullet', 'The person notes: deploy on Tuesdays', [ALPHA]],
      ['group', 'alpha only', [ALPHA]],
      ['task', `Work on ${ALPHA}`, [ALPHA]],
      ['bullet', 'Only here: the secret garden', [ALPHA]],
      ['group', 'gamma only', [GAMMA]],
      ['task', `Work on ${GAMMA}`, [GAMMA]],
      ['bullet', 'Gamma says: run lint twice', [GAMMA]],
    ]);
  });

  it('leads from topics, skills, summaries and raw memories to theirs', () => {
    expect(blocks('memory_summary.md').map(({ title, threads }) => [title, threads])).toEqual([
      ['port of alpha', [ALPHA]],
      ['packages', [BETA]],
      ['all of it', [ALPHA, BETA]],
      ['garden', [ALPHA]],
      ['lint', [GAMMA]],
    ]);
    expect(blocks('skills/both-ways/SKILL.md')).toMatchObject([{ kind: 'skill', threads: [ALPHA, BETA] }]);
    expect(blocks('skills/no-source/SKILL.md')).toMatchObject([{ threads: [] }]);
    expect(blocks(`rollout_summaries/${stemOf(GAMMA)}.md`)).toMatchObject([{ threads: [GAMMA] }]);
    expect(blocks('raw_memories.md').map(({ line, threads }) => [line, threads])).toEqual([
      [5, [ALPHA]],
      [13, [BETA]],
      [21, [GAMMA]],
    ]);
  });

  it('leads back from a thread to its blocks, and to none once it is forgotten', () => {
    const { byThread, blocks: all } = indexProvenance(sampleTree());
    expect([...byThread.keys()]).toEqual([ALPHA, BETA, GAMMA]);
    for (const [threadId, own] of byThread)
      expect(own).toEqual(all.filter((block) => block.threads.includes(threadId)));
    const left = indexProvenance(withoutForgotten(sampleTree(), new Set([ALPHA])));
    expect([...left.byThread.keys()]).toEqual([BETA, GAMMA]);
  });

  it('is the same for the same files in another order', () => {
    const turned = new Map([...sampleTree()].reverse());
    expect(indexProvenance(turned).blocks).toEqual(indexProvenance(sampleTree()).blocks);
  });

  it('is packed into numbers, the same bytes for the same files', () => {
    const packed = packProvenance(sampleTree());
    expect(packed.threads).toEqual([ALPHA, BETA, GAMMA]);
    expect(Object.keys(packed.blocks)).toEqual([
      'MEMORY.md',
      'memory_summary.md',
      'skills/alpha-way/SKILL.md',
      'skills/both-ways/SKILL.md',
    ]);
    expect(packed.blocks['skills/both-ways/SKILL.md']).toEqual([[1, 0, 1]]);
    expect(packed.blocks['MEMORY.md']?.slice(0, 3)).toEqual([
      [1, 0, 1],
      [6, 0],
      [16, 1],
    ]);
    expect(JSON.stringify(packProvenance(new Map([...sampleTree()].reverse())))).toBe(JSON.stringify(packed));
  });

  it('is told with project, time and summary of each session', async () => {
    const threads = new MemoryThreadStore();
    await threads.update('u', ALPHA, () => sampleThread({ threadId: ALPHA, project: 'host/shop', updatedAt: NOW }));
    const told = await explainMemory(threads, 'u', treeFiles(sampleTree()), 'skills');
    expect(told.blocks.map((block) => block.path)).toEqual([
      'skills/alpha-way/SKILL.md',
      'skills/alpha-way/more.md',
      'skills/both-ways/SKILL.md',
      'skills/no-source/SKILL.md',
    ]);
    expect(told.blocks[2]?.sources).toEqual([
      {
        thread_id: ALPHA,
        rollout_summary: `rollout_summaries/${stemOf(ALPHA)}.md`,
        project: 'host/shop',
        updated_at: '2025-10-09T08:53:20+00:00',
      },
      { thread_id: BETA, rollout_summary: `rollout_summaries/${stemOf(BETA)}.md`, project: null, updated_at: null },
    ]);
    expect((await explainMemory(threads, 'u', treeFiles(sampleTree()), 'MEMORY.md')).blocks).toHaveLength(13);
    await expect(explainMemory(threads, 'u', treeFiles(sampleTree()), 'nothing')).rejects.toBeInstanceOf(NotFoundError);
  });
});
