import { isObject, type JsonObject, setOwn } from './json-value.ts';

/** A piece of an object that holds a whole session, in the order it stood in. */
export type SessionPiece =
  | { readonly kind: 'head'; readonly fields: JsonObject; readonly begins: boolean }
  | { readonly kind: 'element'; readonly element: unknown };

/** Whether an object holds one of the lists, with records in it or empty. */
export function holdsList(record: JsonObject, lists: ReadonlySet<string>): boolean {
  return Object.entries(record).some(([key, value]) => isRecordList(key, value, lists));
}

/** The pieces of an object that was read whole: the same that the document splitter finds in one it streams. */
export function* takeApart(record: JsonObject, lists: ReadonlySet<string>): Generator<SessionPiece> {
  let fields: Record<string, unknown> = {};
  let begins = true;
  for (const [key, value] of Object.entries(record)) {
    if (!isRecordList(key, value, lists)) {
      setOwn(fields, key, value);
      continue;
    }
    if (begins || Object.keys(fields).length > 0) yield { kind: 'head', fields, begins };
    fields = {};
    begins = false;
    for (const element of value) yield { kind: 'element', element };
  }
  if (Object.keys(fields).length > 0) yield { kind: 'head', fields, begins };
}

function isRecordList(key: string, value: unknown, lists: ReadonlySet<string>): value is readonly unknown[] {
  return lists.has(key) && Array.isArray(value) && (value.length === 0 || isObject(value[0]));
}
