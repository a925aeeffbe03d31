import type * as z from 'zod/mini';
import type { StoredItem, Value } from './dynamo-table.ts';
import { unreadableItem } from './failure.ts';

/**
 * Reads a stored item by its shape.
 * @param kind of item, such as `thread`
 * @throws DefectError `table.item_unreadable` naming the attribute
 */
export function parseItem<Shape extends z.ZodMiniType>(kind: string, shape: Shape, stored: StoredItem): z.infer<Shape> {
  const reading = shape.safeParse(stored);
  if (reading.success) return reading.data;
  throw unreadableItem(kind, String(reading.error.issues[0]?.path[0] ?? ''));
}

/** What is null is not stored. */
export function dropNulls(attributes: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
}

/** Stand-ins for attribute names in an expression, `#name` for `name`: many plain words are reserved there. */
export function aliases(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`#${name}`, name]));
}
