import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FilesMemoryStore } from '../../adapters/files/memory-store.ts';
import { FilesRolloutStore } from '../../adapters/files/rollout-store.ts';
import { FilesUserTraces } from '../../adapters/files/user-traces.ts';
import type { Database } from '../../adapters/sqlite/database.ts';
import { SqliteHeadStore } from '../../adapters/sqlite/head-store.ts';
import { SqliteJobStore } from '../../adapters/sqlite/job-store.ts';
import { SqliteReceiptStore } from '../../adapters/sqlite/receipt-store.ts';
import { SqliteSettingsStore } from '../../adapters/sqlite/settings-store.ts';
import { SqliteStageOneStore } from '../../adapters/sqlite/stage-one-store.ts';
import { SqliteStepRunner } from '../../adapters/sqlite/step-runner.ts';
import { SqliteThreadStore } from '../../adapters/sqlite/thread-store.ts';
import { SqliteUsageLedger } from '../../adapters/sqlite/usage-ledger.ts';
import { SqliteUserTraces } from '../../adapters/sqlite/user-traces.ts';
import { NO_TRACES, type TraceCounts } from '../../core/ports/user-traces.ts';
import { DEFAULT_SETTINGS } from '../../core/settings.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { type Ground, makeTempFolder, onGround, sqliteGround } from '../support/ground.ts';
import { NOW, sampleThread } from '../support/sample-state.ts';
import { type TracedStore, userTracesContract } from './user-traces.contract.ts';

const sqlite = (): Ground<TracedStore & { readonly database: Database }> =>
  sqliteGround((database) => ({
    database,
    traces: new SqliteUserTraces(database),
    leave: (userKey) => leaveRows(database, userKey),
  }));

userTracesContract('SQLite', sqlite);
userTracesContract('files', () => filesGround(makeTempFolder()));

describe('what SQLite keeps of a user', () => {
  it('is looked for in every table that has users, and in the steps of their runs', () =>
    onGround(sqlite(), async ({ database, leave, traces }) => {
      await leave('u');
      await traces.erase('u');
      const tables = database.all('sqlite_schema', "SELECT name FROM sqlite_schema WHERE type = 'table'");
      const names = tables.map((row) => row.text('name')).filter((name) => name !== 'schema_version');
      expect(names).toContain('steps');
      for (const name of names) expect(database.all(name, `SELECT * FROM ${name}`), name).toEqual([]);
    }));
});

describe('what a home keeps of a user in files', () => {
  it('lies in the home itself for the user of a home, whose erasing leaves other users alone', async () => {
    const home = makeTempFolder();
    const { store } = filesGround(home).connect();
    const [local, other] = [await store.leave('local'), await store.leave('user1')];
    expect(await store.traces.count('local')).toEqual(local);
    expect(await store.traces.erase('local')).toEqual(local);
    expect(await store.traces.count('local')).toEqual(NO_TRACES);
    expect(await store.traces.count('user1')).toEqual(other);
    await store.traces.erase('user1');
    expect(existsSync(join(home, 'users', 'user1'))).toBe(false);
  });

  it('is never what a link leads to', async () => {
    const [home, elsewhere] = [makeTempFolder(), makeTempFolder()];
    writeFileSync(join(elsewhere, 'theirs.md'), 'kept');
    symlinkSync(elsewhere, join(home, 'memories'));
    const traces = new FilesUserTraces(home);
    expect(await traces.erase('local')).toEqual({ objects: 1, versions: 1, items: 0 });
    expect(existsSync(join(home, 'memories'))).toBe(false);
    expect(readFileSync(join(elsewhere, 'theirs.md'), 'utf8')).toBe('kept');
  });

  it('is refused for what is no user key', async () => {
    const traces = new FilesUserTraces(makeTempFolder());
    for (const key of ['', '..', '.', 'a/b', '../local']) {
      await expect(traces.count(key), key).rejects.toMatchObject({ code: 'home.invalid_user_key' });
      await expect(traces.erase(key), key).rejects.toMatchObject({ code: 'home.invalid_user_key' });
    }
  });
});

/** A row in every table, and one on an account of the user's own. */
async function leaveRows(database: Database, userKey: string): Promise<TraceCounts> {
  const ledger = new SqliteUsageLedger(database, new FixedClock(NOW));
  const jobs = new SqliteJobStore(database);
  const call = { purpose: 'consolidation', model: 'm', now: NOW, tokens: 1, dailyLimit: 9 } as const;
  const runId = `run of ${userKey}`;
  await new SqliteThreadStore(database).update(userKey, 't', () => sampleThread({ threadId: 't' }));
  await jobs.recordOutcome(userKey, 't', { kind: 'extracted' });
  await jobs.enqueueConsolidation(userKey, 1);
  const body = { rawMemory: 'raw', rolloutSummary: 'summary' };
  await new SqliteStageOneStore(database).putBody(userKey, { threadId: 't', sourceUpdatedAt: 1 }, body);
  await new SqliteHeadStore(database).setFence(userKey, 'f');
  await ledger.reserve(userKey, { ...call, callId: 'c', subject: runId });
  await ledger.reserve(`${userKey}/offline`, { ...call, callId: 'c', subject: `${runId}, offline` });
  const steps = new SqliteStepRunner(database, new FixedClock(NOW));
  for (const id of [runId, `${runId}, offline`]) await steps.run(id, 'turn', z.string(), async () => 'a text');
  await new SqliteReceiptStore(database).keep(userKey, 'k', { fingerprint: 'f', answer: '{}' }, NOW);
  await new SqliteSettingsStore(database).write(userKey, DEFAULT_SETTINGS);
  return { ...NO_TRACES, items: 6 + 2 * 2 + 2 + 1 };
}

function filesGround(home: string): Ground<TracedStore> {
  return {
    connect: () => ({
      store: { traces: new FilesUserTraces(home), leave: (userKey) => leaveFiles(home, userKey) },
      close: () => {},
    }),
  };
}

/** A rollout, two versions of a file with a manifest, and a working copy that a kill left half replaced. */
async function leaveFiles(home: string, userKey: string): Promise<TraceCounts> {
  async function* content(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([1]);
  }
  await new FilesRolloutStore(home).put(userKey, 't', content(), 't.jsonl', NOW);
  const memories = new FilesMemoryStore(home);
  for (const text of ['one', 'two']) await memories.putFile(userKey, 'MEMORY.md', new TextEncoder().encode(text));
  const folder = userKey === 'local' ? home : join(home, 'users', userKey);
  const paths = [
    'versions/manifests/0000000001.json',
    'replays/0000000000-0000000001-5.json.gz',
    'memories/skills/a/SKILL.md',
    'memories.next/MEMORY.md',
  ];
  for (const path of [...paths, 'memories.old/MEMORY.md']) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), 'x');
  }
  return { ...NO_TRACES, objects: 8, versions: 8 };
}
