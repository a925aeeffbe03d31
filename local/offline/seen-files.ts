import * as z from 'zod';
import type { NewCall, Turn } from './wire.ts';

const PAGE_LINES = 200;
/** What the loop puts in place of the content of an old write. */
const DROPPED_CONTENT = '[dropped from this conversation';
const CUT_MARK = /…\d+ tokens truncated…/;

const readCall = z.object({ path: z.string(), line_offset: z.number().nullish(), max_lines: z.number().nullish() });
const readAnswer = z.object({ start_line_number: z.number(), content: z.string(), truncated: z.boolean() });
const listCall = z.object({ path: z.string().nullish(), cursor: z.string().nullish() });
const listAnswer = z.object({
  entries: z.array(z.object({ path: z.string(), entry_type: z.string() })),
  next_cursor: z.string().nullish(),
});
const writeCall = z.object({ path: z.string(), content: z.string() });
const errorAnswer = z.object({ error: z.object({ code: z.string() }) });

/** A page of a file, or null where the tool said that there is no such file. */
interface Page {
  readonly at: number;
  readonly offset: number;
  readonly maxLines: number;
  readonly answer: z.infer<typeof readAnswer> | null;
}

/** A write of the run; `content` null = it was dropped to save space. */
interface Write {
  readonly at: number;
  readonly path: string;
  readonly content: string | null;
  readonly done: boolean;
}

/** A file as far as the conversation shows it: whole, known to be absent, or what to call next. */
export type Seen =
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'absent' }
  /** `started`: some pages were read already. */
  | { readonly kind: 'unread'; readonly next: NewCall; readonly started: boolean };

/**
 * What the conversation of a run shows of the workspace. Nothing is kept between requests: results that were dropped to
 * save space are unread again.
 */
export class SeenFiles {
  readonly #pages = new Map<string, Page[]>();
  /** Where reads were asked for, whether or not their results are still there. */
  readonly #asked = new Map<string, number[]>();
  readonly #lists = new Map<string, z.infer<typeof listAnswer> | null>();
  readonly #writes: Write[] = [];

  constructor(turns: readonly Turn[]) {
    const results = new Map(
      turns.flatMap((turn) => (turn.kind === 'result' ? [[turn.callId, turn.text] as const] : [])),
    );
    turns.forEach((turn, at) => {
      if (turn.kind === 'call') this.#take(turn, at, parse(results.get(turn.callId) ?? ''));
    });
  }

  /** Writes of a path, in order; `at` is the place in the conversation. */
  writes(path: string): readonly Write[] {
    return this.#writes.filter((write) => write.path === path);
  }

  /** True when a read of the path was asked for before a place in the conversation. */
  wasReadBefore(path: string, at: number): boolean {
    return (this.#asked.get(path) ?? []).some((asked) => asked < at);
  }

  /** The text of a file as its pages say that were read after `from` and before `to`, places in the conversation. */
  file(path: string, from = -1, to = Number.POSITIVE_INFINITY): Seen {
    const inTime = (this.#pages.get(path) ?? []).filter((page) => page.at > from && page.at < to);
    let text = '';
    for (let offset = 1; ; ) {
      const page = inTime.findLast((candidate) => candidate.offset === offset);
      if (page === undefined) return { kind: 'unread', next: readPage(path, offset, PAGE_LINES), started: offset > 1 };
      if (page.answer === null) return offset === 1 ? { kind: 'absent' } : { kind: 'whole', text };
      if (CUT_MARK.test(page.answer.content) && page.maxLines > 1 && page.answer.truncated)
        return { kind: 'unread', next: readPage(path, offset, Math.ceil(page.maxLines / 4)), started: true };
      text += page.answer.content;
      if (!page.answer.truncated) return { kind: 'whole', text };
      offset += Math.max(1, page.answer.content.split('\n').length - 1);
    }
  }

  /** Calls that read a file of at most `pages` pages at once; pages past its end answer with an error, which ends it. */
  wholeFile(path: string, pages: number): readonly NewCall[] {
    return Array.from({ length: pages }, (_, page) => readPage(path, 1 + page * PAGE_LINES, PAGE_LINES));
  }

  /** Paths of the files in a folder; `unread` says what to call next. An absent folder is empty. */
  folder(
    path: string,
  ):
    | { readonly kind: 'listed'; readonly paths: readonly string[] }
    | { readonly kind: 'unread'; readonly next: NewCall } {
    const paths: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const answer: z.infer<typeof listAnswer> | null | undefined = this.#lists.get(`${path}\n${cursor ?? ''}`);
      if (answer === undefined)
        return { kind: 'unread', next: { name: 'list', arguments: { path, cursor, max_results: null } } };
      if (answer === null) return { kind: 'listed', paths };
      paths.push(...answer.entries.filter((entry) => entry.entry_type === 'file').map((entry) => entry.path));
      cursor = answer.next_cursor ?? null;
      if (cursor === null) return { kind: 'listed', paths };
    }
  }

  #take(call: Extract<Turn, { kind: 'call' }>, at: number, result: unknown): void {
    const args = parse(call.arguments);
    const failed = errorAnswer.safeParse(result).success;
    if (call.name === 'read') this.#takeRead(readCall.safeParse(args).data, at, result, failed);
    if (call.name === 'list') {
      const list = listCall.safeParse(args).data;
      const answer = failed ? null : listAnswer.safeParse(result).data;
      if (list && answer !== undefined) this.#lists.set(`${list.path ?? ''}\n${list.cursor ?? ''}`, answer);
    }
    const write = call.name === 'write' ? writeCall.safeParse(args).data : undefined;
    if (!write) return;
    const content = write.content.startsWith(DROPPED_CONTENT) ? null : write.content;
    this.#writes.push({ at, path: write.path, content, done: !failed });
  }

  #takeRead(call: z.infer<typeof readCall> | undefined, at: number, result: unknown, failed: boolean): void {
    if (call === undefined) return;
    this.#asked.set(call.path, [...(this.#asked.get(call.path) ?? []), at]);
    const answer = failed ? null : readAnswer.safeParse(result).data;
    if (answer === undefined) return;
    const page = { at, offset: call.line_offset ?? 1, maxLines: call.max_lines ?? PAGE_LINES, answer };
    this.#pages.set(call.path, [...(this.#pages.get(call.path) ?? []), page]);
  }
}

function readPage(path: string, offset: number, maxLines: number): NewCall {
  return { name: 'read', arguments: { path, line_offset: offset, max_lines: maxLines } };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // a result cut to its limit, or arguments that are none
  }
}
