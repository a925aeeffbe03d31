import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DefectError, UnavailableError } from '../../core/errors.ts';
import type { ReplayRef, ReplayStore } from '../../core/ports/replay-store.ts';
import { packText, unpackText } from '../compression/packed-text.ts';
import {
  errorCode,
  type FileOpener,
  placeFile,
  stageFile,
  sweepStrays,
  userFolder,
  writeFailure,
} from './home-files.ts';

const WRITE_FAILED = 'replay.write_failed';
const NAME = /^(\d{10})-(\d{10})-(\d{1,16})\.json\.gz$/;

/** Records as files of their own, readable for the owner alone: `<home>/replays/<epoch>-<version>-<ms>.json.gz`. */
export class FilesReplayStore implements ReplayStore {
  readonly #home: string;
  readonly #openFile: FileOpener | undefined;

  constructor(home: string, options: { readonly openFile?: FileOpener } = {}) {
    this.#home = home;
    this.#openFile = options.openFile;
  }

  /** @throws DeniedError `home.read_only`, UnavailableError `home.disk_full` as well */
  async put(userKey: string, ref: ReplayRef, record: string): Promise<void> {
    const file = this.#file(userKey, ref);
    const staged = await stageFile(file, [packText(record)], { failureCode: WRITE_FAILED, openFile: this.#openFile });
    await placeFile(staged, file, WRITE_FAILED);
  }

  async read(userKey: string, ref: ReplayRef): Promise<string | undefined> {
    try {
      return unpackText(await readFile(this.#file(userKey, ref)));
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return undefined;
      throw readFailure(cause);
    }
  }

  async list(userKey: string): Promise<readonly ReplayRef[]> {
    const names = await readdir(this.#folder(userKey)).catch((cause: unknown) => {
      if (errorCode(cause) === 'ENOENT') return [];
      throw readFailure(cause);
    });
    return names.sort().flatMap((name) => parseName(name) ?? []);
  }

  async remove(userKey: string, refs: readonly ReplayRef[]): Promise<void> {
    for (const ref of refs) {
      await rm(this.#file(userKey, ref), { force: true }).catch((cause: unknown) => {
        throw writeFailure(cause, WRITE_FAILED);
      });
    }
    await sweepStrays(this.#folder(userKey));
  }

  #folder(userKey: string): string {
    return join(userFolder(this.#home, userKey), 'replays');
  }

  #file(userKey: string, { epoch, version, createdAt }: ReplayRef): string {
    const digits = (number: number): string => String(number).padStart(10, '0');
    return join(this.#folder(userKey), `${digits(epoch)}-${digits(version)}-${createdAt}.json.gz`);
  }
}

function parseName(name: string): ReplayRef | undefined {
  const [, epoch, version, createdAt] = NAME.exec(name) ?? [];
  if (epoch === undefined || version === undefined || createdAt === undefined) return undefined;
  return { epoch: Number(epoch), version: Number(version), createdAt: Number(createdAt) };
}

/** What the unpacking told is passed on as it is. */
function readFailure(cause: unknown): Error {
  if (cause instanceof DefectError) return cause;
  return new UnavailableError('replay.read_failed', 'a record of a run could not be read', {
    details: { system_code: errorCode(cause) ?? null },
    cause,
  });
}
