import { StillroomError } from '../errors.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { ReplayRef, ReplayStore } from '../ports/replay-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import { findForgotten } from './keep-run.ts';
import type { Head } from './manifest.ts';
import { parseRunRecord, threadsOf } from './run-record.ts';

const READS_AT_ONCE = 4;

/**
 * Removes the records of runs whose inputs rested on a thread (behaviours D-01, DV-18). Call it after the tombstone, since a run
 * that keeps one at this moment looks for that. A record that cannot be read goes as well: nobody can say what it rests on.
 * @returns how many went
 */
export async function forgetReplays(
  replays: Pick<ReplayStore, 'list' | 'read' | 'remove'>,
  userKey: string,
  threadId: string,
): Promise<number> {
  const refs = await replays.list(userKey);
  const gone: ReplayRef[] = [];
  for (let at = 0; at < refs.length; at += READS_AT_ONCE) {
    const batch = refs.slice(at, at + READS_AT_ONCE);
    const rests = await Promise.all(batch.map((ref) => mayRestOn(replays, { userKey, threadId, ref })));
    gone.push(...batch.filter((_, index) => rests[index]));
  }
  if (gone.length > 0) await replays.remove(userKey, gone);
  return gone.length;
}

/** Removes all records of a user: nothing that they led to is published any more. @returns how many went */
export async function clearReplays(replays: Pick<ReplayStore, 'list' | 'remove'>, userKey: string): Promise<number> {
  const refs = await replays.list(userKey);
  if (refs.length > 0) await replays.remove(userKey, refs);
  return refs.length;
}

/**
 * Removes records that are too old, of an epoch that a reset ended, and the newest one where a thread it rests on was forgotten: what a run left that died between keeping a record and looking whether it may stay. Reads no record.
 * @returns how many went
 */
export async function tidyReplays(
  ports: {
    readonly replays: Pick<ReplayStore, 'list' | 'remove'>;
    readonly memories: Pick<MemoryStore, 'manifest'>;
    readonly threads: Pick<ThreadStore, 'getMany'>;
  },
  userKey: string,
  { head, now }: { readonly head: Head; readonly now: number },
): Promise<number> {
  const refs = await ports.replays.list(userKey);
  const gone = refs.filter((ref) => isExpired(ref, now) || ref.epoch < head.epoch);
  const newest = refs.findLast((ref) => ref.version <= head.version && !gone.includes(ref));
  if (newest !== undefined) {
    const manifest = await ports.memories.manifest(userKey, newest.version);
    const threads = [...(manifest?.inputs.map((input) => input.threadId) ?? []), ...(manifest?.removed ?? [])];
    if ((await findForgotten(ports, userKey, threads)).length > 0) gone.push(newest);
  }
  if (gone.length > 0) await ports.replays.remove(userKey, gone);
  return gone.length;
}

/** Whether a record is older than records are kept. */
export function isExpired(ref: Pick<ReplayRef, 'createdAt'>, now: number): boolean {
  return ref.createdAt < now - LIMITS.replayMs;
}

async function mayRestOn(
  replays: Pick<ReplayStore, 'read'>,
  { userKey, threadId, ref }: { readonly userKey: string; readonly threadId: string; readonly ref: ReplayRef },
): Promise<boolean> {
  try {
    const text = await replays.read(userKey, ref);
    return text !== undefined && threadsOf(parseRunRecord(text, ref)).includes(threadId);
  } catch (error) {
    if (error instanceof StillroomError && error.code === 'replay.unreadable') return true;
    throw error;
  }
}
