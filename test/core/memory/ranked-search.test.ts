import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemoryFiles, treeFiles } from '../../../core/memory/memory-files.ts';
import { RankIndexes, splitWords } from '../../../core/memory/rank-index.ts';
import { type SearchRequest, searchFiles } from '../../../core/memory/search-files.ts';
import { treeOf } from '../../support/file-trees.ts';

const group = (name: string, project: string, cwd: string, bullets: string) => `# Task Group: ${name}
scope: ${name}
applies_to: cwd=${cwd}; project=${project}; reuse_rule=while it is so

## Task 1: ${name}

### rollout_summary_files

- ${name}.md (cwd=${cwd}, rollout_path=/r/${name}.jsonl, updated_at=2026-01-01T00:00:00Z, thread_id=${name})

### keywords

- ${name}

## Reusable knowledge

${bullets}
`;

const MEMORY = [
  group(
    'shop',
    'example.org/shop',
    '/work/shop',
    '- The shop is deployed with make deploy. [Task 1]\n- Tests of the shop need a database. [Task 1]',
  ),
  group('blog', 'example.org/blog', '/work/blog', '- The blog deploys itself from the main branch. [Task 1]'),
  group('habits', 'global', '*', '- Answers are short. [Task 1]\n- 部署之前先运行测试。 [Task 1]'),
].join('\n');

const TREE = {
  'MEMORY.md': MEMORY,
  'memory_summary.md': `v1

## User preferences

- Short answers, deploy on Mondays.

## What's in Memory

### example.org/shop

#### 2026-01-01

- shop: deploy, database
  - desc: how the shop is deployed

### example.org/blog

#### 2026-01-02

- blog: deploy
  - desc: how the blog is deployed

### Older Memory Topics

- attic: deploy
  - desc: nobody says whose deploy this is
`,
  'rollout_summaries/blog.md':
    'thread_id: blog\nupdated_at: 2026-01-01T00:00:00Z\nrollout_path: x\ncwd: /work/blog/sub\n\ndeploy went well\n',
  'rollout_summaries/shop.md':
    'thread_id: shop\nupdated_at: 2026-01-01T00:00:00Z\nrollout_path: x\ncwd: /work/shop\n\ndeploy failed\n',
  'raw_memories.md':
    '# Raw Memories\n\n## Thread `shop`\nupdated_at: 2026-01-01T00:00:00Z\ncwd: /work/shop\n\ndeploy by make\n## Thread `blog`\ncwd: /work/blog\ndeploy quoted in a memory\n\n## Thread `blog`\nupdated_at: 2026-01-01T00:00:00Z\ncwd: /work/blog\n\ndeploy by push\n',
  'skills/deploy/SKILL.md': '# Deploy\n\ndeploy anything\n',
};

const FILES = treeFiles(treeOf(TREE));
const search = (request: Omit<SearchRequest, 'queries'>, ...queries: string[]) =>
  searchFiles(FILES, { queries, ...request });
const shown = ({ matches }: Awaited<ReturnType<typeof search>>) =>
  matches.map(({ path, match_line_number: line }) => `${path}:${line}`);
const contents = ({ matches }: Awaited<ReturnType<typeof search>>) => matches.map(({ content }) => content).join('\n');

describe('ranked search', () => {
  it('gives the same matches as by path, the best section first', async () => {
    const byPath = await search({ caseSensitive: false }, 'deploy', 'database');
    const ranked = await search({ caseSensitive: false, rank: true }, 'deploy', 'database');
    expect(shown(ranked).toSorted()).toEqual(shown(byPath).toSorted());
    expect(shown(ranked)).not.toEqual(shown(byPath));
    const [best] = ranked.matches;
    expect(best?.content).toMatch(/shop: deploy, database/);
  });

  it('answers a question in plain words, which no line holds as it stands, with what shares words with it', async () => {
    expect(await search({}, 'how is the shop deployed')).toMatchObject({ matches: [] });
    const ranked = await search({ rank: true, maxResults: 3 }, 'does the shop need a database for tests');
    expect(ranked.matches[0]).toMatchObject({
      path: 'MEMORY.md',
      content: '- Tests of the shop need a database. [Task 1]',
      matched_queries: ['does the shop need a database for tests'],
    });
  });

  it('names only the queries that a section shares words with', async () => {
    const ranked = await search({ rank: true }, 'zebra crossing', 'anything deployable');
    expect(ranked.matches[0]?.matched_queries).toEqual(['anything deployable']);
  });

  it('keeps to the path, and to all-of-them modes', async () => {
    const below = await search({ rank: true, path: 'skills' }, 'is there anything to deploy');
    expect(new Set(below.matches.map(({ path }) => path))).toEqual(new Set(['skills/deploy/SKILL.md']));
    const all = await search({ rank: true, matchMode: { type: 'all_on_same_line' } }, 'zebra', 'deploy');
    expect(all.matches).toEqual([]);
  });

  it('pages without losing or repeating a match', async () => {
    const whole = shown(await search({ rank: true }, 'deploy'));
    const pages: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await search({ rank: true, maxResults: 2, cursor }, 'deploy');
      pages.push(...shown(page));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(pages).toEqual(whole);
  });

  it.each([
    ['先运行测试吗', '部署之前先运行测试。'],
    ['测试', '部署之前先运行测试。'],
    ['ＤＥＰＬＯＹ anything?', 'deploy anything'],
  ])('finds %s, whatever the script', async (query, text) => {
    const ranked = await search({ rank: true }, query);
    expect(contents({ ...ranked, matches: ranked.matches.slice(0, 1) })).toContain(text);
  });

  it('never changes which literal matches there are, only their order', async () => {
    const word = fc.constantFrom('deploy', 'shop', 'blog', 'a', 'answers', '部署', 'Thread', 'x');
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean(), async (queries, caseSensitive) => {
        const literal = shown(await search({ caseSensitive }, ...queries));
        const ranked = shown(await search({ caseSensitive, rank: true }, ...queries));
        if (literal.length > 0) expect(ranked.toSorted()).toEqual(literal.toSorted());
      }),
      { numRuns: 50 },
    );
  });
});

describe('a search within a project', () => {
  it.each([
    ['by directory', { cwd: '/work/shop/src' }],
    ['by remote', { repository: 'git@example.org:shop.git' }],
  ])('finds what is of the project or of everybody, %s', async (_, where) => {
    const found = await search({ ...where, caseSensitive: false }, 'deploy');
    expect(contents(found)).not.toMatch(/blog|push|went well|nobody/);
    expect(contents(found)).toMatch(/shop/);
    expect(contents(found)).toMatch(/Mondays/);
    expect(contents(found)).toMatch(/deploy anything/);
    expect(contents(found)).toMatch(/make deploy/);
    expect(contents(found)).toMatch(/deploy by make/);
    expect(contents(found)).toMatch(/deploy quoted in a memory/);
  });

  it('finds for an unknown project only what is everybody’s (A9)', async () => {
    for (const rank of [false, true]) {
      const found = await search({ cwd: '/elsewhere', rank, caseSensitive: false }, 'deploy');
      expect(contents(found)).not.toMatch(/shop|blog|make|push|nobody/);
      expect(contents(found)).toMatch(/Mondays/);
    }
    const plain = await search({ cwd: '/elsewhere', rank: true }, 'how does the blog get deployed from main');
    expect(contents(plain)).not.toMatch(/blog/);
  });
});

describe('RankIndexes', () => {
  const counting = (key?: string) => {
    let reads = 0;
    const files: MemoryFiles = {
      paths: FILES.paths,
      ...(key === undefined ? {} : { key }),
      read: (path) => {
        reads++;
        return FILES.read(path);
      },
    };
    return { files, reads: () => reads };
  };

  it('builds once for a key, and each time without one', async () => {
    const indexes = new RankIndexes();
    const keyed = counting('one');
    expect(await indexes.of(keyed.files)).toBe(await indexes.of(keyed.files));
    expect(keyed.reads()).toBe(FILES.paths.length);
    const free = counting();
    expect(await indexes.of(free.files)).not.toBe(await indexes.of(free.files));
    expect(indexes.count).toBe(1);
  });

  it('keeps the newest few', async () => {
    const indexes = new RankIndexes();
    for (let at = 0; at < 40; at++) await indexes.of(counting(`key ${at}`).files);
    expect(indexes.count).toBeLessThanOrEqual(16);
    const last = counting('key 39');
    await indexes.of(last.files);
    expect(last.reads()).toBe(0);
  });
});

describe('splitWords', () => {
  it.each([
    ['pnpm-lock.yaml', ['pnpm', 'lock', 'yaml']],
    ['Ärger é', ['ärger', 'é']],
    ['部署测试', ['部署', '署测', '测试']],
    ['用pnpm部署', ['用', 'pnpm', '部署']],
    ['ภาษา', ['ภา', 'าษ', 'ษา']],
    ['…', []],
  ])('%s', (text, words) => {
    expect(splitWords(text)).toEqual(words.map((word) => word.normalize('NFC')));
  });
});
