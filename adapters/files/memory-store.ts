import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileEntry, Manifest } from '../../core/consolidation/manifest.ts';
import { manifestToJson, parseManifest } from '../../core/consolidation/manifest-json.ts';
import { DefectError, UnavailableError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { MemoryStore, StagedObjects } from '../../core/ports/memory-store.ts';
import { encodeUtf8 } from '../../core/text.ts';
import { HOUR_MS } from '../../core/time.ts';
import {
  errorCode,
  type FileOpener,
  placeFile,
  stageFile,
  sweepStrays,
  syncFolder,
  userFolder,
  writeFailure,
} from './home-files.ts';

const WRITE_FAILED = 'memory.write_failed';
const MANIFEST_NAME = /^(\d{10})\.json$/;
const OBJECT_NAME = /^[0-9a-f]{64}$/;

export interface FilesMemoryStoreOptions {
  /**
   * Contents that no manifest names are kept while younger than this: a publisher at work stores contents before its
   * manifest. ms; default 1 hour.
   */
  readonly orphanGraceMs?: number;
  readonly openFile?: FileOpener;
}

/**
 * Versions as files: contents under their SHA-256 in `<home>/versions/objects/<2 digits>/`, never changed; manifests in
 * `<home>/versions/manifests/<10 digits>.json`, created but never replaced.
 */
export class FilesMemoryStore implements MemoryStore {
  readonly #home: string;
  readonly #orphanGraceMs: number;
  readonly #openFile: FileOpener | undefined;

  constructor(home: string, options: FilesMemoryStoreOptions = {}) {
    this.#home = home;
    this.#orphanGraceMs = options.orphanGraceMs ?? HOUR_MS;
    this.#openFile = options.openFile;
  }

  async putFile(userKey: string, _path: string, content: Uint8Array): Promise<FileEntry> {
    const sha256 = sha256Hex(content);
    const entry = { versionId: sha256, sha256, bytes: content.length };
    const file = this.#object(userKey, sha256);
    if (await renewObject(file, content)) return entry;
    await placeFile(await this.#stage(file, content), file, WRITE_FAILED);
    return entry;
  }

  async readFile(userKey: string, _path: string, entry: FileEntry): Promise<Uint8Array> {
    if (!OBJECT_NAME.test(entry.versionId)) throw contentGone(entry);
    const content = await readOrNothing(this.#object(userKey, entry.versionId));
    if (content === undefined || sha256Hex(content) !== entry.sha256) throw contentGone(entry);
    return content;
  }

  async putManifest(userKey: string, manifest: Manifest): Promise<'stored' | 'taken'> {
    const file = this.#manifest(userKey, manifest.version);
    const staged = await this.#stage(file, manifestBytes(manifest));
    try {
      await createFrom(staged, file);
      await syncFolder(dirname(file));
      return 'stored';
    } catch (cause) {
      if (errorCode(cause) === 'EEXIST') return 'taken';
      throw writeFailure(cause, WRITE_FAILED);
    } finally {
      await rm(staged, { force: true });
    }
  }

  async manifest(userKey: string, version: number): Promise<Manifest | undefined> {
    const content = await readOrNothing(this.#manifest(userKey, version));
    return content === undefined ? undefined : parseManifest(new TextDecoder().decode(content), version);
  }

  async manifestNumbers(userKey: string): Promise<readonly number[]> {
    const names = await listNames(join(this.#folder(userKey), 'manifests'));
    return names
      .flatMap((name) => MANIFEST_NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((left, right) => left - right);
  }

  /** Nothing to do: contents lie under their hash, and the working copy follows the head. */
  async hide(): Promise<void> {}

  /**
   * Removes the manifests. The contents lie under their hash, and another publisher may have stored the same ones a moment ago:
   * they go by their age.
   */
  async discard(userKey: string, { manifests }: StagedObjects): Promise<void> {
    for (const manifest of manifests) {
      const file = this.#manifest(userKey, manifest.version);
      const stored = await readOrNothing(file).catch(() => undefined); // best effort: it is an orphan then
      const isOurs = stored !== undefined && Buffer.compare(stored, manifestBytes(manifest)) === 0;
      if (isOurs) await rm(file, { force: true }).catch(() => undefined);
    }
  }

  async removeFiles(userKey: string, files: StagedObjects['files']): Promise<void> {
    for (const { entry } of files)
      if (OBJECT_NAME.test(entry.versionId)) await removeFile(this.#object(userKey, entry.versionId));
  }

  async removeOrphans(userKey: string, orphanManifests: readonly number[]): Promise<number> {
    for (const version of orphanManifests) await removeFile(this.#manifest(userKey, version));
    await sweepStrays(join(this.#folder(userKey), 'manifests'));
    const named = new Set<string>();
    for (const version of await this.manifestNumbers(userKey)) {
      const manifest = await this.manifest(userKey, version); // unreadable: throws, so that nothing it may name goes
      for (const entry of Object.values(manifest?.files ?? {})) named.add(entry.versionId);
    }
    let removed = 0;
    const objects = join(this.#folder(userKey), 'objects');
    for (const shard of await listNames(objects)) {
      for (const name of await listNames(join(objects, shard))) {
        if (named.has(name)) continue;
        const gone = await removeIfOlder(join(objects, shard, name), this.#orphanGraceMs);
        if (gone && OBJECT_NAME.test(name)) removed++;
      }
    }
    return removed;
  }

  #stage(file: string, content: Uint8Array): Promise<string> {
    return stageFile(file, [content], { failureCode: WRITE_FAILED, openFile: this.#openFile });
  }

  #folder(userKey: string): string {
    return join(userFolder(this.#home, userKey), 'versions');
  }

  #object(userKey: string, sha256: string): string {
    return join(this.#folder(userKey), 'objects', sha256.slice(0, 2), sha256);
  }

  #manifest(userKey: string, version: number): string {
    return join(this.#folder(userKey), 'manifests', `${String(version).padStart(10, '0')}.json`);
  }
}

function manifestBytes(manifest: Manifest): Uint8Array {
  return encodeUtf8(`${JSON.stringify(manifestToJson(manifest), null, 1)}\n`);
}

/** Gives a staged file its name; fails with EEXIST where the name is taken, so that two publishers cannot both have it. */
async function createFrom(staged: string, file: string): Promise<void> {
  try {
    await link(staged, file);
  } catch (cause) {
    if (!/^(EPERM|ENOSYS|ENOTSUP|EOPNOTSUPP)$/.test(errorCode(cause) ?? '')) throw cause;
    await copyFile(staged, file, constants.COPYFILE_EXCL); // a disk without hard links
  }
}

/** True when the content lies there already and whole. Its time is renewed first, so that no sweep takes it as old. */
async function renewObject(file: string, content: Uint8Array): Promise<boolean> {
  const now = new Date();
  const renewed = await utimes(file, now, now).then(
    () => true,
    () => false, // not there, or not ours to touch: it is written again
  );
  if (!renewed) return false;
  const stored = await readOrNothing(file);
  return stored !== undefined && Buffer.compare(stored, content) === 0;
}

/**
 * Removes a file that is older than the grace. It is moved aside before its time is read, so that a publisher who renews
 * it at the same moment either is seen, and it is put back, or finds it gone and writes it anew.
 */
async function removeIfOlder(file: string, graceMs: number): Promise<boolean> {
  const limit = Date.now() - graceMs;
  if ((await changedAt(file)) > limit) return false;
  const aside = join(dirname(file), `.removed.${randomUUID()}.tmp`);
  try {
    await rename(file, aside);
    const wasRenewed = (await changedAt(aside)) > limit;
    if (wasRenewed) await rename(aside, file);
    else await rm(aside, { force: true });
    return !wasRenewed;
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return false; // somebody else was faster
    throw writeFailure(cause, WRITE_FAILED);
  }
}

/** ms since the epoch; never, where the file is gone. */
async function changedAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return Number.POSITIVE_INFINITY;
    throw readFailure(cause);
  }
}

async function removeFile(file: string): Promise<void> {
  await rm(file, { force: true }).catch((cause: unknown) => {
    throw writeFailure(cause, WRITE_FAILED);
  });
}

async function readOrNothing(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw readFailure(cause);
  }
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return [];
    throw readFailure(cause);
  }
}

function readFailure(cause: unknown): UnavailableError {
  return new UnavailableError('memory.read_failed', 'a file of the home folder could not be read', {
    details: { system_code: errorCode(cause) ?? null },
    cause,
  });
}

function contentGone(entry: FileEntry): DefectError {
  return new DefectError('memory.content_gone', 'a file of a published version is missing or damaged', {
    details: { sha256: entry.sha256, bytes: entry.bytes },
  });
}
