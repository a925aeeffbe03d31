import { isThreadId } from '../../core/ids.ts';
import type { ReplayRef } from '../../core/ports/replay-store.ts';

/**
 * Object keys of both buckets (storage.md, "S3"). Every prefix ends in `/`, so that `user1` never reaches `user10`. Shared
 * with `infra/`; nothing here touches AWS.
 */
export const ROLLOUTS_PREFIX = 'rollouts/';
export const USERS_PREFIX = 'users/';
/**
 * The tag of records of runs: a lifecycle rule names a prefix and tags, and the user key stands in front of what tells these keys
 * from others.
 */
export const REPLAY_TAG = { key: 'stillroom', value: 'replay' } as const;

export function rolloutsPrefix(userKey: string): string {
  return `${ROLLOUTS_PREFIX}${userKey}/`;
}

export function rolloutKey(userKey: string, threadId: string): string {
  return `${rolloutsPrefix(userKey)}${threadId}.jsonl`;
}

/** Whose rollout lies under a key, and of which thread; undefined for every key that is not exactly of that form. */
export function parseRolloutKey(key: string): { readonly userKey: string; readonly threadId: string } | undefined {
  const match = /^rollouts\/([A-Za-z0-9._~-]{1,128})\/([^/]+)\.jsonl$/.exec(key);
  const [userKey, threadId] = [match?.[1], match?.[2]];
  if (userKey === undefined || threadId === undefined || !isThreadId(threadId)) return undefined;
  return userKey === '.' || userKey === '..' ? undefined : { userKey, threadId };
}

export function userPrefix(userKey: string): string {
  return `${USERS_PREFIX}${userKey}/`;
}

export function memoriesPrefix(userKey: string): string {
  return `${userPrefix(userKey)}memories/`;
}

/** @param path of a file of the memory, as `core/workspace/workspace-path.ts` allows it */
export function memoryKey(userKey: string, path: string): string {
  return `${memoriesPrefix(userKey)}${path}`;
}

export function manifestsPrefix(userKey: string): string {
  return `${userPrefix(userKey)}manifests/`;
}

export function manifestKey(userKey: string, version: number): string {
  return `${manifestsPrefix(userKey)}${tenDigits(version)}.json`;
}

/** The number of a manifest of this user; undefined for every other key. */
export function parseManifestKey(userKey: string, key: string): number | undefined {
  const prefix = manifestsPrefix(userKey);
  const digits = key.startsWith(prefix) ? /^(\d{10})\.json$/.exec(key.slice(prefix.length))?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

export function replaysPrefix(userKey: string): string {
  return `${userPrefix(userKey)}replays/`;
}

/** The record of the run that made a version. */
export function replayKey(userKey: string, { epoch, version, createdAt }: ReplayRef): string {
  return `${replaysPrefix(userKey)}${tenDigits(epoch)}-${tenDigits(version)}-${createdAt}.json.gz`;
}

/** Which record of this user lies under a key; undefined for every other key. */
export function parseReplayKey(userKey: string, key: string): ReplayRef | undefined {
  const prefix = replaysPrefix(userKey);
  const name = key.startsWith(prefix) ? key.slice(prefix.length) : '';
  const [, epoch, version, createdAt] = /^(\d{10})-(\d{10})-(\d{1,16})\.json\.gz$/.exec(name) ?? [];
  if (epoch === undefined || version === undefined || createdAt === undefined) return undefined;
  return { epoch: Number(epoch), version: Number(version), createdAt: Number(createdAt) };
}

function tenDigits(number: number): string {
  return String(number).padStart(10, '0');
}

export function bodiesPrefix(userKey: string): string {
  return `${userPrefix(userKey)}bodies/`;
}

/** Whose snapshot a body of this user holds; undefined for every other key. */
export function parseBodyKey(
  userKey: string,
  key: string,
): { readonly threadId: string; readonly sourceUpdatedAt: number } | undefined {
  const prefix = bodiesPrefix(userKey);
  const [, threadId, digits] =
    /^([^/]+)\/(\d{1,16})\.json\.zst$/.exec(key.startsWith(prefix) ? key.slice(prefix.length) : '') ?? [];
  if (threadId === undefined || digits === undefined || !isThreadId(threadId)) return undefined;
  return { threadId, sourceUpdatedAt: Number(digits) };
}

/** Texts of a stage-one output that are too large for a table item. */
export function bodyKey(userKey: string, threadId: string, sourceUpdatedAt: number): string {
  return `${bodiesPrefix(userKey)}${threadId}/${sourceUpdatedAt}.json.zst`;
}
