import { type DocumentSink, DocumentSplitter } from '../../core/rollout/document-splitter.ts';
import type { JsonObject } from '../../core/rollout/json-value.ts';

/** What the document splitter told, in order. */
export interface SplitDocument {
  readonly elements: readonly unknown[];
  readonly heads: readonly { readonly fields: JsonObject; readonly begins: boolean }[];
  readonly torn: boolean;
  readonly oversized: number;
  /** What followed the document. */
  readonly rest: string;
}

/** Splits a document that comes in chunks of the given size; an element that is no JSON is told as `undefined`. */
export function splitDocument(bytes: Uint8Array, chunkBytes: number, elementBytes = 1_000_000): SplitDocument {
  const elements: unknown[] = [];
  const heads: { fields: JsonObject; begins: boolean }[] = [];
  const sink: DocumentSink = {
    element: (buffer, from, to) => elements.push(parse(new TextDecoder().decode(buffer.subarray(from, to)))),
    head: (fields, begins) => heads.push({ fields, begins }),
  };
  const splitter = new DocumentSplitter(sink, { elementBytes, lists: new Set(['messages', 'traj']) });
  let rest = '';
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.slice(at, at + chunkBytes);
    const taken = splitter.done ? 0 : splitter.push(chunk);
    rest += new TextDecoder().decode(chunk.subarray(taken));
    chunk.fill(0x21); // the splitter may keep nothing of a buffer that is not its own
  }
  const torn = splitter.end();
  return { elements, heads, torn, oversized: splitter.oversized, rest };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
