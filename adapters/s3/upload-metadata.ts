import type { UploadHints } from '../../core/thread/thread.ts';

/** S3 takes 2 KB of names and values of user metadata. */
const MAX_METADATA_BYTES = 2_048;
/** Longest text of one hint, characters; a longer one says nothing. */
const MAX_HINT_LENGTH = 1_024;
const LATEST_MS = 8_640_000_000_000_000;

/** User metadata of an uploaded rollout (storage.md): what its uploader says. */
export interface UploadMetadata {
  readonly threadId: string;
  readonly hints: UploadHints;
  /** Hex SHA-256 of the bytes, where the uploader knows it. */
  readonly sha256: string | null;
}

/**
 * As header values: percent-encoded, so that they are ASCII. What does not fit into S3's 2 KB is left out, the less telling
 * first: the rollout's own record says it as well.
 */
export function toMetadata({ threadId, hints, sha256 }: UploadMetadata): Record<string, string> {
  const said: readonly (readonly [string, string | null])[] = [
    ['thread-id', threadId],
    ['sha256', sha256],
    ['source-updated-at', hints.sourceUpdatedAt === null ? null : String(Math.trunc(hints.sourceUpdatedAt))],
    ['ended', hints.ended === null ? null : String(hints.ended)],
    ['source', hints.source],
    ['repository', hints.repository],
    ['cwd', hints.cwd],
    ['git-branch', hints.gitBranch],
  ];
  const metadata: Record<string, string> = {};
  let bytes = 0;
  for (const [name, text] of said) {
    if (text === null || text.length > MAX_HINT_LENGTH) continue;
    const value = encodeURIComponent(text.toWellFormed());
    if (bytes + name.length + value.length > MAX_METADATA_BYTES) continue;
    bytes += name.length + value.length;
    metadata[name] = value;
  }
  return metadata;
}

/** Reads what an uploader said; anything that is not as `toMetadata` writes it says nothing. */
export function toHints(metadata: Readonly<Record<string, string>> | undefined): UploadHints {
  const text = (name: string): string | null => decodeHint(metadata?.[name]);
  return {
    source: text('source'),
    cwd: text('cwd'),
    repository: text('repository'),
    gitBranch: text('git-branch'),
    sourceUpdatedAt: parseMs(metadata?.['source-updated-at']),
    ended: parseFlag(metadata?.['ended']),
  };
}

/**
 * The name of the stored bytes: the checksum that S3 keeps, else the one the uploader gave, else the ETag, which changes with
 * the content as well.
 */
export function contentName(head: {
  readonly ChecksumSHA256?: string | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
  readonly ETag?: string | undefined;
}): string {
  const checksum = Buffer.from(head.ChecksumSHA256 ?? '', 'base64');
  // A checksum of a multipart upload is one over its parts, with their number behind it.
  if (checksum.length === 32 && !head.ChecksumSHA256?.includes('-')) return checksum.toString('hex');
  const given = head.Metadata?.['sha256'];
  if (given !== undefined && /^[0-9a-f]{64}$/.test(given)) return given;
  return `etag:${(head.ETag ?? '').replaceAll('"', '')}`;
}

function decodeHint(value: string | undefined): string | null {
  if (value === undefined || value === '') return null;
  const text = decodeOnce(value);
  if (text === null || text.length > MAX_HINT_LENGTH || /\p{Cc}/u.test(text)) return null;
  return text;
}

function decodeOnce(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null; // the only failure: it is not percent-encoded UTF-8
  }
}

function parseMs(value: string | undefined): number | null {
  if (value === undefined || !/^\d{1,16}$/.test(value)) return null;
  const ms = Number(value);
  return ms <= LATEST_MS ? ms : null;
}

function parseFlag(value: string | undefined): boolean | null {
  if (value === 'true') return true;
  return value === 'false' ? false : null;
}
