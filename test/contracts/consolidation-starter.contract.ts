import { describe, expect, it } from 'vitest';
import type { ConsolidationStarter } from '../../core/ports/consolidation-starter.ts';

type Start = Parameters<ConsolidationStarter['start']>[0];

/** A starter, and a way to see which runs there are. */
export interface OpenStarter {
  readonly starter: ConsolidationStarter;
  started(): readonly Start[];
}

const start = (userKey: string, dueAt: number, immediate = false): Start => ({ userKey, dueAt, immediate });

/** What every starter keeps to. */
export function consolidationStarterContract(name: string, open: () => OpenStarter): void {
  describe(`consolidation starter: ${name}`, () => {
    it('starts a run once for a user and a due time, however often it is asked', async () => {
      const { starter, started } = open();
      await Promise.all([starter.start(start('u1', 5)), starter.start(start('u1', 5)), starter.start(start('u1', 5))]);
      await starter.start(start('u1', 5, true));
      expect(started()).toEqual([start('u1', 5)]);
    });

    it('tells users and due times apart, whatever characters an id has', async () => {
      const { starter, started } = open();
      const starts = [start('u1', 5), start('u1', 6), start('u10', 5), start('u.1', 50), start('~YS9i', 5, true)];
      for (const one of starts) await starter.start(one);
      expect(started()).toEqual(starts);
    });
  });
}
