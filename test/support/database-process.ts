/**
 * A process of its own on a home's database, for tests of two processes at once. Started with `<file> <mode> <name>`, it says
 * `ready` when the database is open, begins when its input ends, and prints one line of JSON.
 */
import { openDatabase } from '../../adapters/sqlite/database.ts';
import { SqliteJobStore } from '../../adapters/sqlite/job-store.ts';
import { SqliteUsageLedger } from '../../adapters/sqlite/usage-ledger.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';

const [file = '', mode = '', name = ''] = process.argv.slice(2);
const NOW = 1_760_000_000_000;
const database = openDatabase(file);
const jobs = new SqliteJobStore(database);
process.stdout.write('ready\n');
for await (const _chunk of process.stdin);

if (mode === 'claim') console.log(JSON.stringify(await claimAll()));
else if (mode === 'reserve') console.log(JSON.stringify(await reserveAll()));
else if (mode === 'die-after-commit') await dieAfterCommit();
else if (mode === 'die-before-commit') dieBeforeCommit();
database.close();

/** @returns the threads won */
async function claimAll(): Promise<string[]> {
  const won: string[] = [];
  for (let at = 0; at < 60; at++) {
    const threadId = `t${at}`;
    const request = { token: `${name}-${at}`, now: NOW, leaseMs: 1_000, watermark: 1 };
    const claim = await jobs.claim('u', { kind: 'extraction', threadId }, request);
    if (claim.kind === 'claimed') won.push(threadId);
    await jobs.enqueueConsolidation('u', 0);
  }
  return won;
}

/** @returns how many calls were let through */
async function reserveAll(): Promise<number> {
  const ledger = new SqliteUsageLedger(database, new FixedClock(NOW));
  let reserved = 0;
  for (let at = 0; at < 60; at++) {
    const call = { callId: `${name}-${at}`, purpose: 'extraction', subject: 't', model: 'm', now: NOW } as const;
    const answer = await ledger.reserve('u', { ...call, tokens: 10, dailyLimit: 505 });
    if (answer.kind === 'reserved') reserved += 1;
  }
  return reserved;
}

async function dieAfterCommit(): Promise<void> {
  await jobs.enqueueConsolidation('u', 41);
  process.kill(process.pid, 'SIGKILL');
}

function dieBeforeCommit(): void {
  database.change(() => {
    database.run("UPDATE consolidation SET input_watermark = 99 WHERE user_key = 'u'");
    process.kill(process.pid, 'SIGKILL');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000); // the signal ends this wait
  });
}
