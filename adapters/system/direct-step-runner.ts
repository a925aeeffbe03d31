import type * as z from 'zod';
import { readAnswer, writeAnswer } from '../../core/job/step-answer.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';

/** Does every step when it is asked for and keeps nothing. Answers go through their JSON form, as with any other runner. */
export class DirectStepRunner implements StepRunner {
  async run<T>(_runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    return readAnswer(name, shape, writeAnswer(name, await work()));
  }

  async finish(_runId: string): Promise<void> {}
}
