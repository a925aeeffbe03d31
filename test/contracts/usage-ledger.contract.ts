import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../core/agent/token-usage.ts';
import type { Reservation, UsageLedger } from '../../core/ports/usage-ledger.ts';
import { toDay } from '../../core/time.ts';
import { type Ground, onGround } from '../support/ground.ts';
import { NOW } from '../support/sample-state.ts';

const DAY = toDay(NOW);
const USED = {
  inputTokens: 30,
  cachedInputTokens: 10,
  cacheWriteInputTokens: 2,
  outputTokens: 5,
  reasoningOutputTokens: 3,
  totalTokens: 35,
};

/** Every ledger keeps to this. */
export function usageLedgerContract(name: string, makeGround: () => Ground<UsageLedger>): void {
  const on = (check: Parameters<typeof onGround<UsageLedger>>[1]) => () => onGround(makeGround(), check);

  describe(`usage ledger: ${name}`, () => {
    it(
      'reads a day without calls as zeros',
      on(async (ledger) => {
        expect(await ledger.day('u', DAY)).toEqual({ day: DAY, calls: 0, usage: NO_USAGE, reservedTokens: 0 });
      }),
    );

    it(
      'counts a call before it is made, and what it used after it, over reopening',
      on(async (ledger, _o, reopen) => {
        expect(await ledger.reserve('u', call('a', 60))).toEqual({ kind: 'reserved' });
        expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1, usage: NO_USAGE, reservedTokens: 60 });
        const again = reopen();
        await again.settle('u', 'a', USED);
        await again.reserve('u', call('b', 10));
        await again.settle('u', 'b', USED);
        const usage = { ...USED, inputTokens: 60, cachedInputTokens: 20, cacheWriteInputTokens: 4, outputTokens: 10 };
        expect(await again.day('u', DAY)).toEqual({
          day: DAY,
          calls: 2,
          usage: { ...usage, reasoningOutputTokens: 6, totalTokens: 70 },
          reservedTokens: 0,
        });
      }),
    );

    it(
      'refuses what would exceed the limit and takes what just fits',
      on(async (ledger) => {
        await ledger.reserve('u', call('a', 60));
        expect(await ledger.reserve('u', call('b', 41))).toEqual({ kind: 'over_budget', usedTokens: 60, limit: 100 });
        expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1, reservedTokens: 60 });
        expect(await ledger.reserve('u', call('c', 40))).toEqual({ kind: 'reserved' });
        await ledger.settle('u', 'a', { ...USED, totalTokens: 20 }); // input and output say 35
        expect(await ledger.reserve('u', call('d', 26))).toEqual({ kind: 'over_budget', usedTokens: 75, limit: 100 });
        expect(await ledger.reserve('u', call('e', 25))).toEqual({ kind: 'reserved' });
      }),
    );

    it(
      'takes the same call id twice as one reservation, also when the budget is spent',
      on(async (one, other) => {
        await one.reserve('u', call('a', 100));
        expect(await other.reserve('u', call('a', 100))).toEqual({ kind: 'reserved' });
        expect(await one.day('u', DAY)).toMatchObject({ calls: 1, reservedTokens: 100 });
      }),
    );

    it(
      'counts the reserved amount as input when the provider told nothing',
      on(async (ledger) => {
        await ledger.reserve('u', call('a', 60));
        await ledger.settle('u', 'a', null);
        expect(await ledger.day('u', DAY)).toEqual({
          day: DAY,
          calls: 1,
          usage: { ...NO_USAGE, inputTokens: 60, totalTokens: 60 },
          reservedTokens: 0,
        });
      }),
    );

    it(
      'changes nothing when a call is settled twice, or was never reserved',
      on(async (one, other) => {
        await one.reserve('u', call('a', 60));
        await one.settle('u', 'a', USED);
        await other.settle('u', 'a', USED);
        await other.settle('u', 'unknown', USED);
        await other.settle('u1', 'a', USED);
        expect(await one.day('u', DAY)).toMatchObject({ usage: USED, reservedTokens: 0 });
        expect(await one.day('u1', DAY)).toMatchObject({ calls: 0, usage: NO_USAGE });
      }),
    );

    it(
      'keeps a call on the day it began, and starts each day anew',
      on(async (ledger) => {
        const midnight = Date.parse(`${DAY}T00:00:00Z`) + 86_400_000;
        await ledger.reserve('u', { ...call('a', 100), now: midnight - 1 });
        expect(await ledger.reserve('u', { ...call('b', 100), now: midnight })).toEqual({ kind: 'reserved' });
        await ledger.settle('u', 'a', USED);
        expect(await ledger.day('u', DAY)).toMatchObject({ calls: 1, usage: USED });
        expect(await ledger.day('u', toDay(midnight))).toMatchObject({
          calls: 1,
          reservedTokens: 100,
          usage: NO_USAGE,
        });
      }),
    );

    it('never exceeds the budget, however many reserve and settle at once', async () => {
      const step = fc.record({ tokens: fc.integer({ min: 0, max: 60 }), used: fc.integer({ min: 0, max: 60 }) });
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) =>
          onGround(makeGround(), async (one, other) => {
            const user = `u${runs++}`; // a ground may be the same one in every run
            const calls = steps.map(async ({ tokens, used }, at) => {
              const ledger = at % 2 ? one : other;
              const answer = await ledger.reserve(user, call(`c${at}`, tokens));
              if (answer.kind === 'over_budget') return;
              const totalTokens = Math.min(used, tokens);
              await ledger.settle(user, `c${at}`, at % 3 ? { ...NO_USAGE, totalTokens } : null);
              const day = await one.day(user, DAY);
              expect(day.usage.totalTokens + day.reservedTokens).toBeLessThanOrEqual(100);
            });
            await Promise.all(calls);
            expect((await one.day(user, DAY)).reservedTokens).toBe(0);
          }),
        ),
        { numRuns: 15 },
      );
    });
  });
}

function call(callId: string, tokens: number): Reservation {
  return { callId, purpose: 'extraction', subject: 't', model: 'm', now: NOW, tokens, dailyLimit: 100 };
}
