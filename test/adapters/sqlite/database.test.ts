import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type Database, openDatabase, openDatabaseToLook } from '../../../adapters/sqlite/database.ts';
import { mapDatabaseFailure } from '../../../adapters/sqlite/database-failure.ts';
import { SqliteHeadStore } from '../../../adapters/sqlite/head-store.ts';
import { SqliteJobStore } from '../../../adapters/sqlite/job-store.ts';
import { LIST_HEADS, SqliteStageOneStore } from '../../../adapters/sqlite/stage-one-store.ts';
import { SqliteStepRunner } from '../../../adapters/sqlite/step-runner.ts';
import { SqliteThreadStore } from '../../../adapters/sqlite/thread-store.ts';
import { NotFoundError } from '../../../core/errors.ts';
import { DAY_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { makeTempFolder } from '../../support/ground.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const freshFile = () => join(makeTempFolder(), 'home', 'stillroom.db');

/** Runs a check on an open database and closes it. */
async function withDatabase(file: string, check: (database: Database) => void | Promise<void>): Promise<void> {
  const database = openDatabase(file);
  try {
    await check(database);
  } finally {
    database.close();
  }
}

/** Runs SQL on the file behind the adapter's back. */
function tamper(file: string, sql: string): void {
  const connection = new DatabaseSync(file);
  connection.exec(sql);
  connection.close();
}

describe('the database of a home', () => {
  it('is private: file 0600, folder 0700, also where it was not', async () => {
    const file = freshFile();
    await withDatabase(file, (database) => {
      database.change(() =>
        database.run(
          "INSERT INTO consolidation (user_key, status, retry_remaining, attempts) VALUES ('u', 'done', 3, 0)",
        ),
      );
      for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600);
    });
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
    const open = freshFile();
    mkdirSync(join(open, '..'), { mode: 0o755 });
    writeFileSync(open, '', { mode: 0o644 });
    await withDatabase(open, () => expect(statSync(open).mode & 0o777).toBe(0o600));
  });

  it('survives a power cut after a commit: write-ahead log, full synchronisation, erased rows overwritten', () =>
    withDatabase(freshFile(), (database) => {
      const pragma = (name: string) => database.one('pragma', `PRAGMA ${name}`);
      expect(pragma('journal_mode')?.text('journal_mode')).toBe('wal');
      expect(pragma('synchronous')?.integer('synchronous')).toBe(2);
      expect(pragma('secure_delete')?.integer('secure_delete')).toBe(1);
    }));

  it('opens for looking what cannot be written: reads everything, writes nothing, makes no file beside it', async () => {
    const file = freshFile();
    await withDatabase(file, async (database) => {
      await new SqliteThreadStore(database).update('u', 't', () => sampleThread({ threadId: 't' }));
    });
    const before = readdirSync(join(file, '..'));
    const database = openDatabaseToLook(file);
    expect((await new SqliteThreadStore(database).get('u', 't'))?.threadId).toBe('t');
    expect(() => database.run('DELETE FROM threads')).toThrow(/cannot be written/);
    expect(readdirSync(join(file, '..'))).toEqual(before);
    database.close();
  });

  it('opens for looking also while another process has written to the log', () =>
    withDatabase(freshFile(), async (writer) => {
      const file = writer.one('pragma', 'SELECT file FROM pragma_database_list')?.text('file') ?? '';
      await new SqliteThreadStore(writer).update('u', 't', () => sampleThread({ threadId: 't' }));
      const reader = openDatabaseToLook(file);
      expect((await new SqliteThreadStore(reader).get('u', 't'))?.threadId).toBe('t');
      reader.close();
    }));

  it.each([
    ['an older', 0, 'home.database_older'],
    ['a newer', 999, 'home.database_newer'],
  ])('refuses to look at the database of %s Stillroom, by its schema', async (_, schema, code) => {
    const file = freshFile();
    await withDatabase(file, () => undefined);
    tamper(file, `UPDATE schema_version SET version = ${schema}`);
    expect(() => openDatabaseToLook(file)).toThrow(expect.objectContaining({ code }));
  });

  it('undoes a change that fails in the middle, and takes the next one', () =>
    withDatabase(freshFile(), (database) => {
      const insert = "INSERT INTO steps (run_id, name, kept_at, answer) VALUES ('r', 's', 1, 'null')";
      const failing = () =>
        database.change(() => {
          database.run(insert);
          throw new RangeError('in the middle');
        });
      expect(failing).toThrow('in the middle');
      expect(database.all('steps', 'SELECT * FROM steps')).toHaveLength(0);
      database.change(() => database.run(insert));
      expect(database.all('steps', 'SELECT * FROM steps')).toHaveLength(1);
    }));

  it('keeps its content when it is opened again, and closes twice without complaint', async () => {
    const file = freshFile();
    await withDatabase(file, (database) => new SqliteJobStore(database).enqueueConsolidation('u', 7));
    const database = openDatabase(file);
    database.close();
    database.close();
    await withDatabase(file, async (again) => {
      expect((await new SqliteJobStore(again).get('u', { kind: 'consolidation' }))?.inputWatermark).toBe(7);
    });
  });

  it('leaves no forgotten text in its file', async () => {
    const file = freshFile();
    const marker = 'a-very-private-directory';
    await withDatabase(file, async (database) => {
      const threads = new SqliteThreadStore(database);
      await threads.update('u', 't', () => sampleThread({ threadId: 't', cwd: `/${marker}` }));
      await threads.update('u', 't', (stored) => stored && { ...stored, cwd: null });
    });
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(readFileSync(file).includes(marker)).toBe(false);
  });

  it('drops steps of runs that nobody took up again within a week', () =>
    withDatabase(freshFile(), async (database) => {
      const clock = new FixedClock(NOW);
      const steps = new SqliteStepRunner(database, clock);
      await steps.run('old', 's', z.number(), async () => 1);
      clock.advance(7 * DAY_MS);
      await steps.run('new', 's', z.number(), async () => 1);
      expect(await steps.run('old', 's', z.number(), async () => 2)).toBe(1);
      clock.advance(1);
      await steps.run('newer', 's', z.number(), async () => 1);
      expect(await steps.run('old', 's', z.number(), async () => 2)).toBe(2);
    }));
});

describe('a database that is not as it must be', () => {
  it('that is no database is told with the cure, and left as it is', () => {
    const file = freshFile();
    mkdirSync(join(file, '..'));
    const content = 'not a database at all, just some text. '.repeat(200);
    writeFileSync(file, content);
    expect(() => openDatabase(file)).toThrow(
      expect.objectContaining({
        kind: 'defect',
        code: 'home.database_corrupt',
        message: expect.stringMatching(/stillroom\.db .*move it away.*`stillroom run`.*rollouts\//),
      }),
    );
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('that lost pages is told when they are read', async () => {
    const file = freshFile();
    await withDatabase(file, async (database) => {
      const threads = new SqliteThreadStore(database);
      for (let at = 0; at < 300; at++)
        await threads.update('u', `t${at}`, () => sampleThread({ threadId: `t${at}`, title: 'x'.repeat(200) }));
    });
    truncateSync(file, statSync(file).size - 40_960);
    const reading = async () =>
      withDatabase(file, async (db) => void (await new SqliteThreadStore(db).list('u', { limit: 999 })));
    await expect(reading()).rejects.toMatchObject({ kind: 'defect', code: 'home.database_corrupt' });
  });

  it('that a newer program wrote is refused and left as it is', async () => {
    const file = freshFile();
    await withDatabase(file, () => {});
    tamper(file, 'UPDATE schema_version SET version = 999');
    expect(() => openDatabase(file)).toThrow(
      expect.objectContaining({ kind: 'conflict', code: 'home.database_newer' }),
    );
  });

  it.each<[string, string, (database: Database) => Promise<unknown>]>([
    ['a status', "UPDATE stage1 SET status = 'asleep'", (db) => new SqliteJobStore(db).listExtractions('u')],
    ['an outcome', "UPDATE stage1 SET outcome = 'skipped(why)'", (db) => new SqliteJobStore(db).listExtractions('u')],
    ['half a head', 'UPDATE stage1 SET source_updated_at = 1', (db) => new SqliteStageOneStore(db).heads('u')],
    ['a mode', "UPDATE threads SET memory_mode = 'maybe'", (db) => new SqliteThreadStore(db).get('u', 't')],
    ['a flag', 'UPDATE threads SET ended = 2', (db) => new SqliteThreadStore(db).list('u', { limit: 1 })],
    ['notes', "UPDATE head SET pending_notes = '[{}]'", (db) => new SqliteHeadStore(db).read('u')],
    [
      'texts',
      "UPDATE bodies SET content = x'00ff'",
      (db) => new SqliteStageOneStore(db).bodies('u', [{ threadId: 't', sourceUpdatedAt: 1 }]),
    ],
  ])('with %s that cannot be read says where, not what', async (_what, sql, read) => {
    const file = freshFile();
    await withDatabase(file, async (database) => {
      await new SqliteJobStore(database).recordOutcome('u', 't', { kind: 'no_output' });
      await new SqliteThreadStore(database).update('u', 't', () => sampleThread({ threadId: 't' }));
      await new SqliteHeadStore(database).setFence('u', 'f');
      await new SqliteStageOneStore(database).putBody(
        'u',
        { threadId: 't', sourceUpdatedAt: 1 },
        { rawMemory: 'r', rolloutSummary: 's' },
      );
    });
    tamper(file, sql);
    await withDatabase(file, async (database) => {
      await expect(read(database)).rejects.toMatchObject({ kind: 'defect', code: 'home.row_unreadable' });
    });
  });
});

describe('a disk that does not play along', () => {
  it('that is full undoes the change, says so, and goes on when there is space', () =>
    withDatabase(freshFile(), async (database) => {
      const outputs = new SqliteStageOneStore(database);
      const jobs = new SqliteJobStore(database);
      await jobs.enqueueConsolidation('u', 7);
      const pages = database.one('pragma', 'PRAGMA page_count')?.integer('page_count') ?? 0;
      database.one('pragma', `PRAGMA max_page_count = ${pages}`);
      const noise = Array.from({ length: 30_000 }, (_, at) => (at * 7_919) % 10_007).join(' ');
      const put = () =>
        outputs.putBody('u', { threadId: 't', sourceUpdatedAt: 1 }, { rawMemory: noise, rolloutSummary: '' });
      await expect(put()).rejects.toMatchObject({ kind: 'unavailable', code: 'home.disk_full' });
      expect((await jobs.get('u', { kind: 'consolidation' }))?.inputWatermark).toBe(7);
      database.one('pragma', 'PRAGMA max_page_count = 100000');
      await put();
      expect((await outputs.bodies('u', [{ threadId: 't', sourceUpdatedAt: 1 }])).get('t')?.rawMemory).toBe(noise);
    }));

  it('that is read-only refuses a change and says what to do', () =>
    withDatabase(freshFile(), async (database) => {
      database.one('pragma', 'PRAGMA query_only = 1');
      await expect(new SqliteJobStore(database).enqueueConsolidation('u', 1)).rejects.toMatchObject({
        kind: 'denied',
        code: 'home.read_only',
        message: expect.stringContaining('--home'),
      });
    }));

  it('where the home is a file, or the database a folder, is told', () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, 'home'), '');
    mkdirSync(join(folder, 'other', 'stillroom.db'), { recursive: true });
    for (const home of ['home', 'other'])
      expect(() => openDatabase(join(folder, home, 'stillroom.db'))).toThrow(
        expect.objectContaining({ kind: 'invalid_input', code: 'home.not_a_folder' }),
      );
  });

  it.each<[string, unknown, string, string]>([
    ['ENOSPC', systemError('ENOSPC'), 'unavailable', 'home.disk_full'],
    ['EDQUOT', systemError('EDQUOT'), 'unavailable', 'home.disk_full'],
    ['EACCES', systemError('EACCES'), 'denied', 'home.read_only'],
    ['EROFS', systemError('EROFS'), 'denied', 'home.read_only'],
    ['SQLITE_FULL', sqliteError(13), 'unavailable', 'home.disk_full'],
    ['SQLITE_BUSY', sqliteError(5), 'unavailable', 'home.database_busy'],
    ['SQLITE_BUSY_SNAPSHOT', sqliteError(5 | (2 << 8)), 'unavailable', 'home.database_busy'],
    ['SQLITE_READONLY_DIRECTORY', sqliteError(8 | (6 << 8)), 'denied', 'home.read_only'],
    ['SQLITE_CANTOPEN', sqliteError(14), 'denied', 'home.read_only'],
    ['SQLITE_IOERR_WRITE', sqliteError(10 | (3 << 8)), 'unavailable', 'home.io_error'],
    ['SQLITE_CORRUPT_INDEX', sqliteError(11 | (3 << 8)), 'defect', 'home.database_corrupt'],
    ['SQLITE_CONSTRAINT', sqliteError(19), 'defect', 'home.database_failed'],
    ['anything else', new Error('x'), 'defect', 'home.database_failed'],
  ])('%s becomes one of our failures', (_what, error, kind, code) => {
    expect(mapDatabaseFailure(error, 'stillroom.db')).toMatchObject({ kind, code, cause: error });
  });

  it('leaves failures that are ours already as they are', () => {
    const ours = new NotFoundError('x.y', 'z');
    expect(mapDatabaseFailure(ours, 'stillroom.db')).toBe(ours);
  });
});

describe('ten thousand outputs', () => {
  it('are listed by one range of the primary key, without touching a body', () =>
    withDatabase(freshFile(), (database) => {
      const plan = database.all('plan', `EXPLAIN QUERY PLAN ${LIST_HEADS}`, 'u');
      expect(plan.map((row) => row.text('detail'))).toEqual(['SEARCH stage1 USING PRIMARY KEY (user_key=?)']);
    }));
});

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function sqliteError(errcode: number): Error {
  return Object.assign(new Error('sqlite'), { code: 'ERR_SQLITE_ERROR', errcode });
}
