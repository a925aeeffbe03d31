import type { z } from 'zod';

/**
 * Runs the named steps of a long run. Directly, or checkpointed: a run that starts over under the same id gets the stored
 * answer of each step that had ended, so that nothing is paid twice.
 */
export interface StepRunner {
  /**
   * @param runId names the run; equal inputs give equal ids
   * @param name unique within the run and the same on every pass
   * @param shape reads the stored answer back; answers must be plain JSON values
   */
  run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T>;

  /** Forgets the steps of a run that has ended. */
  finish(runId: string): Promise<void>;
}
