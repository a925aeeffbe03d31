import * as z from 'zod/mini';
import type { SnapshotRef } from '../../core/extraction/stage-one-output.ts';
import type { StoredItem } from './dynamo-table.ts';
import { unreadableItem } from './failure.ts';
import { SORT_PREFIXES } from './table.ts';

const CONTENT = z.object({ content: z.optional(z.instanceof(Uint8Array)), on_shelf: z.optional(z.literal(true)) });
const LISTED = z.object({ sk: z.string(), write_id: z.string(), on_shelf: z.optional(z.literal(true)) });

/** Stored texts as a listing names them. */
export interface ListedBody {
  readonly ref: SnapshotRef;
  readonly writeId: string;
  readonly onShelf: boolean;
}

/**
 * The packed texts of an item, or that they lie on the shelf.
 * @throws DefectError `table.item_unreadable`
 */
export function readBodyItem(item: StoredItem): Uint8Array | 'on_shelf' {
  const reading = CONTENT.safeParse(item);
  const content = reading.success ? (reading.data.on_shelf ? 'on_shelf' : reading.data.content) : undefined;
  if (content === undefined) throw unreadableItem('body', 'content');
  return content;
}

/** @throws DefectError `table.item_unreadable` */
export function readListedBody(item: StoredItem): ListedBody {
  const reading = LISTED.safeParse(item);
  if (!reading.success) throw unreadableItem('body', String(reading.error.issues[0]?.path[0] ?? ''));
  const { sk, write_id, on_shelf } = reading.data;
  return { ref: refOf(sk), writeId: write_id, onShelf: on_shelf === true };
}

/** Thread ids hold no `#`. */
function refOf(sortKey: string): SnapshotRef {
  const match = /^([^#]+)#(\d+)$/.exec(sortKey.slice(SORT_PREFIXES.body.length));
  const [threadId, time] = [match?.[1], match?.[2]];
  if (threadId === undefined || time === undefined) throw unreadableItem('body', 'sk');
  return { threadId, sourceUpdatedAt: Number(time) };
}
