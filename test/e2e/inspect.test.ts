import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type CommandResult, ROOT, stillroomHere } from '../support/command.ts';
import { codexRollout } from '../support/rollout-builder.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-inspect-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function place(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const inspect = (...words: readonly string[]): Promise<CommandResult> => stillroomHere(['inspect', ...words]);

const shape = z.looseObject({
  outcome: z.string(),
  outcome_detail: z.nullable(z.string()),
  facts: z.nullable(z.looseObject({ agent: z.string(), thread_id: z.nullable(z.string()), project: z.string() })),
  records: z.nullable(
    z.looseObject({
      broken_lines: z.number(),
      kinds: z.array(
        z.object({ kind: z.string(), seen: z.number(), dropped: z.number(), why: z.nullable(z.string()) }),
      ),
    }),
  ),
  evidence: z.nullable(
    z.looseObject({
      bytes: z.number(),
      tiers: z.array(z.object({ tier: z.string(), items: z.number(), rows: z.number(), bytes: z.number() })),
      text: z.nullable(z.string()),
    }),
  ),
  redactions: z.record(z.string(), z.number()),
});

async function inspected(...words: readonly string[]): Promise<z.infer<typeof shape>> {
  const result = await inspect(...words, '--json');
  expect(result.exitCode).toBe(0);
  return shape.parse(JSON.parse(result.stdout));
}

const KEY = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
const session = () =>
  codexRollout({ startAt: Date.UTC(2026, 0, 2) })
    .user(`please deploy with ${KEY}`)
    .item({ type: 'reasoning', summary: [] })
    .call('shell', { command: 'npm test' }, '3 failed')
    .call('shell', { command: 'npm test' }, 'all green')
    .assistant('done');

describe('stillroom inspect', () => {
  it('tells facts, records, tiers and what would become of the file', async () => {
    const seen = await inspected(place('a.jsonl', session().line('{broken').toBytes()));
    expect(seen).toMatchObject({
      outcome: 'ready',
      facts: { agent: 'codex', thread_id: '019c0000-0000-7000-8000-000000000001', project: 'example.com/dev/app' },
      records: { broken_lines: 1 },
      redactions: { github_token: 1 },
      evidence: { failed_then_passed: { found: 1, kept: 1 }, text: null },
    });
    expect(seen.records?.kinds.find((row) => row.kind === 'response_item/reasoning')).toMatchObject({
      seen: 1,
      dropped: 1,
      why: "the model's thinking is no evidence",
    });
    expect(seen.evidence?.tiers.map((row) => [row.tier, row.items])).toContainEqual(['tool', 4]);
  });

  it('shows exactly the evidence that would be sent, within the budget, with secrets replaced', async () => {
    const path = place('b.jsonl.gz', gzipSync(session().toBytes()));
    const seen = await inspected(path, '--evidence', '--budget', '100');
    expect(Buffer.byteLength(seen.evidence?.text ?? '')).toBe(seen.evidence?.bytes);
    expect(seen.evidence?.bytes).toBeLessThanOrEqual(400);
    const text = await inspect(path, '--evidence');
    expect(text.stdout).toContain('[human user]\n');
    expect(text.stdout).toContain('[REDACTED_SECRET]');
    expect(text.stdout).not.toContain(KEY);
  });

  it.each([
    ['a short session', () => codexRollout().user('hi').toBytes(), 'skipped(too_short)'],
    [
      'a session of a sub-agent',
      () => codexRollout({ source: { subagent: { other: 'x' } } }).toBytes(),
      'skipped(subagent)',
    ],
    ['a text', () => 'no rollout\nat all\n', 'failed(unreadable)'],
    ['records of no known kind', () => '{"kind":"x"}\n'.repeat(2_000), 'failed(unrecognised_format)'],
    ['a cut archive', () => gzipSync(session().toBytes()).subarray(0, 60), 'failed(unreadable)'],
    [
      'a session without an id',
      () => codexRollout({ headless: true }).user('hello there').toBytes(),
      'failed(no_thread_id)',
    ],
  ])('%s is answered with its outcome', async (name, content, outcome) => {
    const seen = await inspected(place(`${name.replaceAll(' ', '-')}.bin`, content()));
    expect(seen.outcome).toBe(outcome);
    expect(seen.outcome_detail).not.toBe('');
  });

  it('prints hostile text harmlessly', async () => {
    const hostile = codexRollout({ cwd: '/w/\u001b[2J\u202eevil', git: { branch: 'a\u0007\nOUTCOME: extracted' } })
      .user('\u001b]0;title\u0007 first words')
      .record('strange\u001b[31m', {})
      .toBytes();
    const { stdout, exitCode } = await inspect(place('c.jsonl', hostile), '--evidence');
    expect(exitCode).toBe(0);
    for (const control of ['\u001b', '\u0007', '\u202e']) expect(stdout).not.toContain(control);
    expect(stdout).not.toMatch(/^OUTCOME: extracted/m);
  });

  it('of a file that is not there, or a folder, is the usual error', async () => {
    expect((await inspect(join(folder, 'none.jsonl'))).exitCode).toBe(4);
    place('in-folder.jsonl', session().toBytes());
    expect((await inspect(folder)).exitCode).toBe(2);
    expect((await inspect(folder, '--budget', '0')).exitCode).toBe(2);
  });
});

it('a reader of the output that leaves early is no fault', async () => {
  const file = place('long.jsonl', codexRollout().user('x '.repeat(4_000)).user('y '.repeat(4_000)).toText());
  const words = [resolve(ROOT, 'cli/bin.js'), 'inspect', file, '--evidence'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const faults: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => faults.push(text));
  const exitCode = await new Promise((done) => child.on('close', done));
  expect({ exitCode, faults }).toEqual({ exitCode: 0, faults: [] });
});
