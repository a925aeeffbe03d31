import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type CommandResult, SAMPLES, stillroomHere } from '../support/command.ts';

const PROMPT = resolve(import.meta.dirname, '../../layers/templates/consolidation.md');

let folder = '';
let home = '';
beforeAll(async () => {
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_BASE_URL', '');
  folder = mkdtempSync(join(tmpdir(), 'stillroom-replay-'));
  home = join(folder, 'home');
  await stillroomHere(['run', join(SAMPLES, 'codex'), '--home', home, '--model', 'offline']);
  await stillroomHere(['note', 'we deploy on Tuesdays', '--home', home]);
  await stillroomHere(['run', SAMPLES, '--home', home, '--model', 'offline']);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const at = (words: readonly string[], place = home): Promise<CommandResult> =>
  stillroomHere([...words, '--home', place]);
const recordsOf = (place: string) => readdirSync(join(place, 'replays')).map((name) => join(place, 'replays', name));

/** A copy of the home, to be damaged. */
function copied(name: string): string {
  const copy = join(folder, name);
  cpSync(home, copy, { recursive: true });
  return copy;
}

/** Every file of the home but the database, by name and content. */
function filesOf(place: string): readonly string[] {
  const names = readdirSync(place, { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
  const paths = names
    .map((item) => join(item.parentPath, item.name))
    .filter((path) => !/stillroom\.db|instances/.test(path));
  return paths.sort().map((path) => `${path} ${readFileSync(path, 'base64')}`);
}

const report = z.object({
  end: z.literal('passed'),
  diff: z.string(),
  turns: z.number().positive(),
  token_usage: z.looseObject({ total_tokens: z.number().positive() }),
  original: z.looseObject({ model: z.string(), turns: z.number() }),
});

describe('replay', () => {
  it.each([1, 3])('makes version %i again, equal to the byte, without a model or a change', async (version) => {
    const before = filesOf(home);
    const told = await at(['replay', String(version)]);
    expect(told).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('equal, byte for byte') });
    const json = await at(['replay', String(version), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ version, equal: true, difference: null });
    expect(filesOf(home)).toEqual(before);
  });

  it('runs the inputs through a model and a prompt beside it, tells the cost, and publishes nothing', async () => {
    const before = filesOf(home);
    const prompt = join(folder, 'prompt.md');
    writeFileSync(prompt, readFileSync(PROMPT, 'utf8').replace('version:', 'version: trial-'));
    for (const options of [
      ['--model', 'offline'],
      ['--prompt', prompt],
    ]) {
      const json = await at(['replay', '3', ...options, '--json']);
      expect(json.exitCode, json.stderr).toBe(0);
      expect(report.parse(JSON.parse(json.stdout)).diff).toBe('');
      expect(json.stderr).toContain('nothing was published');
    }
    expect((await at(['replay', '3', '--model', 'offline'])).stdout).toBe('no difference\n');
    expect(filesOf(home)).toEqual(before);
  });

  it('refuses a version of a note, a version that is none, and what is no number', async () => {
    expect(await at(['replay', '2'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(note)') });
    expect(await at(['replay', '99'])).toMatchObject({ exitCode: 4 });
    expect(await at(['replay', 'x'])).toMatchObject({ exitCode: 2 });
  });

  it.each([
    [['--model', 'a b'], 'without spaces'],
    [['--model', 'gpt-x'], 'OPENAI_API_KEY'],
    [['--prompt', '/nowhere/prompt.md'], 'cannot read /nowhere/prompt.md'],
    [['--prompt', SAMPLES], 'cannot read'],
  ])('refuses %j and says what would be right', async (options, message) => {
    expect(await at(['replay', '1', ...options])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });

  it('refuses a prompt that lacks its placeholders, before any call', async () => {
    const prompt = join(folder, 'short.md');
    writeFileSync(prompt, 'Be brief.');
    const result = await at(['replay', '1', '--prompt', prompt, '--json']);
    expect(result.exitCode).toBe(2);
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'replay.prompt_invalid' } });
  });

  it('says that the record is gone, cut off or damaged, and never what it holds', async () => {
    const gone = copied('gone');
    for (const path of recordsOf(gone)) rmSync(path);
    expect(await at(['replay', '1'], gone)).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('no answers are kept'),
    });
    const cut = copied('cut');
    for (const path of recordsOf(cut)) writeFileSync(path, readFileSync(path).subarray(0, 200));
    const told = await at(['replay', '1', '--json'], cut);
    expect(told.exitCode).toBe(70);
    expect(JSON.parse(told.stdout)).toMatchObject({ error: { code: 'replay.unreadable' } });
    expect((await at(['show'], cut)).exitCode).toBe(0);
  });
});
