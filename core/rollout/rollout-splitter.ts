import { DocumentProbe, type FileShape } from './document-probe.ts';
import { type DocumentSink, DocumentSplitter } from './document-splitter.ts';
import { type RecordSink, RecordSplitter } from './record-splitter.ts';

export interface RolloutLimits {
  /** Bytes of one record, whether it is a line or an element of a document. */
  readonly recordBytes: number;
  /** Names of the lists of a document's object whose elements are records. */
  readonly lists: ReadonlySet<string>;
}

/**
 * Cuts a rollout into records: lines, or the elements of a JSON document, as its first bytes tell. What follows a document
 * in the same file is read as lines.
 */
export class RolloutSplitter {
  readonly #lines: RecordSplitter;
  readonly #document: DocumentSplitter;
  readonly #probe: DocumentProbe;
  #shape: FileShape | undefined;
  /** The start of the file while its shape is not known. */
  #waiting: Uint8Array[] = [];
  #bytes = 0;

  constructor(sink: RecordSink & DocumentSink, limits: RolloutLimits) {
    this.#lines = new RecordSplitter(sink, limits.recordBytes);
    this.#document = new DocumentSplitter(sink, { elementBytes: limits.recordBytes, lists: limits.lists });
    this.#probe = new DocumentProbe(limits.lists);
  }

  /** Bytes seen so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Records over the limit so far. */
  get oversized(): number {
    return this.#lines.oversized + this.#document.oversized;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#shape !== undefined) {
      this.#feed(chunk);
      return;
    }
    this.#shape = this.#probe.look(chunk);
    if (this.#shape === undefined) this.#waiting.push(chunk.slice());
    else {
      this.#feedWaiting();
      this.#feed(chunk);
    }
  }

  /** The stream is over. @returns true when it ended inside a document */
  end(): boolean {
    this.#feedWaiting();
    const torn = this.#shape === 'document' && this.#document.end();
    this.#lines.end();
    return torn;
  }

  #feedWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const part of waiting) this.#feed(part);
  }

  #feed(chunk: Uint8Array): void {
    if (this.#shape !== 'document' || this.#document.done) {
      this.#lines.push(chunk);
      return;
    }
    const taken = this.#document.push(chunk);
    if (taken < chunk.length) this.#lines.push(chunk.subarray(taken));
  }
}
