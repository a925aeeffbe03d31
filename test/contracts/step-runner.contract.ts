import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import { type Ground, onGround } from '../support/ground.ts';

const SHAPE = z.object({ text: z.string(), left: z.number().nullable() });

/** What every step runner keeps to. @param checkpoints whether answers outlive the call: a direct runner keeps none */
export function stepRunnerContract(
  name: string,
  makeGround: () => Ground<StepRunner>,
  options: { readonly checkpoints: boolean },
): void {
  const on = (check: Parameters<typeof onGround<StepRunner>>[1]) => () => onGround(makeGround(), check);

  describe(`step runner: ${name}`, () => {
    it(
      'answers what the work answered',
      on(async (steps) => {
        const answer = { text: '日本 \u0000', left: null };
        expect(await steps.run('r', 's', SHAPE, async () => answer)).toEqual(answer);
        expect(await steps.run('r', 'nothing', z.null(), async () => null)).toBeNull();
      }),
    );

    it(
      'passes a failure of the work on and does the step again on the next pass',
      on(async (steps) => {
        const failing = steps.run('r', 's', z.number(), () => Promise.reject(new RangeError('work failed')));
        await expect(failing).rejects.toThrow('work failed');
        expect(await steps.run('r', 's', z.number(), async () => 2)).toBe(2);
      }),
    );

    it(
      'refuses a fresh answer that has not its shape, or no JSON form, and keeps nothing of it',
      on(async (steps) => {
        const wrong: z.ZodType<unknown> = z.number();
        await expect(steps.run('r', 's', wrong, async () => 'text')).rejects.toMatchObject({
          kind: 'defect',
          code: 'step.answer_unreadable',
        });
        await expect(steps.run('r', 's', z.unknown(), async () => undefined)).rejects.toMatchObject({
          code: 'step.answer_not_json',
        });
        expect(await steps.run('r', 's', z.number(), async () => 3)).toBe(3);
      }),
    );

    if (options.checkpoints) checkpointCases(on);
  });
}

function checkpointCases(on: (check: Parameters<typeof onGround<StepRunner>>[1]) => () => Promise<void>): void {
  it(
    'returns the stored answer of a step that had ended, after reopening too',
    on(async (steps, _other, reopen) => {
      const answer = { text: 'paid once', left: 4 };
      await steps.run('r', 's', SHAPE, async () => answer);
      const again = reopen();
      expect(await again.run('r', 's', SHAPE, refuseWork)).toEqual(answer);
      expect(await again.run('r', 's2', z.number(), async () => 1)).toBe(1);
      expect(await again.run('r2', 's', z.number(), async () => 2)).toBe(2);
    }),
  );

  it(
    'checks the shape of a stored answer, and does the step again on the pass after that',
    on(async (steps) => {
      await steps.run('r', 's', z.string(), async () => 'text');
      await expect(steps.run('r', 's', z.number(), refuseWork)).rejects.toMatchObject({
        code: 'step.answer_unreadable',
      });
      expect(await steps.run('r', 's', z.number(), async () => 5)).toBe(5);
    }),
  );

  it(
    'gives two runs of one step at once the same answer',
    on(async (one, other) => {
      const answers = await Promise.all([
        one.run('r', 's', z.number(), async () => 1),
        other.run('r', 's', z.number(), async () => 2),
      ]);
      expect(answers[0]).toBe(answers[1]);
      expect(await one.run('r', 's', z.number(), refuseWork)).toBe(answers[0]);
    }),
  );

  it(
    'forgets the steps of a finished run only',
    on(async (steps) => {
      await steps.run('r', 's', z.number(), async () => 1);
      await steps.run('r2', 's', z.number(), async () => 1);
      await steps.finish('r');
      await steps.finish('unknown');
      expect(await steps.run('r', 's', z.number(), async () => 9)).toBe(9);
      expect(await steps.run('r2', 's', z.number(), refuseWork)).toBe(1);
    }),
  );
}

async function refuseWork(): Promise<never> {
  throw new Error('the step was done again');
}
