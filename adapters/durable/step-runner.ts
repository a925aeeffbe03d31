import type { DurableContext } from '@aws/durable-execution-sdk-js';
import type * as z from 'zod';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { readEntry, type StepEntry } from './step-entry.ts';

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
type Done<T> = { readonly kind: 'answered'; readonly answer: T } | { readonly kind: 'threw'; readonly error: unknown };

/**
 * Steps of a Lambda durable execution. The service numbers the steps of an execution and hands them back in that order; it
 * ends an execution whose code asks for them otherwise. A consolidation that starts over may well do that, since the world
 * moved on. So each step leaves an entry that says which `<runId>/<name>` it was: entries are taken in the order they were
 * made, and only behind the last one is work done. A run with other inputs has another id and never takes an answer of this
 * one. The answers themselves are kept by another runner, where a later execution of the same run finds them too.
 *
 * Too little time after a step suspends the execution (user case C9): the code ends there, and a fresh invocation begins the
 * function anew, with all that was paid at hand. One execution may use one runner only.
 */
export class DurableStepRunner implements StepRunner {
  readonly #context: StepContext;
  readonly #kept: StepRunner;
  readonly #time: StepTime;
  /** Keys of the entries met so far whose steps ended. */
  readonly #ended = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  /** @param kept keeps the answers */
  constructor(context: StepContext, kept: StepRunner, time: StepTime) {
    this.#context = context;
    this.#kept = kept;
    this.#time = time;
  }

  /** @throws what the work or the keeper threw; DefectError `step.entry_unreadable` for a history that is not ours */
  run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    const keep = (): Promise<T> => this.#kept.run(runId, name, shape, work);
    const next = (): Promise<T> => this.#run(`${runId}/${name}`, keep);
    const turn = this.#last.then(next, next); // one after the other: the service knows steps by their order
    this.#last = turn;
    return turn;
  }

  async finish(runId: string): Promise<void> {
    for (const key of this.#ended) if (key.startsWith(`${runId}/`)) this.#ended.delete(key);
    await this.#kept.finish(runId);
  }

  async #run<T>(key: string, keep: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#ended.has(key)) return keep();
      const done = await this.#advance(key, keep);
      if (done?.kind === 'threw') throw done.error;
      if (done !== undefined) return done.answer;
    }
  }

  /**
   * Takes the next entry of the execution's history; at its end, does the work and leaves one.
   * @returns what the work did; undefined when the entry was there already
   */
  async #advance<T>(key: string, keep: () => Promise<T>): Promise<Done<T> | undefined> {
    const live: { done?: Done<T> } = {};
    const stored: unknown = await this.#context.step(
      STEP,
      async (): Promise<StepEntry> => {
        live.done = await attempt(keep);
        const ended = live.done.kind === 'answered';
        return { key, ended, short: ended && this.#time.remainingMs() < this.#time.reserveMs };
      },
      NO_RETRY,
    );
    const entry = readEntry(stored);
    if (entry.short) await this.#context.wait(SUSPENSION, { seconds: SUSPENSION_SECONDS });
    if (entry.ended) this.#ended.add(entry.key);
    return live.done;
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<Done<T>> {
  try {
    return { kind: 'answered', answer: await work() };
  } catch (error) {
    return { kind: 'threw', error };
  }
}
