import { describe, expect, it } from 'vitest';
import { decodeUtf8 } from '../../../core/text.ts';
import type { FileTree } from '../../../core/workspace/file-tree.ts';
import { syncInputs, type WorkspaceInput } from '../../../core/workspace/input-files.ts';
import { treeOf } from '../../support/file-trees.ts';

const TF = '0194f5a6-89ab-7cde-8123-456789abcdef';
const id = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;

function input(more: Partial<WorkspaceInput> = {}): WorkspaceInput {
  return {
    threadId: TF,
    sourceUpdatedAt: 123_999,
    rawMemory: '\u0085\n raw\n  memory \u3000\n',
    rolloutSummary: 'sum\n\n',
    slug: 'rollout-b',
    cwd: '/work/app',
    rolloutPath: '/sessions/r.jsonl',
    gitBranch: 'feature/x',
    ...more,
  };
}
const text = (tree: FileTree, path: string) => decodeUtf8(tree.get(path) ?? new Uint8Array());
const SUMMARY = 'rollout_summaries/2025-02-11T15-35-19-jqmb-rollout_b.md';

describe('syncInputs', () => {
  it('TC-032 writes the fixed text for an empty selection', () => {
    const tree = syncInputs(new Map(), []);
    expect([...tree.keys()]).toEqual(['raw_memories.md']);
    expect(text(tree, 'raw_memories.md')).toBe('# Raw Memories\n\nNo raw memories yet.\n');
  });

  it('H-01 writes one block a thread, with the memory trimmed', () => {
    expect(text(syncInputs(new Map(), [input(), input({ threadId: 'x.1', slug: null })]), 'raw_memories.md')).toBe(
      `# Raw Memories

Merged stage-1 raw memories (stable ascending thread-id order):

## Thread \`${TF}\`
updated_at: 1970-01-01T00:02:03+00:00
cwd: /work/app
rollout_path: /sessions/r.jsonl
rollout_summary_file: 2025-02-11T15-35-19-jqmb-rollout_b.md

raw
  memory

## Thread \`x.1\`
updated_at: 1970-01-01T00:02:03+00:00
cwd: /work/app
rollout_path: /sessions/r.jsonl
rollout_summary_file: 1970-01-01T00-02-03-0unN.md

raw
  memory

`,
    );
  });

  it('TC-034 writes the summary verbatim, with one LF after it', () => {
    expect(text(syncInputs(new Map(), [input()]), SUMMARY)).toBe(
      `thread_id: ${TF}\nupdated_at: 1970-01-01T00:02:03+00:00\nrollout_path: /sessions/r.jsonl\ncwd: /work/app\ngit_branch: feature/x\n\nsum\n\n\n`,
    );
  });

  it('TC-035 leaves the branch line out where there is no branch', () => {
    expect(text(syncInputs(new Map(), [input({ gitBranch: null })]), SUMMARY)).toContain('cwd: /work/app\n\nsum');
  });

  it.each([
    [0, '1970-01-01T00:00:00+00:00'],
    [1_700_000_000_000, '2023-11-14T22:13:20+00:00'],
  ])('TC-036 writes source time %i as %s', (sourceUpdatedAt, shown) => {
    const tree = syncInputs(new Map(), [input({ sourceUpdatedAt })]);
    expect(text(tree, SUMMARY)).toContain(`\nupdated_at: ${shown}\n`);
    expect(text(tree, 'raw_memories.md')).toContain(`\nupdated_at: ${shown}\n`);
  });

  it('TC-037 removes every other summary, hand-made ones too, and leaves the rest alone', () => {
    const before = treeOf({
      [`rollout_summaries/${id(1)}.md`]: 'old',
      [`rollout_summaries/${id(2)}.md`]: 'old',
      'rollout_summaries/keep.txt': 'kept',
      'rollout_summaries/sub/keep.md': 'kept',
      'MEMORY.md': 'kept',
    });
    const tree = syncInputs(before, [input()]);
    expect([...tree.keys()].sort()).toEqual([
      'MEMORY.md',
      'raw_memories.md',
      SUMMARY,
      'rollout_summaries/keep.txt',
      'rollout_summaries/sub/keep.md',
    ]);
    expect(text(tree, 'raw_memories.md')).toContain(`rollout_summary_file: ${SUMMARY.split('/')[1]}\n`);
    expect(before.size).toBe(5);
  });

  it('TC-039 keeps the first of the given order', () => {
    const three = [1, 2, 3].map((last) => input({ threadId: id(last), sourceUpdatedAt: last * 1000, slug: null }));
    const tree = syncInputs(new Map(), three, 2);
    expect([...tree.keys()]).toEqual([
      'rollout_summaries/1970-01-01T00-00-01-0001.md',
      'rollout_summaries/1970-01-01T00-00-02-0002.md',
      'raw_memories.md',
    ]);
    expect(text(tree, 'raw_memories.md')).not.toContain(id(3));
  });

  it('TC-040 writes the fixed text when none may be kept', () => {
    expect(text(syncInputs(new Map(), [input()], 0), 'raw_memories.md')).toContain('No raw memories yet.');
  });

  it('TC-031 keeps one file a thread when stems collide, and names each in raw_memories.md', () => {
    const twin = '00000000-0000-4000-8000-000000e17811';
    const both = [id(1), twin].map((threadId) =>
      input({ threadId, slug: null, sourceUpdatedAt: 100_000, rolloutSummary: threadId }),
    );
    const tree = syncInputs(new Map(), both);
    expect(text(tree, 'rollout_summaries/1970-01-01T00-01-40-0001.md')).toContain(`\n\n${id(1)}\n`);
    expect(text(tree, 'rollout_summaries/1970-01-01T00-01-40-0001-2.md')).toContain(`\n\n${twin}\n`);
    expect(text(tree, 'raw_memories.md')).toContain('rollout_summary_file: 1970-01-01T00-01-40-0001-2.md\n');
  });

  it('writes an unknown directory as unknown', () => {
    const tree = syncInputs(new Map(), [input({ cwd: null })]);
    expect(text(tree, SUMMARY)).toContain('\ncwd: unknown\n');
    expect(text(tree, 'raw_memories.md')).toContain('\ncwd: unknown\n');
  });

  it('lets no line end in a path add a line to the head', () => {
    const tree = syncInputs(new Map(), [input({ rolloutPath: 'a\nthread_id: evil', gitBranch: 'b\r\nc' })]);
    expect(text(tree, SUMMARY).split('\n')).toHaveLength(10);
    expect(text(tree, SUMMARY)).not.toContain('\nthread_id: evil');
  });
});
