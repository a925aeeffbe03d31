import * as z from 'zod/mini';
import { sha256Hex } from '../../core/ids.ts';
import type { Receipt } from '../../core/ports/receipt-store.ts';
import { LIMITS } from '../../core/settings.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { ItemKey, PutRequest, StoredItem } from './dynamo-table.ts';
import { aliases, parseItem } from './item-shape.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS, TTL_ATTRIBUTE } from './table.ts';

export interface StoredReceipt {
  readonly receipt: Receipt;
  readonly keptAt: number;
  readonly writeId: string;
}

const ITEM = z.object({ fingerprint: z.string(), answer: z.string(), kept_at: z.int(), write_id: z.string() });

/** A key is hashed: it may hold any character, and would tell what it is for. */
export function receiptKey(userKey: string, key: string): ItemKey {
  return itemKey(userKey, SORT_KEYS.receipt(sha256Hex(key)));
}

/** Puts a receipt where there is none, or only one whose life is over: the table removes those when it likes. */
export function putReceipt(
  place: { readonly userKey: string; readonly key: string },
  receipt: Receipt,
  now: number,
  writeId: string,
): PutRequest {
  return {
    Item: {
      ...receiptKey(place.userKey, place.key),
      fingerprint: receipt.fingerprint,
      answer: receipt.answer,
      kept_at: now,
      write_id: writeId,
      [TTL_ATTRIBUTE]: Math.ceil((now + LIMITS.receiptMs) / SECOND_MS),
    },
    ConditionExpression: 'attribute_not_exists(pk) OR #kept_at <= :over',
    ExpressionAttributeNames: aliases('kept_at'),
    ExpressionAttributeValues: { ':over': now - LIMITS.receiptMs },
  };
}

/** @throws DefectError `table.item_unreadable` naming the attribute */
export function readReceipt(stored: StoredItem): StoredReceipt {
  const item = parseItem('receipt', ITEM, stored);
  const receipt = { fingerprint: item.fingerprint, answer: item.answer };
  return { receipt, keptAt: item.kept_at, writeId: item.write_id };
}
