import { withDurableExecution } from '@aws/durable-execution-sdk-js';
import { LocalDurableTestRunner } from '@aws/durable-execution-sdk-js-testing';
import { afterAll, beforeAll } from 'vitest';
import type * as z from 'zod';
import { DurableStepRunner } from '../../adapters/durable/step-runner.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { MemoryStepRunner } from '../doubles/memory-step-runner.ts';
import { type DurableHandler, DurableHost } from './durable-host.ts';
import { type Ground, memoryGround } from './ground.ts';

/** Makes one call and tells the caller; on replay the caller was told already, which changes nothing. */
type Call = (steps: StepRunner) => Promise<void>;

const RESERVE_MS = 60_000;

/** Runs a handler as one durable execution, to its end. */
type Execute = (handler: DurableHandler<null>) => Promise<unknown>;

/**
 * A step runner whose calls are made inside a durable execution. Each invocation makes all calls anew from the first, as a
 * function does on replay, and goes on where the last one ended.
 */
class ExecutedStepRunner implements StepRunner {
  readonly #calls: Call[] = [];
  #news: () => void = () => {};
  #ended = false;
  readonly #execution: Promise<unknown>;

  /** @param remainingMs the time left after every step */
  constructor(execute: Execute, remainingMs: number) {
    const kept = new MemoryStepRunner();
    this.#execution = execute(async (_event, context) => {
      await this.#invoke(
        new DurableStepRunner(context, kept, { remainingMs: () => remainingMs, reserveMs: RESERVE_MS }),
      );
      return null;
    });
  }

  run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    return this.#call((steps) => steps.run(runId, name, shape, work));
  }

  finish(runId: string): Promise<void> {
    return this.#call((steps) => steps.finish(runId));
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.#news();
    await this.#execution;
  }

  #call<T>(make: (steps: StepRunner) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#calls.push((steps) => make(steps).then(resolve, reject));
      this.#news();
    });
  }

  async #invoke(steps: StepRunner): Promise<void> {
    for (let at = 0; ; at++) {
      while (at >= this.#calls.length && !this.#ended)
        await new Promise<void>((resolve) => {
          this.#news = resolve;
        });
      const call = this.#calls[at];
      if (call === undefined) return;
      await call(steps);
    }
  }
}

const executeLocally: Execute = (handler) =>
  new LocalDurableTestRunner({ handlerFunction: withDurableExecution(handler) }).run();

/** The local test runner waits in earnest, so executions that are suspended often run on a host of ours. */
const executeOnHost: Execute = (handler) => DurableHost.of(handler).run();

export interface DurableGrounds {
  /** One invocation, in the service's own test runner. */
  unhurried(): Ground<StepRunner>;
  /** Suspended after every step. */
  suspended(): Ground<StepRunner>;
}

/** Grounds for the contract of step runners; call it once in a test file. */
export function durableGrounds(): DurableGrounds {
  const open: ExecutedStepRunner[] = [];
  beforeAll(() => LocalDurableTestRunner.setupTestEnvironment());
  afterAll(async () => {
    await Promise.all(open.map((runner) => runner.end()));
    await LocalDurableTestRunner.teardownTestEnvironment();
  });
  const groundOn = (execute: Execute, remainingMs: number): Ground<StepRunner> => {
    const runner = new ExecutedStepRunner(execute, remainingMs);
    open.push(runner);
    return memoryGround(runner);
  };
  return {
    unhurried: () => groundOn(executeLocally, RESERVE_MS),
    suspended: () => groundOn(executeOnHost, RESERVE_MS - 1),
  };
}
