import { sha256Hex } from '../../core/ids.ts';

/**
 * Names of the one table (storage.md, "DynamoDB"). Shared with `infra/`, so that what is deployed and what is asked for cannot
 * drift apart; nothing here touches AWS.
 */
export const PARTITION_KEY = 'pk';
export const SORT_KEY = 'sk';
/** Time to live, seconds since the epoch. */
export const TTL_ATTRIBUTE = 'expires_at';

/** Sparse index of jobs that have something to do: keys only. */
export const DUE_INDEX = 'due';
export const DUE_PARTITION_KEY = 'due_pk';
export const DUE_SORT_KEY = 'due_at';
/** Due jobs of all users are spread over this many partitions. */
export const DUE_SHARDS = 16;

/** Every sort key by what it holds. */
export const SORT_KEYS = {
  consolidation: 'consolidation',
  erase: 'erase',
  head: 'head',
  settings: 'settings',
  /** A step's answer; sorts before everything that a selection reads. */
  answer: (runId: string, name: string) => `answer#${runId}#${name}`,
  body: (threadId: string, sourceUpdatedAt: number) => `body#${threadId}#${sourceUpdatedAt}`,
  receipt: (keyHash: string) => `receipt#${keyHash}`,
  stageOne: (threadId: string) => `stage1#${threadId}`,
  thread: (threadId: string) => `thread#${threadId}`,
  usage: (day: string) => `usage#${day}`,
} as const;

export const SORT_PREFIXES = { body: 'body#', receipt: 'receipt#', stageOne: 'stage1#', thread: 'thread#' } as const;

/** All items of a user share it. The `#` after `user` cannot be in a user key, so no key reaches another user's. */
export function userPartition(userKey: string): string {
  return `user#${userKey}`;
}

/** @returns undefined for a partition that is no user's */
export function userOfPartition(partition: string): string | undefined {
  return partition.startsWith('user#') ? partition.slice('user#'.length) : undefined;
}

/** The due partition of a user's jobs of one kind. */
export function duePartition(phase: 'phase1' | 'phase2', userKey: string): string {
  return dueShard(phase, Number.parseInt(sha256Hex(userKey).slice(0, 4), 16) % DUE_SHARDS);
}

export function dueShard(phase: 'phase1' | 'phase2', shard: number): string {
  return `${phase}#${shard}`;
}
