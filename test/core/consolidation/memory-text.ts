/** Builds a MEMORY.md that obeys the grammar, for tests to break. */
export interface GroupDraft {
  readonly name?: string;
  readonly project?: string;
  readonly threads: readonly { readonly threadId: string; readonly stem: string }[];
  readonly bullets?: readonly string[];
}

export function sourceLine(stem: string, threadId: string): string {
  return `- rollout_summaries/${stem}.md (cwd=/home/dev/shop, rollout_path=rollout.jsonl, updated_at=2025-10-09T07:53:20+00:00, thread_id=${threadId})`;
}

export function groupText(group: GroupDraft): string {
  const tasks = group.threads.map(({ threadId, stem }, at) =>
    [
      `## Task ${at + 1}: Work on ${threadId}`,
      '',
      '### rollout_summary_files',
      '',
      sourceLine(stem, threadId),
      '',
      '### keywords',
      '',
      '- npm test, port 5433',
      '',
    ].join('\n'),
  );
  const bullets = group.bullets ?? group.threads.map((_, at) => `Start the database first [Task ${at + 1}]`);
  return [
    `# Task Group: ${group.name ?? 'shop tests'}`,
    '',
    'scope: running the tests of shop',
    `applies_to: cwd=/home/dev/shop; project=${group.project ?? 'git.example.org/dev/shop'}; reuse_rule=only there`,
    '',
    ...tasks,
    '## Reusable knowledge',
    '',
    ...bullets.map((bullet) => `- ${bullet}`),
    '',
  ].join('\n');
}

export const SUMMARY_TEXT = [
  'v1',
  '',
  '## User Profile',
  '',
  'Works in one project.',
  '',
  '## User preferences',
  '',
  '## General Tips',
  '',
  "## What's in Memory",
  '',
  '### git.example.org/dev/shop',
  '',
  '#### 2026-02-03',
  '',
  '- tests: npm test, port 5433',
  '  - desc: shop tests; how to run them',
  '  - learnings: start the database first',
  '',
  '### Older Memory Topics',
  '',
].join('\n');
