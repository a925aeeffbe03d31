import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openDatabase } from '../../../adapters/sqlite/database.ts';
import { SqliteJobStore } from '../../../adapters/sqlite/job-store.ts';
import { makeTempFolder } from '../../support/ground.ts';

const SCRIPT = join(import.meta.dirname, '../../support/database-process.ts');

/** Starts the processes, lets all of them open the database, then lets all begin at once. @returns what each printed */
async function runTogether(file: string, mode: string, names: readonly string[]) {
  const running = names.map((name) => start(file, mode, name));
  await Promise.all(running.map((process) => process.ready));
  for (const process of running) process.begin();
  return Promise.all(running.map((process) => process.ended));
}

function start(file: string, mode: string, name: string) {
  const child = spawn(process.execPath, ['--no-warnings', SCRIPT, file, mode, name]);
  let printed = '';
  let complained = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      printed += String(chunk);
      if (printed.includes('ready\n')) resolve();
    });
    child.on('close', () => resolve());
  });
  child.stderr.on('data', (chunk) => {
    complained += String(chunk);
  });
  const ended = new Promise<{ signal: string | null; answer: string; complained: string }>((resolve) => {
    child.on('close', (_code, signal) => resolve({ signal, answer: printed.replace('ready\n', ''), complained }));
  });
  return { ready, ended, begin: () => child.stdin.end() };
}

const freshFile = () => join(makeTempFolder(), 'home', 'stillroom.db');

describe('two processes on one database file', () => {
  it('both open a new one, and each job is claimed by exactly one of them (B-03)', async () => {
    const file = freshFile();
    const ended = await runTogether(file, 'claim', ['a', 'b', 'c']);
    expect(ended.map((process) => process.complained)).toEqual(['', '', '']);
    const won = ended.flatMap((process) => z.array(z.string()).parse(JSON.parse(process.answer)));
    expect([...won].sort()).toEqual(Array.from({ length: 60 }, (_, at) => `t${at}`).sort());
    const database = openDatabase(file);
    const job = await new SqliteJobStore(database).get('u', { kind: 'consolidation' });
    expect(job?.inputWatermark).toBe(179); // 180 enqueues, none lost
    database.close();
  });

  it('never exceed a budget together', async () => {
    const ended = await runTogether(freshFile(), 'reserve', ['a', 'b']);
    const reserved = ended.map((process) => z.number().parse(JSON.parse(process.answer)));
    expect(reserved.reduce((sum, count) => sum + count, 0)).toBe(50);
  });

  it('lose nothing committed and keep nothing uncommitted when one is killed', async () => {
    const file = freshFile();
    const signals = [
      ...(await runTogether(file, 'die-after-commit', ['a'])),
      ...(await runTogether(file, 'die-before-commit', ['b'])),
    ].map((process) => process.signal);
    expect(signals).toEqual(['SIGKILL', 'SIGKILL']);
    const database = openDatabase(file);
    const job = await new SqliteJobStore(database).get('u', { kind: 'consolidation' });
    expect(job?.inputWatermark).toBe(41);
    database.close();
  });
});
