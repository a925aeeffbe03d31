import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLES, stillroom } from '../support/command.ts';

let place = '';
let home = '';
let docs = '';
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'stillroom-extension-'));
  home = join(place, 'home');
  docs = join(place, 'docs');
  mkdirSync(docs);
  await stillroom(['run', join(SAMPLES, 'codex'), '--home', home, '--model', 'offline']);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const sync = async (...more: readonly string[]) => {
  const result = await stillroom(['extension', 'handbook', docs, '--home', home, '--json', ...more]);
  return { ...result, json: result.exitCode === 0 ? JSON.parse(result.stdout) : null };
};

describe('stillroom extension', () => {
  it('refuses a folder without instructions and changes nothing', async () => {
    const result = await sync();
    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).toContain('instructions.md');
  });

  it('takes documents in, says when all is in place, redacts secrets once, and takes away what left', async () => {
    writeFileSync(join(docs, 'instructions.md'), 'Rules of the house.');
    writeFileSync(
      join(docs, 'deploy.md'),
      `Deploy on Mondays.\nkey: ${['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_')}\n`,
    );
    writeFileSync(join(docs, 'tests.md'), 'Run the tests first.');
    expect((await sync()).json).toMatchObject({ written: ['deploy.md', 'tests.md'], removed: [], changed: true });
    expect((await sync()).json).toMatchObject({ written: [], unchanged: 2, changed: false });
    const shown = await stillroom(['show', 'extensions/handbook/resources/deploy.md', '--home', home]);
    expect(shown.stdout).toContain('[REDACTED_SECRET]');
    expect(shown.stdout).not.toContain('A1b2C3d4E5f6');

    rmSync(join(docs, 'tests.md'));
    expect((await sync()).json).toMatchObject({ removed: ['tests.md'], unchanged: 1, changed: true });
    const plan = await stillroom(['consolidate', '--dry-run', '--home', home, '--json']);
    expect(JSON.parse(plan.stdout)['changed_files']).toBeGreaterThan(0);
    const run = await stillroom(['consolidate', '--now', '--home', home, '--model', 'offline', '--json']);
    expect(JSON.parse(run.stdout)).toMatchObject({ kind: 'published' });
    expect((await stillroom(['show', 'extensions/handbook/resources', '--home', home])).stdout).toContain('deploy.md');
  });
});
