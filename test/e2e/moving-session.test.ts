import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseMemoryText } from '../../local/offline/memory-lines.ts';
import { stillroomHere } from '../support/command.ts';
import { codexRollout } from '../support/rollout-builder.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-moving-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: readonly string[]) => stillroomHere([...words, '--home', join(folder, 'home')]);

it('A13: what was said in each repository of one session is kept under that repository, and only there', async () => {
  const rollout = codexRollout({ cwd: '/work/shop', git: { repository_url: 'git@example.com:dev/shop.git' } })
    .user('Add a discount to the basket of the shop. Always use pnpm here, never npm.')
    .call('exec_command', { cmd: 'pnpm test' }, 'Process exited with code 0\nOutput:\n9 passed')
    .assistant('The basket has a discount now.')
    .record('turn_context', { cwd: '/work/tide gauge', model: 'm' })
    .user('Now raise the sampling rate of the gauge here. Always use yarn in this repository, never npm.')
    .call('exec_command', { cmd: 'yarn test' }, 'Process exited with code 0\nOutput:\n4 passed')
    .assistant('The rate is raised.');
  writeFileSync(join(folder, 'session.jsonl'), rollout.toText());
  const ran = await run('run', join(folder, 'session.jsonl'), '--model', 'offline');
  expect(ran).toMatchObject({ exitCode: 0 });
  const { groups } = parseMemoryText((await run('show', 'MEMORY.md')).stdout);
  const words = new Map(
    groups.map(({ project, sections, tasks }) => [
      project,
      JSON.stringify([sections, tasks.map((task) => task.title)]),
    ]),
  );
  expect([...words.keys()].sort()).toEqual(['/work/tide gauge', 'example.com/dev/shop']);
  expect(words.get('example.com/dev/shop')).toContain('pnpm');
  expect(words.get('example.com/dev/shop')).not.toMatch(/yarn|sampling rate/);
  expect(words.get('/work/tide gauge')).toMatch(/yarn/);
  expect(words.get('/work/tide gauge')).not.toMatch(/pnpm|discount/);
});
