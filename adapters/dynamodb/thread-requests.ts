import * as z from 'zod/mini';
import type { ThreadMark } from '../../core/ports/thread-store.ts';
import type { MemoryMode, Thread } from '../../core/thread/thread.ts';
import type { PutRequest, QueryRequest, StoredItem, UpdateRequest, Value } from './dynamo-table.ts';
import { aliases, dropNulls, parseItem } from './item-shape.ts';
import { itemKey, rangeOf } from './requests.ts';
import { SORT_KEYS, SORT_PREFIXES, userPartition } from './table.ts';

/** What a write is told from others by: the number of the write, and an id of its own. */
export interface ThreadStamp {
  readonly revision: number;
  readonly writeId: string;
}

export interface StoredThread {
  readonly thread: Thread;
  readonly stamp: ThreadStamp;
}

const MAYBE_TEXT = z.optional(z.string());
const MAYBE_INTEGER = z.optional(z.int());

const READING = z.optional(
  z.object({
    broken: z.int(),
    oversized: z.int(),
    torn_tail: z.boolean(),
    redactions: z.record(z.string(), z.int()),
  }),
);

const ITEM = z.object({
  revision: z.int(),
  write_id: z.string(),
  thread_id: z.string(),
  memory_mode: z.enum(['enabled', 'disabled', 'polluted']),
  source: z.string(),
  subagent: z.boolean(),
  ephemeral: z.boolean(),
  parent_thread_id: MAYBE_TEXT,
  agent_kind: z.string(),
  cwd: MAYBE_TEXT,
  repository: MAYBE_TEXT,
  project: z.string(),
  git_branch: MAYBE_TEXT,
  title: MAYBE_TEXT,
  created_at: z.int(),
  updated_at: z.int(),
  ended: z.boolean(),
  forgotten_at: MAYBE_INTEGER,
  requested_at: MAYBE_INTEGER,
  rollout_sha256: z.string(),
  rollout_bytes: z.int(),
  rollout_uploaded_at: z.int(),
  rollout_path: z.string(),
  rollout_order: MAYBE_TEXT,
  reading: READING,
});

const MARK = z.object({
  thread_id: z.string(),
  updated_at: z.int(),
  rollout_uploaded_at: z.int(),
  reading: READING,
});

/**
 * Stores a thread over the write that it was read from; null: where there is none. A tombstone gets no time to live: a
 * forgotten thread must never come back (DV-18).
 */
export function putThread(userKey: string, thread: Thread, writeId: string, over: ThreadStamp | null): PutRequest {
  const Item = {
    ...itemKey(userKey, SORT_KEYS.thread(thread.threadId)),
    ...writeThread(thread),
    revision: (over?.revision ?? 0) + 1,
    write_id: writeId,
  };
  if (over === null) return { Item, ConditionExpression: 'attribute_not_exists(pk)' };
  return {
    Item,
    ConditionExpression: '#revision = :revision AND #write_id = :over',
    ExpressionAttributeNames: aliases('revision', 'write_id'),
    ExpressionAttributeValues: { ':revision': over.revision, ':over': over.writeId },
  };
}

/** Changes the mode of a thread that exists and has another one. */
export function setMode(userKey: string, threadId: string, mode: MemoryMode, writeId: string): UpdateRequest {
  return {
    Key: itemKey(userKey, SORT_KEYS.thread(threadId)),
    UpdateExpression: 'SET #memory_mode = :mode, #write_id = :write_id ADD #revision :one',
    ConditionExpression: 'attribute_exists(pk) AND #memory_mode <> :mode',
    ExpressionAttributeNames: aliases('memory_mode', 'write_id', 'revision'),
    ExpressionAttributeValues: { ':mode': mode, ':write_id': writeId, ':one': 1 },
  };
}

/**
 * Threads by id, after `after` if given.
 * @returns undefined where no id can follow it
 */
export function listThreads(userKey: string, after: string | undefined): QueryRequest | undefined {
  if (after === undefined) return rangeOf(userKey, SORT_PREFIXES.thread);
  // A space is below, and a tilde above, every character of an id.
  const [from, to] = [`${SORT_KEYS.thread(after)} `, `${SORT_PREFIXES.thread}~`];
  if (after >= '~') return undefined;
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': userPartition(userKey), ':from': from, ':to': to },
    ConsistentRead: true,
  };
}

/** The marks of threads that are not forgotten. */
export function listMarks(userKey: string): QueryRequest {
  return {
    ...rangeOf(userKey, SORT_PREFIXES.thread),
    FilterExpression: 'attribute_not_exists(#forgotten_at)',
    ProjectionExpression: '#thread_id, #updated_at, #rollout_uploaded_at, #reading',
    ExpressionAttributeNames: aliases('forgotten_at', 'thread_id', 'updated_at', 'rollout_uploaded_at', 'reading'),
  };
}

export function readMark(stored: StoredItem): ThreadMark {
  const mark = parseItem('thread', MARK, stored);
  return {
    threadId: mark.thread_id,
    updatedAt: mark.updated_at,
    uploadedAt: mark.rollout_uploaded_at,
    redactions: mark.reading?.redactions ?? {},
  };
}

/** @throws DefectError `table.item_unreadable` naming the attribute */
export function readThread(stored: StoredItem): StoredThread {
  const item = parseItem('thread', ITEM, stored);
  const thread: Thread = {
    threadId: item.thread_id,
    memoryMode: item.memory_mode,
    source: item.source,
    subagent: item.subagent,
    ephemeral: item.ephemeral,
    parentThreadId: item.parent_thread_id ?? null,
    agentKind: item.agent_kind,
    cwd: item.cwd ?? null,
    repository: item.repository ?? null,
    project: item.project,
    gitBranch: item.git_branch ?? null,
    title: item.title ?? null,
    createdAt: item.created_at,
    updatedAt: item.updated_at,
    ended: item.ended,
    forgottenAt: item.forgotten_at ?? null,
    requestedAt: item.requested_at ?? null,
    rollout: {
      sha256: item.rollout_sha256,
      bytes: item.rollout_bytes,
      uploadedAt: item.rollout_uploaded_at,
      path: item.rollout_path,
      order: item.rollout_order ?? null,
    },
    reading: readReading(item.reading),
  };
  return { thread, stamp: { revision: item.revision, writeId: item.write_id } };
}

function readReading(stored: z.infer<typeof ITEM>['reading']): Thread['reading'] {
  if (stored === undefined) return null;
  const { torn_tail: tornTail, ...counts } = stored;
  return { ...counts, tornTail };
}

function writeReading(reading: Thread['reading']): Value {
  if (reading === null) return null;
  const { broken, oversized, tornTail, redactions } = reading;
  return { broken, oversized, torn_tail: tornTail, redactions };
}

function writeThread(thread: Thread): Record<string, Value> {
  const { rollout } = thread;
  const attributes = dropNulls({
    thread_id: thread.threadId,
    memory_mode: thread.memoryMode,
    source: thread.source,
    subagent: thread.subagent,
    ephemeral: thread.ephemeral,
    parent_thread_id: thread.parentThreadId,
    agent_kind: thread.agentKind,
    cwd: thread.cwd,
    repository: thread.repository,
    project: thread.project,
    git_branch: thread.gitBranch,
    title: thread.title,
    created_at: thread.createdAt,
    updated_at: thread.updatedAt,
    ended: thread.ended,
    forgotten_at: thread.forgottenAt,
    requested_at: thread.requestedAt,
    rollout_sha256: rollout.sha256,
    rollout_bytes: rollout.bytes,
    rollout_uploaded_at: rollout.uploadedAt,
    rollout_path: rollout.path,
    rollout_order: rollout.order,
    reading: writeReading(thread.reading),
  });
  // Texts of a rollout may hold half a character, which the wire does not take.
  const entries = Object.entries(attributes);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  );
}
