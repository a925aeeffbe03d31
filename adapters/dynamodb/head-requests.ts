import * as z from 'zod/mini';
import type { Head, PendingNote, ProjectPlace } from '../../core/consolidation/manifest.ts';
import type { SwitchRequest } from '../../core/ports/head-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { utf8Length } from '../../core/text.ts';
import type { StoredItem, UpdateRequest } from './dynamo-table.ts';
import { aliases, parseItem } from './item-shape.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS } from './table.ts';

/** Of an item's 400 KB: what notes may take, and what places may. Summary, names and numbers fit into the rest. */
const NOTES_BYTES = 300 * 1_024;
const PLACES_BYTES = 40 * 1_024;
/** What the table counts for an entry of a list beside its two texts: names of attributes and their overhead. */
const ENTRY_BYTES = 32;

const ITEM = z.object({
  version: z.optional(z.int()),
  published_at: z.optional(z.nullable(z.int())),
  summary: z.optional(z.string()),
  pending_notes: z.optional(z.array(z.object({ path: z.string(), text: z.string() }))),
  notes_left_out: z.optional(z.int()),
  places: z.optional(z.array(z.object({ directory: z.string(), project: z.string() }))),
  epoch: z.optional(z.int()),
  fence: z.optional(z.string()),
});

/**
 * Reads the head's item; a fence may have been set before anything was published.
 * @throws DefectError `table.item_unreadable` naming the attribute
 */
export function readHead(stored: StoredItem | undefined): Head {
  const item = parseItem('head', ITEM, stored ?? {});
  const leftOut = item.notes_left_out ?? 0;
  return {
    version: item.version ?? 0,
    publishedAt: item.published_at ?? null,
    summary: item.summary ?? '',
    pendingNotes: item.pending_notes ?? [],
    ...(leftOut > 0 && { notesLeftOut: leftOut }),
    places: item.places ?? [],
    epoch: item.epoch ?? 0,
    fence: item.fence ?? null,
  };
}

/** The id of the last switch or reset. */
export function writeIdOf(stored: StoredItem | undefined): unknown {
  return stored?.['write_id'];
}

export function setFence(userKey: string, token: string): UpdateRequest {
  return {
    Key: itemKey(userKey, SORT_KEYS.head),
    UpdateExpression: 'SET #fence = :fence',
    ExpressionAttributeNames: aliases('fence'),
    ExpressionAttributeValues: { ':fence': token },
  };
}

/** The commit: version, epoch and, where there is one, the fence must be what the publisher saw. Absent counts as 0. */
export function switchHead(userKey: string, request: SwitchRequest, writeId: string): UpdateRequest {
  const { from, epoch, fence, to } = request;
  const fitted = fitHead(to);
  const is = (name: string, value: number): string =>
    value === 0 ? `(attribute_not_exists(#${name}) OR #${name} = :${name}_seen)` : `#${name} = :${name}_seen`;
  const conditions = [is('version', from), is('epoch', epoch), ...(fence === null ? [] : ['#fence = :fence'])];
  return {
    Key: itemKey(userKey, SORT_KEYS.head),
    UpdateExpression:
      'SET #version = :version, #published_at = :published_at, #summary = :summary, #pending_notes = :pending_notes, ' +
      '#notes_left_out = :notes_left_out, #places = :places, #epoch = :epoch_seen, #write_id = :write_id',
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: aliases(
      ...['version', 'published_at', 'summary', 'pending_notes', 'notes_left_out', 'places', 'epoch', 'write_id'],
      ...(fence === null ? [] : ['fence']),
    ),
    ExpressionAttributeValues: {
      ':version_seen': from,
      ':epoch_seen': epoch,
      ...(fence !== null && { ':fence': fence }),
      ':version': to.version,
      ':published_at': to.publishedAt,
      ':summary': fitted.summary,
      ':pending_notes': fitted.pendingNotes,
      ':notes_left_out': fitted.notesLeftOut,
      ':places': fitted.places,
      ':write_id': writeId,
    },
  };
}

/** Nothing published, no fence, the next epoch; once for each write id. */
export function resetHead(userKey: string, writeId: string): UpdateRequest {
  return {
    Key: itemKey(userKey, SORT_KEYS.head),
    UpdateExpression:
      'SET #write_id = :write_id ADD #epoch :one ' +
      'REMOVE #version, #published_at, #summary, #pending_notes, #notes_left_out, #places, #fence',
    ConditionExpression: 'attribute_not_exists(#write_id) OR #write_id <> :write_id',
    ExpressionAttributeNames: aliases(
      ...['write_id', 'epoch', 'version', 'published_at', 'summary', 'pending_notes', 'notes_left_out', 'places'],
      'fence',
    ),
    ExpressionAttributeValues: { ':write_id': writeId, ':one': 1 },
  };
}

export interface FittedHead {
  readonly summary: string;
  readonly pendingNotes: readonly PendingNote[];
  readonly notesLeftOut: number;
  readonly places: readonly ProjectPlace[];
}

/**
 * What of a head fits into one item, since nothing may fail any more after a note was accepted: the newest notes (the last in
 * their order), the rest counted; the first places. A summary over its limit, which only a person can have written, is left
 * out: a read then takes it from its file.
 */
export function fitHead(to: Pick<Head, 'summary' | 'pendingNotes' | 'places'>): FittedHead {
  const newest = takeWhileFits(to.pendingNotes.toReversed(), NOTES_BYTES, ({ path, text }) => [
    path,
    text,
  ]).toReversed();
  return {
    summary: utf8Length(to.summary) > LIMITS.summaryFileBytes ? '' : to.summary,
    pendingNotes: newest,
    notesLeftOut: to.pendingNotes.length - newest.length,
    places: takeWhileFits(to.places, PLACES_BYTES, ({ directory, project }) => [directory, project]),
  };
}

function takeWhileFits<T>(
  items: readonly T[],
  limitBytes: number,
  textsOf: (item: T) => readonly string[],
): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += textsOf(item).reduce((sum, text) => sum + utf8Length(text), ENTRY_BYTES);
    return bytes > limitBytes;
  });
  return end < 0 ? items : items.slice(0, end);
}
