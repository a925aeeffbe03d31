import { createHash } from 'node:crypto';
import { noSuchKey, s3Error } from './fake-s3-errors.ts';

/** One version of an object, or a delete marker. */
export interface StoredVersion {
  readonly key: string;
  readonly versionId: string;
  readonly deleteMarker: boolean;
  body: Uint8Array;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  /** As a header has it. */
  readonly tagging: string | undefined;
  /** Base64, as the uploader gave it and as it was found right; with `-<parts>` behind it after a multipart upload. */
  readonly checksumSha256: string | undefined;
  /** ms; whole seconds, as S3 tells it. */
  readonly lastModified: number;
}

export interface NewObject {
  readonly body: Uint8Array;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly contentType?: string | undefined;
  readonly tagging?: string | undefined;
  readonly checksumSha256?: string | undefined;
  readonly etag?: string;
}

export interface WriteConditions {
  readonly ifNoneMatch?: string | undefined;
  readonly ifMatch?: string | undefined;
}

export interface FakeBucketContext {
  readonly now: () => number;
  readonly nextVersionId: () => string;
}

/** One bucket: every version of every key, strongly consistent. Without versioning there is one version `null` a key. */
export class FakeBucket {
  readonly name: string;
  readonly versioned: boolean;
  readonly #context: FakeBucketContext;
  /** Newest first. */
  readonly #versions = new Map<string, StoredVersion[]>();

  constructor(name: string, versioned: boolean, context: FakeBucketContext) {
    this.name = name;
    this.versioned = versioned;
    this.#context = context;
  }

  put(key: string, object: NewObject, conditions: WriteConditions = {}): StoredVersion {
    this.#checkConditions(key, conditions);
    return this.#add({
      key,
      versionId: this.#nextId(),
      deleteMarker: false,
      body: object.body,
      etag: object.etag ?? `"${createHash('md5').update(object.body).digest('hex')}"`,
      metadata: object.metadata ?? {},
      contentType: object.contentType,
      tagging: object.tagging,
      checksumSha256: object.checksumSha256,
      lastModified: this.#now(),
    });
  }

  /** Newest version of a key, a delete marker included. */
  newest(key: string): StoredVersion | undefined {
    return this.#versions.get(key)?.[0];
  }

  /** The object a plain read sees. */
  current(key: string): StoredVersion | undefined {
    const newest = this.newest(key);
    return newest?.deleteMarker === true ? undefined : newest;
  }

  version(key: string, versionId: string): StoredVersion | undefined {
    return this.#versions.get(key)?.find((version) => version.versionId === versionId);
  }

  /** What a read by key and maybe version id finds; `missing` makes the 404 of the command. */
  find(key: string, versionId: string | undefined, missing: (behindMarker: boolean) => Error = noSuchKey) {
    if (versionId === undefined) {
      const current = this.current(key);
      if (current === undefined) throw missing(this.newest(key) !== undefined);
      return current;
    }
    if (versionId !== 'null' && !/^v\d{10}$/.test(versionId))
      throw s3Error('InvalidArgument', 400, 'Invalid version id specified');
    const version = this.version(key, versionId);
    if (version === undefined) throw s3Error('NoSuchVersion', 404);
    if (version.deleteMarker) throw s3Error('MethodNotAllowed', 405);
    return version;
  }

  /** Deletes a version for good, or hides the key behind a marker. @returns undefined where there was nothing to delete */
  delete(key: string, versionId: string | undefined): StoredVersion | undefined {
    if (versionId !== undefined || !this.versioned) {
      const gone = this.version(key, versionId ?? 'null');
      if (gone !== undefined) this.#drop(gone);
      return gone;
    }
    const marker = {
      body: new Uint8Array(),
      etag: '',
      metadata: {},
      contentType: undefined,
      tagging: undefined,
      checksumSha256: undefined,
    };
    const lastModified = this.#now();
    return this.#add({ ...marker, key, versionId: this.#nextId(), deleteMarker: true, lastModified });
  }

  /** Every version, by key in UTF-8 order, newest first within a key. */
  allVersions(prefix = ''): readonly StoredVersion[] {
    return this.keys(prefix).flatMap((key) => this.#versions.get(key) ?? []);
  }

  keys(prefix = ''): readonly string[] {
    const keys = [...this.#versions.keys()].filter((key) => key.startsWith(prefix));
    return keys.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  }

  #add(version: StoredVersion): StoredVersion {
    const older = this.versioned ? (this.#versions.get(version.key) ?? []) : [];
    this.#versions.set(version.key, [version, ...older]);
    return version;
  }

  #drop(version: StoredVersion): void {
    const rest = (this.#versions.get(version.key) ?? []).filter((item) => item !== version);
    if (rest.length === 0) this.#versions.delete(version.key);
    else this.#versions.set(version.key, rest);
  }

  #checkConditions(key: string, { ifNoneMatch, ifMatch }: WriteConditions): void {
    const current = this.current(key);
    if (ifNoneMatch !== undefined && ifNoneMatch !== '*') throw s3Error('NotImplemented', 501);
    if (ifNoneMatch === '*' && current !== undefined) throw s3Error('PreconditionFailed', 412);
    if (ifMatch === undefined) return;
    if (current === undefined) throw noSuchKey(this.newest(key) !== undefined);
    if (stripQuotes(current.etag) !== stripQuotes(ifMatch)) throw s3Error('PreconditionFailed', 412);
  }

  #nextId(): string {
    return this.versioned ? this.#context.nextVersionId() : 'null';
  }

  #now(): number {
    return Math.floor(this.#context.now() / 1_000) * 1_000;
  }
}

function stripQuotes(etag: string): string {
  return etag.replace(/^"|"$/g, '');
}
