import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { STALE_MARK } from '../../core/memory/stale-mark.ts';
import { SAMPLES, stillroom } from '../support/command.ts';

const threadRows = z.object({ threads: z.array(z.looseObject({ thread_id: z.string(), outcome: z.string() })) });
const forgottenShape = z.strictObject({
  thread_id: z.string(),
  forgotten_at: z.string(),
  consolidation_due: z.boolean(),
  version: z.number().nullable(),
});
const reportShape = z.looseObject({ consolidation: z.looseObject({ kind: z.string() }) });

let folder = '';
let home = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-forget-'));
  home = join(folder, 'home');
  expect((await here('run', SAMPLES, '--model', 'offline', '--include-active')).exitCode).toBe(0);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function here(...words: readonly string[]) {
  return stillroom([...words, '--home', home]);
}

function textBelow(path: string): string {
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
  return files
    .flatMap((file) => (statSync(file).isFile() ? [`${file}\n${readFileSync(file, 'utf8')}`] : []))
    .join('\n');
}

const memories = () => textBelow(join(home, 'memories'));

it('A23, B22-B29: what a session taught is gone at once, and three runs with the same rollout do not bring it back', async () => {
  const ids = z.array(z.string()).parse(memories().match(/(?<=thread_id=)[^)\s]+(?=\))/g));
  const [threadId = ''] = ids;
  const answer = await here('forget', threadId, '--json');
  expect(answer.exitCode).toBe(0);
  expect(forgottenShape.parse(JSON.parse(answer.stdout))).toMatchObject({
    thread_id: threadId,
    consolidation_due: true,
    version: 2,
  });
  expect(memories()).not.toContain(threadId);
  expect((await here('search', threadId)).stdout).not.toContain(threadId);

  for (let round = 0; round < 3; round++) {
    if (round > 0) expect((await here('note', `round ${round}`)).exitCode).toBe(0);
    const run = await here('run', SAMPLES, '--model', 'offline', '--include-active', '--json');
    expect(reportShape.parse(JSON.parse(run.stdout)).consolidation.kind).toMatch(/^(published|unchanged)$/);
    expect(memories()).not.toContain(threadId);
    expect(memories()).not.toContain(STALE_MARK);
  }
  const threads = threadRows.safeParse(JSON.parse((await here('threads', '--json')).stdout));
  expect(JSON.stringify(threads.data ?? [])).not.toContain(threadId);
}, 120_000);

it('keeps what was changed by hand, and leaves nothing in the history where that is asked for', async () => {
  const threadId = z.string().parse(memories().match(/(?<=thread_id=)[^)\s]+(?=\))/)?.[0]);
  const summary = z.string().parse(memories().match(new RegExp(`thread_id: ${threadId}\\n[^]*?\\n\\n(.+)`))?.[1]);
  const file = join(home, 'memories', 'extensions', 'ad_hoc', 'notes', 'mine.md');
  cpSync(join(home, 'memories', 'extensions'), join(folder, 'extensions'), { recursive: true });
  writeFileSync(file, 'written by hand\n');
  expect((await here('forget', threadId, '--purge-history')).stdout).toMatch(/is forgotten: version \d+ is without it/);
  expect(readFileSync(file, 'utf8')).toBe('written by hand\n');
  expect(textBelow(join(home, 'versions', 'objects'))).not.toContain(`thread_id: ${threadId}`);
  expect(textBelow(join(home, 'versions', 'objects'))).not.toContain(`## Thread \`${threadId}\``);
  expect(summary.length).toBeGreaterThan(0);
  const old = await here('show', 'MEMORY.md', '--version', '1', '--json');
  expect(old.exitCode).toBe(4);
}, 60_000);

it('show --why names the sessions of each part, for a program and for a person', async () => {
  const told = JSON.parse((await here('show', '--why', '--json')).stdout);
  const source = z.looseObject({ thread_id: z.string(), project: z.string(), updated_at: z.string() });
  const shape = z.object({
    path: z.literal('MEMORY.md'),
    blocks: z.array(z.looseObject({ sources: z.array(source) })),
  });
  const blocks = shape.parse(told).blocks;
  const first = blocks[0]?.sources[0]?.thread_id ?? 'none';
  expect((await here('show', 'MEMORY.md', '--why')).stdout).toContain(first);
  expect((await here('show', 'nothing.md', '--why')).exitCode).toBe(4);
});

it('refuses a thread that is not there', async () => {
  const answer = await here('forget', 'nobody', '--json');
  expect(answer.exitCode).toBe(4);
  expect(JSON.parse(answer.stdout)).toMatchObject({ error: { code: 'thread.not_found' } });
});
