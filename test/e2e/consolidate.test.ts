import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLES, stillroom } from '../support/command.ts';

let home = '';
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'stillroom-consolidate-'));
  expect((await stillroom(['run', SAMPLES, '--home', home, '--model', 'offline'])).exitCode).toBe(0);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function consolidate(...options: readonly string[]): Promise<Record<string, unknown>> {
  const result = await stillroom(['consolidate', '--home', home, '--model', 'offline', '--json', ...options]);
  expect([result.exitCode, result.stderr]).toEqual([0, '']);
  return JSON.parse(result.stdout);
}

describe('stillroom consolidate', () => {
  it('does nothing where nothing is new, and says so before it is asked to', async () => {
    expect(await consolidate('--dry-run')).toMatchObject({ way: null, added: [], removed: [], version: 1 });
    const text = await stillroom(['consolidate', '--home', home, '--dry-run']);
    expect(text.stdout).toContain('nothing to do: version 1 stands');
  });

  it('shows a new note before it takes it in, waits for the cooldown by itself, and takes it in when told to', async () => {
    expect((await stillroom(['note', 'Deploy on Mondays only', '--home', home])).exitCode).toBe(0);
    const plan = await consolidate('--dry-run');
    expect(plan).toMatchObject({ way: 'once', notes: [expect.stringContaining('deploy-on-mondays')] });
    expect(await consolidate('--dry-run')).toEqual(plan);

    expect(await consolidate()).toMatchObject({ kind: 'refused', reason: 'cooldown', retry_at: expect.any(String) });
    expect(await consolidate('--now')).toMatchObject({ kind: 'published', way: 'once', turns: 1 });
    expect((await stillroom(['show', 'MEMORY.md', '--home', home])).stdout).toContain('Deploy on Mondays only');
  });

  it('joins two that ask at once into one run', async () => {
    expect((await stillroom(['note', 'Never push on Fridays', '--home', home])).exitCode).toBe(0);
    const results = await Promise.all([consolidate('--now'), consolidate('--now')]);
    const kinds = results.map((result) => result['kind']).sort();
    expect(kinds.filter((kind) => kind === 'published')).toHaveLength(1);
    expect(['unchanged', 'published']).toEqual(expect.arrayContaining(kinds));
  });

  it('needs a home that is there', async () => {
    const result = await stillroom(['consolidate', '--home', join(home, 'nowhere')]);
    expect(result.exitCode).not.toBe(0);
  });
});
