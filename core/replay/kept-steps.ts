import type * as z from 'zod';
import type { KeptAnswer } from '../consolidation/answer-log.ts';
import { ConflictError, DefectError } from '../errors.ts';
import type { StepRunner } from '../ports/step-runner.ts';

/** Where a replay wants something else than its run was given. */
export interface Divergence {
  /** The step that was asked for. */
  readonly asked: string;
  /** The step whose answer came next; null: none was left. */
  readonly kept: string | null;
}

/** Steps that are answered from a record, in its order. No step is ever done. */
export class KeptSteps implements StepRunner {
  readonly #answers: readonly KeptAnswer[];
  #at = 0;
  #divergence: Divergence | undefined;

  constructor(answers: readonly KeptAnswer[]) {
    this.#answers = answers;
  }

  get divergence(): Divergence | undefined {
    return this.#divergence;
  }

  /** Steps whose answers nobody asked for. */
  get left(): readonly string[] {
    return this.#answers.slice(this.#at).map(({ step }) => step);
  }

  /** @throws ConflictError `replay.diverged`, once `divergence` tells where; DefectError `replay.unreadable` */
  async run<T>(_runId: string, name: string, shape: z.ZodType<T>): Promise<T> {
    const next = this.#answers[this.#at];
    if (next?.step !== name) {
      this.#divergence = { asked: name, kept: next?.step ?? null };
      throw new ConflictError('replay.diverged', 'the replay asked for another step than its run did');
    }
    const answer = shape.safeParse(next.answer);
    if (!answer.success) {
      throw new DefectError('replay.unreadable', `the answer of the step ${name} is damaged in the record`, {
        details: { step: name, field: answer.error.issues[0]?.path.join('.') ?? '' },
      });
    }
    this.#at++;
    return answer.data;
  }

  async finish(): Promise<void> {}
}
