import { setTimeout as wait } from 'node:timers/promises';
import { GetObjectCommand, PutObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';
import type { FileEntry, Manifest } from '../../core/consolidation/manifest.ts';
import { manifestToJson, parseManifest } from '../../core/consolidation/manifest-json.ts';
import { DefectError, StillroomError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { MemoryStore, StagedObjects } from '../../core/ports/memory-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { decodeUtf8, encodeUtf8 } from '../../core/text.ts';
import { HOUR_MS } from '../../core/time.ts';
import { manifestKey, manifestsPrefix, memoryKey, parseManifestKey } from './keys.ts';
import { discardObjects } from './memory-discard.ts';
import { removeOrphanObjects } from './memory-orphans.ts';
import { discardBody, readBody } from './object-body.ts';
import { attempt, isAmbiguous, isGone, objectFailure, statusOf } from './object-failure.ts';
import { deleteAll, deleteAllOrFail, listKeys } from './object-listing.ts';
import { createRequest, type ObjectPlace, putRequest, readRequest } from './object-requests.ts';

const MARKDOWN = 'text/markdown; charset=utf-8';
const JSON_TYPE = 'application/json';

export interface S3MemoryStoreOptions {
  /**
   * Versions that no manifest names are kept while younger than this: a publisher at work stores contents before its
   * manifest. ms; default 1 hour.
   */
  readonly orphanGraceMs?: number;
  readonly now?: () => number;
  /** Waits before a refused write is tried once more; default: at random 50 to 250 ms. */
  readonly pause?: () => Promise<void>;
}

/**
 * Versions as versions of objects (storage.md): a file is `users/<user_key>/memories/<path>`, read by the version id that a
 * manifest names; a manifest is `users/<user_key>/manifests/<10 digits>.json`, created but never replaced.
 */
export class S3MemoryStore implements MemoryStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #telemetry: Telemetry;
  readonly #options: Required<S3MemoryStoreOptions>;

  constructor(client: S3Client, bucket: string, telemetry: Telemetry, options: S3MemoryStoreOptions = {}) {
    this.#client = client;
    this.#bucket = bucket;
    this.#telemetry = telemetry;
    const pause = () => wait(50 + Math.random() * 200);
    this.#options = { orphanGraceMs: HOUR_MS, now: Date.now, pause, ...options };
  }

  /** @throws DefectError `memory.unversioned_bucket` where the bucket keeps no versions */
  async putFile(userKey: string, path: string, content: Uint8Array): Promise<FileEntry> {
    const request = putRequest(this.#file(userKey, path), content, { contentType: MARKDOWN });
    const { VersionId } = await attempt('memory.write_failed', () => this.#putOnceMore(request));
    if (VersionId === undefined || VersionId === 'null') {
      throw new DefectError('memory.unversioned_bucket', 'the bucket of the memories keeps no versions');
    }
    return { versionId: VersionId, sha256: sha256Hex(content), bytes: content.length };
  }

  /** A version that is gone is replaced by the current object where that has the same content (user case C26). */
  async readFile(userKey: string, path: string, entry: FileEntry): Promise<Uint8Array> {
    const place = this.#file(userKey, path);
    const named = entry.versionId === '' ? undefined : await this.#read(place, entry.versionId, entry.bytes);
    if (named !== undefined && sha256Hex(named) === entry.sha256) return named;
    const current = await this.#read(place, undefined, entry.bytes);
    if (current === undefined || sha256Hex(current) !== entry.sha256) throw contentGone(entry);
    this.#telemetry.event('error', 'memory.version_gone', { sha256: entry.sha256, bytes: entry.bytes });
    return current;
  }

  /**
   * `taken` says that another one lies there. Where S3 refuses, or does not answer, because the manifest that lies there is
   * this very one (the answer to a first try was lost), it is stored (user cases C22, C27).
   */
  async putManifest(userKey: string, manifest: Manifest): Promise<'stored' | 'taken'> {
    const place = { bucket: this.#bucket, key: manifestKey(userKey, manifest.version) };
    const content = manifestBytes(manifest);
    try {
      await this.#putOnceMore(createRequest(place, content, JSON_TYPE));
      return 'stored';
    } catch (cause) {
      const isTaken = statusOf(cause) === 412;
      if (!isTaken && !isAmbiguous(cause)) throw objectFailure('memory.write_failed', cause);
      if (await this.#isStored(userKey, manifest)) return 'stored';
      if (isTaken) return 'taken';
      throw objectFailure('memory.write_failed', cause);
    }
  }

  async manifest(userKey: string, version: number): Promise<Manifest | undefined> {
    const content = await this.#read({ bucket: this.#bucket, key: manifestKey(userKey, version) }, undefined, null);
    return content === undefined ? undefined : parseManifest(decodeUtf8(content), version);
  }

  async manifestNumbers(userKey: string): Promise<readonly number[]> {
    const scope = {
      bucket: this.#bucket,
      prefix: manifestsPrefix(userKey),
      failureCode: 'memory.read_failed',
    } as const;
    const keys = await listKeys(this.#client, scope);
    return keys.flatMap((key) => parseManifestKey(userKey, key) ?? []).sort((left, right) => left - right);
  }

  async hide(userKey: string, paths: readonly string[]): Promise<void> {
    const scope = { bucket: this.#bucket, failureCode: 'memory.write_failed' } as const;
    const targets = paths.map((path) => ({ key: memoryKey(userKey, path) }));
    try {
      const refused = await deleteAll(this.#client, scope, targets);
      if (refused > 0) this.#telemetry.event('warn', 'memory.hide_failed', { paths: paths.length, refused });
    } catch (error) {
      // The port's rule: the version is published already, and a path that stays listed does no harm.
      const details = error instanceof StillroomError ? { code: error.code, ...error.details } : { code: null };
      this.#telemetry.event('warn', 'memory.hide_failed', { paths: paths.length, ...details });
    }
  }

  async discard(userKey: string, staged: StagedObjects): Promise<void> {
    try {
      const search = { client: this.#client, bucket: this.#bucket, userKey };
      const refused = await discardObjects(search, staged, (manifest) => this.#isStored(userKey, manifest));
      if (refused > 0) this.#telemetry.event('warn', 'memory.discard_failed', { refused });
    } catch (error) {
      // The port's rule: what stays costs space until the next run, and hides what went wrong before it.
      const details = error instanceof StillroomError ? { code: error.code, ...error.details } : { code: null };
      this.#telemetry.event('warn', 'memory.discard_failed', details);
    }
  }

  async removeFiles(userKey: string, files: StagedObjects['files']): Promise<void> {
    const scope = { bucket: this.#bucket, failureCode: 'memory.write_failed' } as const;
    const named = files.filter(({ entry }) => entry.versionId !== ''); // without one, a delete would only hide the key
    const targets = named.map(({ path, entry }) => ({ key: memoryKey(userKey, path), versionId: entry.versionId }));
    if (targets.length > 0) await deleteAllOrFail(this.#client, scope, targets);
  }

  /** Whether exactly this manifest lies under its number. */
  async #isStored(userKey: string, manifest: Manifest): Promise<boolean> {
    const content = manifestBytes(manifest);
    const place = { bucket: this.#bucket, key: manifestKey(userKey, manifest.version) };
    const stored = await this.#read(place, undefined, content.length);
    return stored !== undefined && Buffer.compare(stored, content) === 0;
  }

  async removeOrphans(userKey: string, orphanManifests: readonly number[]): Promise<number> {
    return removeOrphanObjects({
      client: this.#client,
      bucket: this.#bucket,
      userKey,
      orphanManifests: new Set(orphanManifests),
      olderThan: this.#options.now() - this.#options.orphanGraceMs,
      manifest: (version) => this.manifest(userKey, version),
    });
  }

  /** 409 says that somebody writes the key at this moment: the same write once more (storage.md, "S3 answers"). */
  async #putOnceMore(request: PutObjectCommandInput) {
    try {
      return await this.#client.send(new PutObjectCommand(request));
    } catch (cause) {
      if (statusOf(cause) !== 409) throw cause;
      await this.#options.pause();
      return this.#client.send(new PutObjectCommand(request));
    }
  }

  /** @returns undefined where there is no such object or version, or where it has another size than `bytes` */
  async #read(
    place: ObjectPlace,
    versionId: string | undefined,
    bytes: number | null,
  ): Promise<Uint8Array | undefined> {
    const request = readRequest(place, versionId);
    const answer = await this.#client.send(new GetObjectCommand(request)).catch((cause: unknown) => {
      if (isGone(cause)) return undefined;
      throw objectFailure('memory.read_failed', cause);
    });
    if (answer === undefined) return undefined;
    if (bytes === null || answer.ContentLength === undefined || answer.ContentLength === bytes)
      return readBody(answer, 'memory.read_failed');
    discardBody(answer);
    return undefined;
  }

  #file(userKey: string, path: string): ObjectPlace {
    return { bucket: this.#bucket, key: memoryKey(userKey, path) };
  }
}

function manifestBytes(manifest: Manifest): Uint8Array {
  return encodeUtf8(`${JSON.stringify(manifestToJson(manifest), null, 1)}\n`);
}

function contentGone(entry: FileEntry): DefectError {
  return new DefectError('memory.content_gone', 'a file of a published version is missing or damaged', {
    details: { sha256: entry.sha256, bytes: entry.bytes },
  });
}
