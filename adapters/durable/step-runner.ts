import type { DurableContext } from '@aws/durable-execution-sdk-js';
import type * as z from 'zod';
import { readAnswer, writeAnswer } from '../../core/job/step-answer.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { answerText, readEntry, type StepEntry, writeEntry } from './step-entry.ts';

/** The part of a durable execution's context that steps need. */
export type StepContext = Pick<DurableContext, 'step' | 'wait'>;

export interface StepTime {
  /** ms that the present invocation may still run. */
  readonly remainingMs: () => number;
  /** With less than this left after a step, the execution is suspended and goes on in a fresh invocation. */
  readonly reserveMs: number;
}

/** One name for all: the service compares it on replay, and what a step is for is said by its entry's key. */
const STEP = 'step';
const SUSPENSION = 'suspend';
/**
 * The service ends an invocation that waits, at once; but a wait that is over by the time its start was acknowledged would go
 * on in this one. Waiting costs nothing.
 */
const SUSPENSION_SECONDS = 3;
/** One retry owner: the job. A step that threw is recorded as such and never tried again by the platform. */
const NO_RETRY = { retryStrategy: () => ({ shouldRetry: false }) } as const;

/** What the work of a step did in this very invocation. */
type Done = { readonly kind: 'answered'; readonly text: string } | { readonly kind: 'threw'; readonly error: unknown };

/**
 * Steps kept by a Lambda durable execution. The service numbers the steps of an execution and hands them back in that order;
 * it ends an execution whose code asks for them otherwise. A consolidation that starts over may well do that, since the world
 * moved on. So each stored step says in its entry which `<runId>/<name>` it answered: entries are taken in the order they were
 * made, those of others are kept aside until they are asked for, and only behind the last one is work done. A run with other
 * inputs has another id and can thus never take an answer of this one.
 *
 * Too little time after a step suspends the execution (user case C9): the code ends there, and a fresh invocation begins the
 * function anew, with all that was paid at hand. One execution may use one runner only.
 */
export class DurableStepRunner implements StepRunner {
  readonly #context: StepContext;
  readonly #time: StepTime;
  /** Answers by key, as JSON text, of the entries met so far. */
  readonly #answers = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: StepContext, time: StepTime) {
    this.#context = context;
    this.#time = time;
  }

  /**
   * @throws what the work threw; DefectError `step.answer_unreadable` for an answer that does not have its shape, which is then
   *   no longer used, and `step.entry_unreadable` for a history that is not ours
   */
  run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    const key = `${runId}/${name}`;
    const next = (): Promise<T> => this.#run(key, shape, work);
    const turn = this.#last.then(next, next); // one after the other: the service knows steps by their order
    this.#last = turn;
    return turn;
  }

  /** The history belongs to the service, which keeps it for the retention time of the function; it is used no more. */
  async finish(runId: string): Promise<void> {
    for (const key of this.#answers.keys()) if (key.startsWith(`${runId}/`)) this.#answers.delete(key);
  }

  async #run<T>(key: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const known = this.#answers.get(key);
      if (known !== undefined) return this.#read(key, shape, known);
      const done = await this.#advance(key, shape, work);
      if (done === undefined) continue;
      if (done.kind === 'threw') throw done.error;
      this.#answers.set(key, done.text);
    }
  }

  /**
   * Takes the next entry of the execution's history; at its end, does the work and writes one.
   * @returns what the work did; undefined when the entry was there already
   */
  async #advance<T>(key: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<Done | undefined> {
    const live: { done?: Done } = {};
    const stored: unknown = await this.#context.step(
      STEP,
      async (): Promise<StepEntry> => {
        live.done = await attempt(key, shape, work);
        if (live.done.kind === 'threw') return writeEntry(key, false);
        return writeEntry(key, this.#time.remainingMs() < this.#time.reserveMs, live.done.text);
      },
      NO_RETRY,
    );
    const entry = readEntry(stored);
    if (entry.form !== 'none') {
      if (entry.short) await this.#context.wait(SUSPENSION, { seconds: SUSPENSION_SECONDS });
      if (live.done === undefined) this.#answers.set(entry.key, answerText(entry));
    }
    return live.done;
  }

  /** An unreadable answer is dropped, so that the step is done again when it is asked for again. */
  #read<T>(key: string, shape: z.ZodType<T>, text: string): T {
    try {
      return readAnswer(key, shape, text);
    } catch (error) {
      this.#answers.delete(key);
      throw error;
    }
  }
}

/** An answer without its shape counts as thrown: kept, it would block every later pass. */
async function attempt<T>(key: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<Done> {
  try {
    const text = writeAnswer(key, await work());
    readAnswer(key, shape, text);
    return { kind: 'answered', text };
  } catch (error) {
    return { kind: 'threw', error };
  }
}
