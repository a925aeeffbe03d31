import { describe, expect, it } from 'vitest';
import { validateArtifacts } from '../../../core/consolidation/validate-artifacts.ts';
import { findForgotten, namedThreads } from '../../../core/memory/find-forgotten.ts';
import { STALE_MARK } from '../../../core/memory/stale-mark.ts';
import { withoutForgotten } from '../../../core/memory/without-forgotten.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import type { FileTree } from '../../../core/workspace/file-tree.ts';
import { syncInputs } from '../../../core/workspace/input-files.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { sampleThread } from '../../support/sample-state.ts';
import { groupText } from '../consolidation/memory-text.ts';
import { ALPHA, BETA, GAMMA, inputOf, MEMORY, sampleTree, stemOf } from './forgotten-sample.ts';

const PROJECT = 'git.example.org/dev/shop';

function textOf(tree: FileTree, path: string): string {
  const content = tree.get(path);
  if (content === undefined) throw new Error(`no ${path}`);
  return decodeUtf8(content);
}

function forget(...threadIds: readonly string[]): FileTree {
  return withoutForgotten(sampleTree(), new Set(threadIds));
}

function isOneSkill(left: string, right: string): boolean {
  const folder = (path: string) => path.split('/').slice(0, 2).join('/');
  return left.startsWith('skills/') && folder(left) === folder(right);
}

function readable(tree: FileTree): Record<string, string> {
  return Object.fromEntries([...tree].map(([path, content]) => [path, decodeUtf8(content)]));
}

describe('withoutForgotten', () => {
  it('takes the own blocks of a thread out of MEMORY.md, renumbers tasks and marks mixed bullets', () => {
    expect(textOf(forget(ALPHA), 'MEMORY.md')).toBe(
      [
        groupText({
          name: 'shop tests',
          threads: [{ threadId: BETA, stem: stemOf(BETA) }],
          bullets: [
            `Both say: start the database first ${STALE_MARK} [Task 1]`,
            'Beta alone says: use pnpm [Task 1]',
            'The person notes: deploy on Tuesdays [ad-hoc note]',
          ],
        }),
        groupText({
          name: 'gamma only',
          threads: [{ threadId: GAMMA, stem: stemOf(GAMMA) }],
          bullets: ['Gamma says: run lint twice [Task 1]'],
        }),
      ].join('\n'),
    );
  });

  it('leaves raw_memories.md and rollout summaries as if the thread had never been selected', () => {
    const rest = sampleTree([BETA, GAMMA]);
    const left = forget(ALPHA);
    expect(textOf(left, 'raw_memories.md')).toBe(textOf(rest, 'raw_memories.md'));
    const summaries = (tree: FileTree) => [...tree.keys()].filter((path) => path.startsWith('rollout_summaries/'));
    expect(summaries(left)).toEqual(summaries(rest));
    expect(summaries(left)).toHaveLength(2);
  });

  it('takes topics, learnings and global lines out of the summary that repeat what went', () => {
    const summary = textOf(forget(ALPHA), 'memory_summary.md');
    expect(summary).not.toMatch(/garden|alpha/i);
    expect(summary).toContain('- Gamma says: run lint twice');
    expect(summary).toContain('  - desc: shop tests; Task 1\n  - learnings: Beta alone says: use pnpm\n');
    expect(summary).toContain(`  - learnings: Both say: start the database first ${STALE_MARK}\n`);
    expect(summary).toContain('#### 2026-02-02\n');
  });

  it('takes a day and a project without topics out of the summary', () => {
    const summary = textOf(forget(GAMMA), 'memory_summary.md');
    expect(summary).not.toMatch(/2026-02-02|Gamma/);
    expect(textOf(forget(ALPHA, BETA, GAMMA), 'memory_summary.md')).not.toContain('###');
  });

  it('takes a skill that names the thread alone, marks one that names others too, leaves one that names none', () => {
    const left = forget(ALPHA);
    expect([...left.keys()].filter((path) => path.startsWith('skills/'))).toEqual([
      'skills/both-ways/SKILL.md',
      'skills/no-source/SKILL.md',
    ]);
    const mixed = textOf(left, 'skills/both-ways/SKILL.md');
    expect(mixed).not.toContain(ALPHA);
    expect(mixed).not.toContain(stemOf(ALPHA));
    expect(mixed).toContain(`- rollout_summaries/${stemOf(BETA)}.md\n`);
    expect(mixed).toContain(`Step one, as [forgotten session] did. ${STALE_MARK}\n`);
  });

  it('takes resources of extensions that say they come from the thread, and keeps notes', () => {
    const left = forget(ALPHA);
    expect(left.has('extensions/chat/resources/2026-02-03T09-15-02.md')).toBe(false);
    expect(left.has('extensions/ad_hoc/notes/one.md')).toBe(true);
  });

  it('leaves no word of the thread anywhere but in mixed bullets', () => {
    const left = forget(ALPHA, BETA);
    const all = [...left].map(([path, content]) => `${path}\n${decodeUtf8(content)}`).join('\n');
    expect(all).not.toMatch(/alpha|beta|garden|5433(?!\n)/i);
    expect(all).not.toContain(ALPHA);
  });

  it('keeps a memory that passes the gates', () => {
    const inputs = (...ids: readonly string[]) => ids.map((threadId) => ({ threadId, project: PROJECT }));
    expect(validateArtifacts(sampleTree(), inputs(ALPHA, BETA, GAMMA))).toEqual([]);
    expect(validateArtifacts(forget(ALPHA), inputs(BETA, GAMMA))).toEqual([]);
    expect(validateArtifacts(forget(ALPHA, GAMMA), inputs(BETA))).toEqual([]);
    expect(validateArtifacts(forget(ALPHA, BETA, GAMMA), [])).toEqual([]);
  });

  it('changes nothing when done again, in whatever order, or for a thread that nothing rests on', () => {
    const once = forget(ALPHA);
    expect(withoutForgotten(once, new Set([ALPHA]))).toBe(once);
    expect(readable(withoutForgotten(once, new Set([ALPHA, BETA])))).toEqual(readable(forget(BETA, ALPHA)));
    const tree = sampleTree();
    expect(withoutForgotten(tree, new Set(['019c22a4-5c70-7a11-9b7e-0000000000ff']))).toBe(tree);
    expect(withoutForgotten(tree, new Set())).toBe(tree);
  });

  it('gives the same for a part of a version that holds MEMORY.md', () => {
    const tree = sampleTree();
    const whole = forget(ALPHA);
    for (const path of tree.keys()) {
      const part = new Map(
        [...tree].filter(([other]) => other === 'MEMORY.md' || other === path || isOneSkill(other, path)),
      );
      expect(withoutForgotten(part, new Set([ALPHA])).get(path)).toEqual(whole.get(path));
    }
  });

  it('keeps every byte of what a person wrote in their own way', () => {
    const odd = `A line of mine\r\n\n${MEMORY.replace('scope: running', 'scope:  running')}\n\n\n## Mine\n\nfree text\n`;
    const tree = new Map([['MEMORY.md', encodeUtf8(odd)]]);
    const left = textOf(withoutForgotten(tree, new Set([GAMMA])), 'MEMORY.md');
    expect(left).toBe(odd.slice(0, odd.indexOf('# Task Group: gamma only')).replace(/\n\n$/, '\n'));
  });

  it('takes a part of raw_memories.md whole, also where the memory quotes the head of another part', () => {
    const quoted = inputOf(BETA, 'x').rawMemory;
    const fake = `${quoted}\n## Thread \`${GAMMA}\`\nupdated_at: 1\ncwd: 2\nrollout_path: 3\nrollout_summary_file: 4\nstill beta`;
    const tree = syncInputs(new Map(), [inputOf(ALPHA), inputOf(BETA, fake), inputOf(GAMMA)]);
    const left = textOf(withoutForgotten(tree, new Set([BETA])), 'raw_memories.md');
    expect(left).toBe(textOf(syncInputs(new Map(), [inputOf(ALPHA), inputOf(GAMMA)]), 'raw_memories.md'));
  });

  it('marks a global line that speaks of what went in other words, and no other', () => {
    const tree = new Map(sampleTree());
    const summary = textOf(tree, 'memory_summary.md');
    tree.set(
      'memory_summary.md',
      encodeUtf8(
        summary.replace('## General Tips\n', '## General Tips\n\n- The garden is secret\n- Never force push\n'),
      ),
    );
    const left = textOf(withoutForgotten(tree, new Set([ALPHA])), 'memory_summary.md');
    expect(left).toContain(`- The garden is secret ${STALE_MARK}\n- Never force push\n`);
    expect(left).toContain('Works in one project.\n');
  });
});

describe('findForgotten', () => {
  it('names the threads of a version from every kind of file, and tells the forgotten ones', async () => {
    const tree = sampleTree();
    expect(namedThreads(tree)).toEqual([ALPHA, BETA, GAMMA]);
    for (const path of tree.keys()) {
      const part = new Map([...tree].filter(([other]) => other === path));
      // A skill names rollout summaries, whose threads only these and MEMORY.md tell.
      const rests = !/no-source|alpha-way|notes|memory_summary/.test(path);
      expect([path, namedThreads(part).length > 0]).toEqual([path, rests]);
    }
    const threads = new MemoryThreadStore();
    await threads.update('u', ALPHA, () => sampleThread({ threadId: ALPHA, forgottenAt: 1 }));
    await threads.update('u', BETA, () => sampleThread({ threadId: BETA }));
    await threads.update('u', 'other', () => sampleThread({ threadId: 'other', forgottenAt: 1 }));
    expect(await findForgotten(threads, 'u', tree)).toEqual(new Set([ALPHA]));
    expect(await findForgotten(threads, 'u', tree, ['other'])).toEqual(new Set([ALPHA, 'other']));
    expect(await findForgotten(threads, 'v', tree)).toEqual(new Set());
  });
});
