/**
 * Kills `stillroom run` with SIGKILL at random moments and checks what is left (`npm run test:kill`):
 * whatever the moment, no half version is visible, the next run completes with the same memory, and nothing is paid twice
 * but the calls that were in flight. `--points N` (20) and `--seed S` choose the moments; a failure prints its seed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sha256Hex } from '../../core/ids.ts';
import { openVersion } from '../../core/memory/memory-files.ts';
import { openHome } from '../../local/home.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SAMPLES = join(ROOT, 'examples/rollouts');
const IN_FLIGHT = 8;

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const points = Number(values.points);
const random = seededRandom(Number(values.seed));

interface Ledger {
  readonly bySubject: ReadonlyMap<string, number>;
  readonly committed: ReadonlySet<string>;
}

const failures: string[] = [];
const reference = await referenceRun();
console.log(`kill: ${points} moments within ${reference.tookMs} ms, seed ${values.seed}`);
for (let done = 0; done < points; done += 2) {
  await Promise.all(
    [0, 1].filter((lane) => done + lane < points).map(() => killOnce(random() * reference.tookMs * 1.1)),
  );
}
for (const failure of failures) console.error(failure);
console.log(`kill: ${points - failures.length} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

async function referenceRun(): Promise<{ tookMs: number; summary: string; outcomes: string }> {
  const home = newHome();
  const startedAt = Date.now();
  await finish(startRun(home));
  const tookMs = Date.now() - startedAt;
  const seen = await inspect(home);
  rmSync(home, { recursive: true, force: true });
  return { tookMs, summary: seen.summary, outcomes: seen.outcomes };
}

async function killOnce(afterMs: number): Promise<void> {
  const home = newHome();
  try {
    const child = startRun(home);
    const ended = once(child, 'exit');
    await Promise.race([ended, setTimeout(afterMs)]);
    child.kill('SIGKILL');
    await ended;
    await checkNothingHalf(home);
    const paid = readLedger(home);
    await finish(startRun(home));
    const seen = await inspect(home);
    expectSame('summary', seen.summary, reference.summary);
    expectSame('outcomes', seen.outcomes, reference.outcomes);
    await checkNothingHalf(home);
    checkWorkingCopy(home, seen.files);
    checkPayments(paid, readLedger(home));
  } catch (error) {
    failures.push(
      `killed after ${Math.round(afterMs)} ms: ${error instanceof Error ? error.message : String(error)} (${home})`,
    );
    return;
  }
  rmSync(home, { recursive: true, force: true });
}

/** The version that the head names is whole: every file is there with the content that its manifest promises. */
async function checkNothingHalf(folder: string): Promise<void> {
  if (!existsSync(join(folder, 'stillroom.db'))) return;
  const home = openHome(folder, { create: false });
  try {
    const current = await openVersion(home, home.userKey);
    for (const path of current.paths) await current.read(path);
    if (current.version > 0 && current.head.summary === '')
      throw new Error(`version ${current.version} has no summary`);
  } finally {
    home.close();
  }
}

async function inspect(
  folder: string,
): Promise<{ summary: string; outcomes: string; files: ReadonlyMap<string, string> }> {
  const home = openHome(folder, { create: false });
  try {
    const current = await openVersion(home, home.userKey);
    const files = new Map<string, string>();
    for (const path of current.paths) files.set(path, sha256Hex(await current.read(path)));
    const jobs = await home.jobs.listExtractions(home.userKey);
    const outcomes = [...jobs].map(([id, job]) => `${id} ${job.status} ${JSON.stringify(job.outcome)}`).join('\n');
    return { summary: current.head.summary, outcomes, files };
  } finally {
    home.close();
  }
}

function checkWorkingCopy(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, hash] of files) {
    const content = readFileSync(join(folder, 'memories', path));
    if (sha256Hex(content) !== hash) throw new Error(`memories/${path} is not what the version holds`);
  }
}

/** A second call for a thread is allowed only where the first one was in flight: paid or not, its result was not committed. */
function checkPayments(before: Ledger, after: Ledger): void {
  let repeated = 0;
  for (const [subject, calls] of after.bySubject) {
    const paidBefore = before.bySubject.get(subject) ?? 0;
    if (calls <= 1) continue;
    if (before.committed.has(subject)) throw new Error(`${subject} was extracted again after its commit`);
    if (calls - paidBefore > 1) throw new Error(`${subject} was extracted ${calls - paidBefore} times by one run`);
    repeated++;
  }
  if (repeated > IN_FLIGHT)
    throw new Error(`${repeated} threads were extracted twice; at most ${IN_FLIGHT} can be in flight`);
}

function readLedger(folder: string): Ledger {
  const bySubject = new Map<string, number>();
  const committed = new Set<string>();
  if (!existsSync(join(folder, 'stillroom.db'))) return { bySubject, committed };
  const database = new DatabaseSync(join(folder, 'stillroom.db'));
  try {
    if (!hasTable(database, 'usage_calls')) return { bySubject, committed };
    const calls = database.prepare(
      "SELECT subject, count(*) AS calls FROM usage_calls WHERE purpose = 'extraction' GROUP BY subject",
    );
    for (const row of calls.all()) bySubject.set(String(row['subject']), Number(row['calls']));
    for (const row of database.prepare("SELECT thread_id FROM stage1 WHERE status = 'done'").all()) {
      committed.add(String(row['thread_id']));
    }
    return { bySubject, committed };
  } finally {
    database.close();
  }
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

function newHome(): string {
  return join(mkdtempSync(join(tmpdir(), 'stillroom-kill-')), 'home');
}

function startRun(home: string): ReturnType<typeof spawn> {
  const words = ['cli/bin.js', 'run', SAMPLES, '--home', home, '--model', 'offline', '--json'];
  return spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function finish(child: ReturnType<typeof spawn>): Promise<void> {
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`run ended with ${String(code)}`);
}

function expectSame(what: string, found: string, wanted: string): void {
  if (found !== wanted)
    throw new Error(`${what} differs from a run that was never killed:\n${found}\ninstead of\n${wanted}`);
}

/** Small and seeded, so that a failure can be repeated (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
