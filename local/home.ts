import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FilesMemoryStore } from '../adapters/files/memory-store.ts';
import { FilesReplayStore } from '../adapters/files/replay-store.ts';
import { FilesRolloutStore } from '../adapters/files/rollout-store.ts';
import { FilesTemplateStore } from '../adapters/files/template-store.ts';
import { FilesUserTraces } from '../adapters/files/user-traces.ts';
import { type Database, openDatabase, openDatabaseToLook } from '../adapters/sqlite/database.ts';
import { SqliteDueIndex } from '../adapters/sqlite/due-index.ts';
import { SqliteEraseMarks } from '../adapters/sqlite/erase-marks.ts';
import { SqliteHeadStore } from '../adapters/sqlite/head-store.ts';
import { SqliteImportIndex } from '../adapters/sqlite/import-index.ts';
import { SqliteJobStore } from '../adapters/sqlite/job-store.ts';
import { SqliteReceiptStore } from '../adapters/sqlite/receipt-store.ts';
import { SqliteSettingsStore } from '../adapters/sqlite/settings-store.ts';
import { SqliteStageOneStore } from '../adapters/sqlite/stage-one-store.ts';
import { SqliteStepRunner } from '../adapters/sqlite/step-runner.ts';
import { SqliteThreadStore } from '../adapters/sqlite/thread-store.ts';
import { SqliteUsageLedger } from '../adapters/sqlite/usage-ledger.ts';
import { SqliteUserTraces } from '../adapters/sqlite/user-traces.ts';
import { RandomTokenSource } from '../adapters/system/random-token-source.ts';
import { SystemClock } from '../adapters/system/system-clock.ts';
import { ConsoleTelemetry } from '../adapters/telemetry/console-telemetry.ts';
import { DeniedError, NotFoundError, UnavailableError } from '../core/errors.ts';
import type { EraseMarks } from '../core/ports/erase-marks.ts';
import type { TokenSource } from '../core/ports/token-source.ts';
import type { UsageLedger } from '../core/ports/usage-ledger.ts';
import type { UserTraces } from '../core/ports/user-traces.ts';
import { READER } from '../core/rollout/formats.ts';
import type { Settings } from '../core/settings.ts';
import { errorCode } from './discover.ts';
import { type Instance, instanceTokens, reapDeadInstances, startInstance } from './instance.ts';
import { offlineLedger } from './offline-ledger.ts';
import { WorkingCopy } from './working-copy.ts';

/** Who a home belongs to. */
export const LOCAL_USER = 'local';

const TEMPLATES = fileURLToPath(new URL('../layers/templates', import.meta.url));

/** An open home: every port of the core on SQLite and files. */
export interface Home {
  readonly folder: string;
  readonly userKey: string;
  /** As they were when the home was opened. */
  readonly settings: Settings;
  readonly settingsStore: SqliteSettingsStore;
  readonly clock: SystemClock;
  readonly tokens: TokenSource;
  readonly telemetry: ConsoleTelemetry;
  readonly rollouts: FilesRolloutStore;
  readonly threads: SqliteThreadStore;
  readonly stageOne: SqliteStageOneStore;
  /** The same store, by the name that a consolidation knows it under. */
  readonly outputs: SqliteStageOneStore;
  readonly jobs: SqliteJobStore;
  readonly due: SqliteDueIndex;
  readonly heads: SqliteHeadStore;
  readonly ledger: UsageLedger;
  /** Counts the calls of the offline stand-in, apart from those that cost money. */
  readonly offlineLedger: UsageLedger;
  readonly steps: SqliteStepRunner;
  readonly receipts: SqliteReceiptStore;
  readonly imports: SqliteImportIndex;
  readonly memories: FilesMemoryStore;
  readonly replays: FilesReplayStore;
  readonly templates: FilesTemplateStore;
  /** All that the home keeps of its user. */
  readonly traces: readonly UserTraces[];
  readonly marks: EraseMarks;
  readonly workingCopy: WorkingCopy;
  /** Lock files of living processes. */
  readonly instancesFolder: string;
  /** Lets the leases of processes that died run out at once (docs/decisions/0004). */
  recoverDeadRuns(): void;
  close(): void;
}

/**
 * Opens a home, making it where it does not exist.
 * @param options.create false: a missing home is an error, for commands that write nothing new
 * @param options.look true: for commands that only look; a home on a read-only disk is opened for reading
 * @throws NotFoundError `home.not_found`, DeniedError `home.read_only`, UnavailableError `home.disk_full`,
 *   DefectError `home.database_corrupt`
 */
export function openHome(path: string, options: { readonly create: boolean; readonly look?: boolean }): Home {
  const folder = resolve(path);
  const databasePath = join(folder, 'stillroom.db');
  if (!options.create && !existsSync(databasePath)) {
    throw new NotFoundError(
      'home.not_found',
      `no memory at ${folder} yet: run "stillroom run" first, or name another --home`,
    );
  }
  const random = new RandomTokenSource();
  try {
    makeFolder(folder);
    const database = openDatabase(databasePath);
    return assembleHome(folder, database, openInstance(join(folder, 'instances'), random.next()));
  } catch (error) {
    const unwritable = error instanceof DeniedError && error.code === 'home.read_only';
    if (options.look !== true || !unwritable) throw error;
    return assembleHome(folder, openDatabaseToLook(databasePath), null);
  }
}

/** @param instance null for a home that is only looked at: it gives out no tokens and recovers nobody */
function assembleHome(folder: string, database: Database, instance: Instance | null): Home {
  const instances = join(folder, 'instances');
  const random = new RandomTokenSource();
  const clock = new SystemClock();
  const settingsStore = new SqliteSettingsStore(database);
  const settings = settingsStore.readNow(LOCAL_USER);
  const jobs = new SqliteJobStore(database);
  const stageOne = new SqliteStageOneStore(database);
  const ledger = new SqliteUsageLedger(database, clock);
  return {
    folder,
    userKey: LOCAL_USER,
    settings,
    settingsStore,
    clock,
    tokens: instance === null ? random : instanceTokens(instance, random),
    telemetry: new ConsoleTelemetry('error'),
    rollouts: new FilesRolloutStore(folder),
    threads: new SqliteThreadStore(database),
    stageOne,
    outputs: stageOne,
    jobs,
    due: new SqliteDueIndex(database),
    heads: new SqliteHeadStore(database),
    ledger,
    offlineLedger: offlineLedger(ledger),
    steps: new SqliteStepRunner(database, clock),
    receipts: new SqliteReceiptStore(database),
    imports: new SqliteImportIndex(database, READER),
    memories: new FilesMemoryStore(folder),
    replays: new FilesReplayStore(folder),
    templates: new FilesTemplateStore(TEMPLATES),
    traces: [new FilesUserTraces(folder), new SqliteUserTraces(database)],
    marks: new SqliteEraseMarks(database),
    workingCopy: new WorkingCopy(join(folder, 'memories')),
    instancesFolder: instances,
    recoverDeadRuns: () => {
      if (instance !== null) reapDeadInstances(instances, (id) => jobs.expireLeases(`${id}.`, clock.now()));
    },
    close: () => {
      instance?.close();
      database.close();
    },
  };
}

function openInstance(folder: string, id: string): Instance {
  try {
    return startInstance(folder, id);
  } catch (error) {
    throw explainHomeError(folder, error);
  }
}

function makeFolder(folder: string): void {
  try {
    makePath(folder);
  } catch (error) {
    throw explainHomeError(folder, error);
  }
}

/**
 * Makes the missing folders one by one from the first that exists. Node's own way of making a path hangs below /proc and tells
 * of a read-only disk as of a missing folder.
 */
function makePath(folder: string): void {
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) mkdirSync(folder); // says that it is a file
    return;
  }
  makePath(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error; // another process may have made it
  }
}

function explainHomeError(folder: string, error: unknown): Error {
  const code = errorCode(error);
  if (code === 'ENOSPC') {
    return new UnavailableError('home.disk_full', `the disk of ${folder} is full: free some space and run again`, {
      cause: error,
    });
  }
  if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ERR_SQLITE_ERROR'].includes(code)) {
    return new DeniedError(
      'home.read_only',
      `cannot write to ${folder}: check its permissions or name another --home`,
      {
        cause: error,
      },
    );
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new DeniedError('home.not_a_folder', `${folder} is a file: name a folder with --home`, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}
