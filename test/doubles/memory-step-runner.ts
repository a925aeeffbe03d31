import type * as z from 'zod';
import { readAnswer, writeAnswer } from '../../core/job/step-answer.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { branch } from './stage-one-table.ts';

/** Steps held in memory; `ran` names every step whose work was done, in order. */
export class MemoryStepRunner implements StepRunner {
  readonly ran: string[] = [];
  readonly #runs = new Map<string, Map<string, string>>();

  async run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    const stored = this.#runs.get(runId)?.get(name);
    if (stored !== undefined) return this.#readStored(runId, name, shape, stored);
    this.ran.push(name);
    const text = writeAnswer(name, await work());
    const answer = readAnswer(name, shape, text);
    const winner = this.#runs.get(runId)?.get(name);
    if (winner !== undefined) return this.#readStored(runId, name, shape, winner);
    branch(this.#runs, runId).set(name, text);
    return answer;
  }

  /** How many answers are kept of a run. */
  kept(runId: string): number {
    return this.#runs.get(runId)?.size ?? 0;
  }

  async finish(runId: string): Promise<void> {
    this.#runs.delete(runId);
  }

  /** An unreadable answer is dropped, so that the next pass does the step again. */
  #readStored<T>(runId: string, name: string, shape: z.ZodType<T>, text: string): T {
    try {
      return readAnswer(name, shape, text);
    } catch (error) {
      this.#runs.get(runId)?.delete(name);
      throw error;
    }
  }
}
