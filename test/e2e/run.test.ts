import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type CommandResult, SAMPLES, stillroom } from '../support/command.ts';

const reportShape = z.looseObject({
  model_calls: z.number(),
  summary: z.string(),
  files: z.array(z.looseObject({ path: z.string(), outcome: z.string() })),
  threads: z.array(z.looseObject({ thread_id: z.string(), outcome: z.string(), project: z.string() })),
  consolidation: z.looseObject({ kind: z.string() }),
  memory: z.looseObject({ version: z.number() }),
});

function reportOf(result: CommandResult): z.infer<typeof reportShape> {
  expect(result.stderr).toBe('');
  expect(result.exitCode).toBe(0);
  return reportShape.parse(JSON.parse(result.stdout));
}

function runSamples(home: string): Promise<CommandResult> {
  return stillroom(['run', SAMPLES, '--home', home, '--model', 'offline', '--json']);
}

function extractionCalls(home: string): Map<string, number> {
  const database = new DatabaseSync(join(home, 'stillroom.db'), { readOnly: true });
  const rows = database
    .prepare("SELECT subject, count(*) AS calls FROM usage_calls WHERE purpose = 'extraction' GROUP BY subject")
    .all();
  database.close();
  return new Map(rows.map((row) => [String(row['subject']), Number(row['calls'])]));
}

function allFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());
}

describe('stillroom run on the samples', () => {
  let folder = '';
  let first: CommandResult = { exitCode: null, stdout: '', stderr: '' };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stillroom-run-'));
    first = await runSamples(join(folder, 'home'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('makes a memory and names an outcome for every session', () => {
    const report = reportOf(first);
    expect(report.summary.split('\n')[0]).toBe('v1');
    expect(report.memory.version).toBe(1);
    expect(report.files).toEqual([]);
    const outcomes = report.threads.map((thread) => thread.outcome);
    expect(outcomes.filter((outcome) => outcome === 'extracted').length).toBeGreaterThanOrEqual(8);
    expect(outcomes).toContain('no_output');
    expect(outcomes).toContain('skipped(subagent)');
    expect(outcomes).toContain('skipped(too_short)');
    const extracted = report.threads.filter((thread) => thread.outcome === 'extracted');
    expect(new Set(extracted.map((thread) => thread.project)).size).toBe(3);
  });

  it('makes no model call and no version the second time, and says so', async () => {
    const second = reportOf(await runSamples(join(folder, 'home')));
    expect(second.model_calls).toBe(0);
    expect(second.memory.version).toBe(1);
    expect(second.consolidation.kind).not.toBe('published');
    const text = await stillroom(['run', SAMPLES, '--home', join(folder, 'home'), '--model', 'offline']);
    expect(text.stdout).toContain('none: nothing was new');
  });

  it('keeps a plain working copy of what it published', async () => {
    const shown = await stillroom(['show', 'MEMORY.md', '--home', join(folder, 'home')]);
    const copy = readFileSync(join(folder, 'home/memories/MEMORY.md'), 'utf8');
    expect(copy.trimEnd()).toBe(shown.stdout.trimEnd());
  });

  it('keeps files private', () => {
    for (const path of allFiles(join(folder, 'home'))) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
  });
});

describe('a hand edit of the working copy', () => {
  it('becomes a version at the next run and survives its consolidation', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stillroom-edit-'));
    const home = join(folder, 'home');
    reportOf(await runSamples(home));
    const path = join(home, 'memories/memory_summary.md');
    const line = '- I prefer answers in one paragraph (added by hand).';
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('## User preferences\n', `## User preferences\n\n${line}\n`),
    );
    const report = reportOf(await runSamples(home));
    expect(report.summary).toContain(line);
    expect(readFileSync(path, 'utf8')).toContain(line);
    const versions = z
      .array(z.looseObject({ reason: z.string() }))
      .parse(JSON.parse((await stillroom(['versions', '--home', home, '--json'])).stdout));
    expect(versions.map((version) => version.reason)).toContain('edit');
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a hand edit that breaks the form of MEMORY.md', () => {
  it('A31 keeps its words in the memory of the next version', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stillroom-free-edit-'));
    const home = join(folder, 'home');
    reportOf(await runSamples(home));
    const path = join(home, 'memories/MEMORY.md');
    writeFileSync(path, `a line of my own\n${readFileSync(path, 'utf8')}`);
    expect(reportOf(await runSamples(home)).consolidation.kind).toBe('published');
    expect(readFileSync(path, 'utf8')).toContain('a line of my own');
    expect(reportOf(await runSamples(home)).model_calls).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('two runs at once on one home', () => {
  it('extract every session once and consolidate once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stillroom-two-'));
    const home = join(folder, 'home');
    const reports = (await Promise.all([runSamples(home), runSamples(home)])).map(reportOf);
    expect(reports.map((report) => report.memory.version)).toEqual([1, 1]);
    expect(reports.filter((report) => report.consolidation.kind === 'published')).toHaveLength(1);
    expect([...extractionCalls(home).values()].every((calls) => calls === 1)).toBe(true);
    expect(reports[0]?.summary).toBe(reports[1]?.summary);
    rmSync(folder, { recursive: true, force: true });
  });
});
