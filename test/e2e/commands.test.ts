import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { readWhole } from '../../cli/io.ts';
import { type CommandResult, SAMPLES, stillroomHere } from '../support/command.ts';
import { codexRollout } from '../support/rollout-builder.ts';

let folder = '';
let home = '';
beforeAll(async () => {
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_BASE_URL', '');
  folder = mkdtempSync(join(tmpdir(), 'stillroom-commands-'));
  home = join(folder, 'home');
  await stillroomHere(['run', SAMPLES, '--home', home, '--model', 'offline', '--json']);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function at(words: readonly string[], input?: string): Promise<CommandResult> {
  return stillroomHere([...words, '--home', home], input);
}

async function jsonOf<T>(shape: z.ZodType<T>, words: readonly string[], input?: string): Promise<T> {
  const result = await at([...words, '--json'], input);
  expect(result.exitCode).toBe(0);
  return shape.parse(JSON.parse(result.stdout));
}

const threadRows = z.array(z.looseObject({ thread_id: z.string(), outcome: z.string(), usage_count: z.number() }));

describe('commands that look', () => {
  it('status tells threads, version and tokens', async () => {
    const status = await jsonOf(
      z.looseObject({
        health: z.string(),
        memory: z.looseObject({ version: z.number() }),
        threads: z.looseObject({ total: z.number() }),
      }),
      ['status'],
    );
    expect(status.health).toBe('ok');
    expect(status.memory.version).toBeGreaterThan(0);
    expect(status.threads.total).toBeGreaterThanOrEqual(10);
    expect((await at(['status'])).stdout).toContain('tokens today');
  });

  it('threads can be narrowed to one outcome', async () => {
    const rows = await jsonOf(threadRows, ['threads', '--outcome', 'skipped']);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every((row) => row.outcome.startsWith('skipped('))).toBe(true);
  });

  it('show lists a folder and prints a file', async () => {
    expect((await at(['show', '.'])).stdout.split('\n')).toContain('rollout_summaries/');
    expect((await at(['show'])).stdout.split('\n')[0]).toBe('v1');
    expect((await at(['show', 'nope.md'])).exitCode).toBe(4);
    expect((await at(['show', '../etc/passwd'])).exitCode).toBe(2);
  });

  it('search prints path, line and text', async () => {
    expect((await at(['search', 'pnpm'])).stdout).toMatch(/^MEMORY\.md:\d+: .*pnpm/m);
    const nothing = await at(['search', 'no such word anywhere']);
    expect([nothing.exitCode, nothing.stdout.trim(), nothing.stderr.trim()]).toEqual([0, '', 'nothing found']);
  });

  it('diff without numbers shows what the current version changed', async () => {
    expect((await at(['diff', '0', '1'])).stdout).toContain('+++ b/MEMORY.md');
    expect((await at(['diff', '1', '1'])).stdout.trim()).toBe('no difference');
    expect((await at(['diff', '7', '9999'])).exitCode).toBe(4);
    expect((await at(['diff', 'x'])).exitCode).toBe(2);
  });
});

describe('the way back', () => {
  const restored = z.strictObject({
    version: z.number(),
    restored: z.number(),
    changed: z.boolean(),
    edits_version: z.nullable(z.number()),
  });
  const versionRows = z.array(z.looseObject({ version: z.number(), reason: z.string() }));

  it('restore makes a new version, brings the working copy along, and keeps what was changed by hand', async () => {
    const own = join(folder, 'restored');
    cpSync(home, own, { recursive: true });
    const here = (...words: readonly string[]) => stillroomHere([...words, '--home', own]);
    const file = join(own, 'memories', 'MEMORY.md');
    const before = readFileSync(file, 'utf8');
    const version = versionRows.parse(JSON.parse((await here('versions', '--json')).stdout))[0]?.version ?? 0;
    writeFileSync(file, `${before}\n- by hand\n`);

    const answer = await here('restore', String(version), '--json');
    expect(answer.exitCode).toBe(0);
    expect(restored.parse(JSON.parse(answer.stdout))).toEqual({
      version: version + 2,
      restored: version,
      changed: true,
      edits_version: version + 1,
    });
    expect(answer.stderr).toContain(`kept as version ${version + 1}`);
    expect(readFileSync(file, 'utf8')).toBe(before);
    const rows = versionRows.parse(JSON.parse((await here('versions', '--json')).stdout));
    expect(rows.slice(0, 2).map((row) => row.reason)).toEqual(['restore', 'edit']);
    expect((await here('diff')).stdout).toContain('-- by hand');
    expect((await here('diff', String(version), String(version + 1))).stdout).toContain('+- by hand');
    expect((await here('diff', String(version))).stdout.trim()).toBe('no difference');

    const again = await here('restore', String(version + 2));
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining('is the present one')]);
    expect((await here('restore', String(version + 1))).stdout).toContain('is read again');
    expect(readFileSync(file, 'utf8')).toContain('- by hand');
  });

  it.each([
    [['restore', '9999'], 4, 'memory.version_not_found'],
    [['restore', '0'], 2, null],
    [['restore', 'x'], 2, null],
    [['restore'], 2, null],
    [['diff', '1', '9999'], 4, 'memory.version_not_found'],
    [['show', '--version', '9999'], 4, 'memory.version_not_found'],
  ] as const)('%j ends with %i and changes nothing', async (words, exitCode, code) => {
    const before = (await at(['versions', '--json'])).stdout;
    const result = await at([...words, '--json']);
    expect(result.exitCode).toBe(exitCode);
    if (code !== null) expect(JSON.parse(result.stdout)).toMatchObject({ error: { code } });
    expect((await at(['versions', '--json'])).stdout).toBe(before);
  });
});

describe('commands that add', () => {
  it('cite counts the cited sessions and strips the citation from the answer', async () => {
    const [thread] = await jsonOf(threadRows, ['threads', '--outcome', 'extracted']);
    const id = thread?.thread_id ?? '';
    const block = `<oai-mem-citation>\n<citation_entries>\nMEMORY.md:1-2|note=[x]\n</citation_entries>\n<rollout_ids>\n${id}\n00000000-0000-4000-8000-000000000000\n</rollout_ids>\n</oai-mem-citation>`;
    const cited = await at(['cite'], `The answer.\n${block}\n`);
    expect([cited.exitCode, cited.stdout.trim()]).toEqual([0, 'The answer.']);
    expect(cited.stderr).toContain('recorded 1, unknown: 00000000-0000-4000-8000-000000000000');
    const rows = await jsonOf(threadRows, ['threads']);
    expect(rows.find((row) => row.thread_id === id)?.usage_count).toBe(1);
  });

  it('note is readable at once, in the memory and in the working copy', async () => {
    const note = await jsonOf(z.looseObject({ path: z.string() }), ['note', 'we deploy', 'on Tuesdays']);
    expect((await at(['show', note.path])).stdout.trim()).toBe('we deploy on Tuesdays');
    expect(readFileSync(join(home, 'memories', note.path), 'utf8')).toBe('we deploy on Tuesdays');
  });

  it('refuses a note under a name that is taken or is none', async () => {
    const name = '2026-05-26T13-42-08-review-style.md';
    expect((await at(['note', 'first', '--name', name])).exitCode).toBe(0);
    expect((await at(['note', 'second', '--name', name])).exitCode).toBe(5);
    const bad = await at(['note', 'third', '--name', 'notes.md']);
    expect([bad.exitCode, bad.stderr]).toEqual([2, expect.stringContaining('filename')]);
  });
});

describe('wrong input', () => {
  it.each([
    ['a path that does not exist', ['run', '/no/such/path'], 4, 'no such file or folder: /no/such/path'],
    ['an unknown option', ['run', '--frobnicate'], 2, "unknown option '--frobnicate'"],
    ['an unknown command', ['frobnicate'], 2, 'unknown command'],
    ['an age without a unit', ['run', '--since', '30'], 2, '30d'],
    ['a maximum that is no number', ['run', '--max', 'many'], 2, 'whole number'],
    ['a model that does not exist', ['run', '--model', 'gpt'], 2, 'offline'],
    ['openai without a key', ['run', SAMPLES, '--model', 'openai'], 2, 'OPENAI_API_KEY'],
    ['an empty search', ['search', '  '], 2, 'quer'],
  ])('%s gives one clear sentence', async (_, words, exitCode, text) => {
    const result = await at(words);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toContain(text);
    expect(result.stdout).toBe('');
  });

  it('a folder without rollouts', async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const result = await at(['run', empty]);
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining('no rollouts in')]);
  });

  it('a home that does not exist yet, for a command that only looks', async () => {
    const result = await stillroomHere(['status', '--home', join(folder, 'none')]);
    expect([result.exitCode, result.stderr]).toEqual([4, expect.stringContaining('stillroom run')]);
  });

  it('a folder with a file that cannot be read: that one ends with its reason, the others go through', async () => {
    const mixed = join(folder, 'mixed');
    mkdirSync(mixed);
    writeFileSync(join(mixed, 'good.jsonl'), codexRollout().user('Always use pnpm here.').toBytes());
    writeFileSync(join(mixed, 'bad.jsonl'), '');
    chmodSync(join(mixed, 'bad.jsonl'), 0o000);
    const result = await stillroomHere([
      'run',
      mixed,
      '--home',
      join(folder, 'mixed-home'),
      '--model',
      'offline',
      '--json',
    ]);
    expect([result.exitCode, result.stderr]).toEqual([0, '']);
    const report = z
      .looseObject({ files: z.array(z.looseObject({ outcome: z.string() })), threads: z.array(z.unknown()) })
      .parse(JSON.parse(result.stdout));
    // root may open it and finds it empty
    expect(report.files.map((file) => file.outcome)).toEqual([
      process.getuid?.() === 0 ? 'failed(no_thread_id)' : 'failed(unreadable)',
    ]);
    expect(report.threads).toHaveLength(1);
  });

  it('a home below a place where no folder can be made ends at once', async () => {
    const result = await stillroomHere(['run', SAMPLES, '--home', '/proc/stillroom/home']);
    expect([result.exitCode, result.stderr]).toEqual([3, expect.stringContaining('check its permissions')]);
  });

  it.each([
    [['run', ''], 'empty'],
    [['run', SAMPLES, '--home', ''], 'empty'],
  ])('an empty path, as an unset variable leaves it: %j', async (words, said) => {
    const result = await stillroomHere(words);
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  it('a path too long to be one is named in short', async () => {
    const result = await at(['run', 'x'.repeat(5_000)]);
    expect([result.exitCode, result.stderr.length < 400]).toEqual([4, true]);
    expect(result.stderr).toContain('no such file or folder');
  });

  it.each(['foo', 'http://', 'http://[::1'])('the base address %j of the model', async (address) => {
    vi.stubEnv('OPENAI_BASE_URL', address);
    const result = await at(['run', SAMPLES]);
    vi.stubEnv('OPENAI_BASE_URL', '');
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining('OPENAI_BASE_URL')]);
  });

  it('more than an answer on standard input', async () => {
    const endless = (function* () {
      for (;;) yield Buffer.alloc(1_048_576);
    })();
    await expect(readWhole(Readable.from(endless))).rejects.toMatchObject({ code: 'cli.input_too_large' });
  });

  it('a home that is a file', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    const result = await stillroomHere(['run', SAMPLES, '--home', path]);
    expect([result.exitCode, result.stderr]).toEqual([3, expect.stringContaining('--home')]);
  });

  it('a corrupt database is left as it is and the cure is named', async () => {
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'stillroom.db'), 'this is no database '.repeat(400));
    const result = await stillroomHere(['run', SAMPLES, '--home', broken]);
    expect(result.exitCode).toBe(70);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
    expect(result.stderr).toMatch(/stillroom\.db.*(move|away)/);
    expect(readFileSync(join(broken, 'stillroom.db'), 'utf8')).toContain('this is no database');
  });

  it('says with --json what went wrong, on stdout too', async () => {
    const result = await at(['show', 'nope.md', '--json']);
    expect(
      z.object({ error: z.object({ code: z.string(), message: z.string() }) }).parse(JSON.parse(result.stdout)).error
        .code,
    ).toBe('path.not_found');
  });
});

describe('a home that cannot be written', () => {
  it('names the folder and the cure', async () => {
    const result = await stillroomHere(['run', SAMPLES, '--home', join(readOnlyFolder(), 'home')]);
    expect([result.exitCode, result.stderr]).toEqual([3, expect.stringContaining('check its permissions')]);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
  });
});

/** A folder that this user may not write to; root may write to any but those of the kernel. */
function readOnlyFolder(): string {
  if (process.getuid?.() === 0) return '/sys/kernel';
  const locked = join(folder, 'locked');
  mkdirSync(locked, { mode: 0o500 });
  return locked;
}
