import { encodeUtf8 } from '../../../core/text.ts';
import { fileStem } from '../../../core/workspace/file-stem.ts';
import type { FileTree } from '../../../core/workspace/file-tree.ts';
import { syncInputs, type WorkspaceInput } from '../../../core/workspace/input-files.ts';
import { groupText } from '../consolidation/memory-text.ts';

/** Three threads: `alpha` alone in one group, `alpha` and `beta` in another, `gamma` in a third. */
export const ALPHA = '019c22a4-5c70-7a11-9b7e-00000000000a';
export const BETA = '019c22a4-5c70-7a11-9b7e-00000000000b';
export const GAMMA = '019c22a4-5c70-7a11-9b7e-00000000000c';

const SLUGS: Readonly<Record<string, string>> = { [ALPHA]: 'alpha', [BETA]: 'beta', [GAMMA]: 'gamma' };

export function stemOf(threadId: string): string {
  return fileStem(inputOf(threadId));
}

export function inputOf(threadId: string, rawMemory = `raw of ${threadId}`): WorkspaceInput {
  return {
    threadId,
    sourceUpdatedAt: Date.UTC(2026, 1, 3, 9, 41, 10),
    rawMemory,
    rolloutSummary: `summary of ${threadId}`,
    slug: SLUGS[threadId] ?? null,
    cwd: '/home/dev/shop',
    rolloutPath: `/r/${threadId}.jsonl`,
    gitBranch: null,
  };
}

const cite = (...threadIds: readonly string[]) => threadIds.map((threadId) => ({ threadId, stem: stemOf(threadId) }));

export const MEMORY = [
  groupText({
    name: 'shop tests',
    threads: cite(ALPHA, BETA),
    bullets: [
      'Alpha alone says: port 5433 [Task 1]',
      'Both say: start the database first [Task 1][Task 2]',
      'Beta alone says: use pnpm [Task 2]',
      'The person notes: deploy on Tuesdays [ad-hoc note][Task 1]',
    ],
  }),
  groupText({ name: 'alpha only', threads: cite(ALPHA), bullets: ['Only here: the secret garden [Task 1]'] }),
  groupText({ name: 'gamma only', threads: cite(GAMMA), bullets: ['Gamma says: run lint twice [Task 1]'] }),
].join('\n');

export const SUMMARY = [
  'v1',
  '',
  '## User Profile',
  '',
  'Works in one project.',
  '',
  '## User preferences',
  '',
  '- Only here: the secret garden',
  '- Gamma says: run lint twice',
  '',
  '## General Tips',
  '',
  "## What's in Memory",
  '',
  '### git.example.org/dev/shop',
  '',
  '#### 2026-02-03',
  '',
  '- port of alpha: npm test',
  '  - desc: shop tests; Task 1',
  '  - learnings: Alpha alone says: port 5433',
  '',
  '- packages: npm test',
  '  - desc: shop tests; Task 2',
  '  - learnings: Beta alone says: use pnpm',
  '',
  '- all of it: npm test, port 5433',
  '  - desc: shop tests; how to run them',
  '  - learnings: Alpha alone says: port 5433 | Both say: start the database first',
  '',
  '- garden: npm test',
  '  - desc: alpha only; what it is',
  '',
  '#### 2026-02-02',
  '',
  '- lint: npm test',
  '  - desc: gamma only; lint',
  '',
].join('\n');

export function skillText(name: string, ...lines: readonly string[]): string {
  return ['---', `name: ${name}`, 'description: steps', '---', '', ...lines, ''].join('\n');
}

export function sampleTree(threads: readonly string[] = [ALPHA, BETA, GAMMA]): FileTree {
  const outputs = {
    'MEMORY.md': MEMORY,
    'memory_summary.md': SUMMARY,
    'skills/alpha-way/SKILL.md': skillText(
      'alpha-way',
      `Seen in rollout_summaries/${stemOf(ALPHA)}.md. More in more.md.`,
    ),
    'skills/alpha-way/more.md': 'more of it\n',
    'skills/both-ways/SKILL.md': skillText(
      'both-ways',
      `- rollout_summaries/${stemOf(ALPHA)}.md`,
      `- rollout_summaries/${stemOf(BETA)}.md`,
      `Step one, as thread_id=${ALPHA} did.`,
    ),
    'skills/no-source/SKILL.md': skillText('no-source', 'Nobody knows where this comes from.'),
    'extensions/ad_hoc/notes/one.md': 'deploy on Tuesdays\n',
    [`extensions/chat/resources/2026-02-03T09-15-02.md`]: `thread_id: ${ALPHA}\n\nof alpha\n`,
  };
  return syncInputs(
    new Map(Object.entries(outputs).map(([path, text]) => [path, encodeUtf8(text)])),
    threads.map((threadId) => inputOf(threadId)),
  );
}
