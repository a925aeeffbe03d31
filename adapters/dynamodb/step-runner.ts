import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import * as z from 'zod';
import { readAnswer, writeAnswer } from '../../core/job/step-answer.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { DAY_MS, SECOND_MS } from '../../core/time.ts';
import type { DynamoTable, ItemKey, PutRequest } from './dynamo-table.ts';
import { unreadableItem } from './failure.ts';
import { itemKey, rangeOf } from './requests.ts';
import { SORT_KEYS } from './table.ts';

/**
 * Answers of a run that nobody took up again are dropped after this: they hold texts. A run waits a day at most, for its next
 * budget.
 */
const KEEP_MS = 2 * DAY_MS;
/** An item may have 400 KB. */
const MAX_BYTES = 350 * 1024;
/** Far above any answer: what grows beyond it is damaged. */
const MAX_PLAIN_BYTES = 64 * 1_048_576;

const itemShape = z.object({ answer: z.instanceof(Uint8Array), expires_at: z.number() });

/** The request that keeps an answer, unless another pass kept one already. */
export function keepAnswerRequest(key: ItemKey, content: Uint8Array, now: number): PutRequest {
  return {
    Item: { ...key, answer: content, expires_at: Math.ceil((now + KEEP_MS) / SECOND_MS) },
    ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
    ExpressionAttributeValues: { ':now': Math.floor(now / SECOND_MS) },
  };
}

/**
 * One user's steps, kept in the table: a run that died or had to wait goes on after its last finished step, in whatever
 * process. They are items of the user like all others, so that erasing the user takes them along.
 */
export class DynamoStepRunner implements StepRunner {
  readonly #table: DynamoTable;
  readonly #userKey: string;
  readonly #clock: Clock;

  constructor(table: DynamoTable, userKey: string, clock: Clock) {
    this.#table = table;
    this.#userKey = userKey;
    this.#clock = clock;
  }

  /**
   * An answer too large for an item is not kept: a later pass does that step again.
   * @throws DefectError `step.answer_unreadable` when the stored answer does not have the shape, `table.item_unreadable` when
   *   it is damaged; it is dropped, so that the next pass does the step again
   */
  async run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    const key = itemKey(this.#userKey, SORT_KEYS.answer(runId, name));
    const stored = await this.#table.get(key);
    if (stored !== undefined && this.#isKept(stored)) return this.#read(key, name, shape, stored);
    const text = writeAnswer(name, await work());
    const answer = readAnswer(name, shape, text); // before it is kept: an answer without its shape would block every later pass
    const content = zstdCompressSync(text);
    if (content.length > MAX_BYTES) return answer;
    if ((await this.#table.put(keepAnswerRequest(key, content, this.#clock.now()))) === 'done') return answer;
    const winner = await this.#table.get(key); // another pass, or our own write whose reply was lost
    return winner === undefined ? answer : this.#read(key, name, shape, winner);
  }

  async finish(runId: string): Promise<void> {
    const items = await this.#table.query({
      ...rangeOf(this.#userKey, SORT_KEYS.answer(runId, '')),
      ProjectionExpression: 'sk',
    });
    await this.#table.deleteMany(items.map((item) => itemKey(this.#userKey, String(item['sk']))));
  }

  #isKept(item: Readonly<Record<string, unknown>>): boolean {
    const expiresAt = item['expires_at'];
    return typeof expiresAt !== 'number' || expiresAt * SECOND_MS > this.#clock.now();
  }

  async #read<T>(key: ItemKey, name: string, shape: z.ZodType<T>, item: Readonly<Record<string, unknown>>): Promise<T> {
    try {
      return readAnswer(name, shape, unpack(item));
    } catch (error) {
      await this.#table.delete({ Key: { ...key } });
      throw error;
    }
  }
}

/** The JSON text of a kept answer. @throws DefectError `table.item_unreadable` */
function unpack(item: Readonly<Record<string, unknown>>): string {
  const reading = itemShape.safeParse(item);
  if (!reading.success) throw unreadableItem('answer', String(reading.error.issues[0]?.path[0] ?? ''));
  try {
    return zstdDecompressSync(reading.data.answer, { maxOutputLength: MAX_PLAIN_BYTES }).toString();
  } catch {
    throw unreadableItem('answer', 'answer'); // the only failure: not what zstd wrote
  }
}
