import { describe, expect, it } from 'vitest';
import { ConflictError, UnavailableError } from '../../../core/errors.ts';
import { insistWithin } from '../../../core/extraction/insist.ts';
import { LIMITS } from '../../../core/settings.ts';
import { SECOND_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';

const OUT = new UnavailableError('table.throttled', 'out');
const clock = new FixedClock(0);

/** Fails so often, then answers the number of calls made; each call takes so long. */
function flaky(failures: number, of: { readonly error?: Error; readonly ms?: number } = {}) {
  const flaky_ = {
    calls: 0,
    step: async () => {
      flaky_.calls++;
      clock.advance(of.ms ?? 0);
      if (flaky_.calls <= failures) throw of.error ?? OUT;
      return flaky_.calls;
    },
  };
  return flaky_;
}

describe('insisting', () => {
  it('answers what the step answers, after as many failures as it takes, four at most', async () => {
    const insist = insistWithin(clock);
    expect(await insist(flaky(0).step)).toBe(1);
    expect(await insist(flaky(4).step)).toBe(5);
    await expect(insist(flaky(5).step)).rejects.toBe(OUT);
  });

  it('repeats only what may succeed without a change', async () => {
    const conflict = flaky(1, { error: new ConflictError('x.y', 'z') });
    await expect(insistWithin(clock)(conflict.step)).rejects.toThrow('z');
    expect(conflict.calls).toBe(1);
  });

  it('gives a store up that hangs, at the end of the try in which its time ran out', async () => {
    const hanging = flaky(5, { ms: 6 * SECOND_MS });
    await expect(insistWithin(clock)(hanging.step)).rejects.toBe(OUT);
    expect(hanging.calls).toBe(4);
    const longest = flaky(5, { ms: LIMITS.insistMs });
    await expect(insistWithin(clock)(longest.step)).rejects.toBe(OUT);
    expect(longest.calls).toBe(1);
  });

  it('has one time for all the steps of a run, those that end well too; each step is tried once', async () => {
    const insist = insistWithin(clock);
    expect(await insist(flaky(1, { ms: 6 * SECOND_MS }).step)).toBe(2);
    expect(await insist(flaky(0, { ms: 6 * SECOND_MS }).step)).toBe(1);
    const late = flaky(1, { ms: 2 * SECOND_MS });
    await expect(insist(late.step)).rejects.toBe(OUT);
    expect(late.calls).toBe(1);
    expect(await insist(flaky(0, { ms: 2 * SECOND_MS }).step)).toBe(1);
    expect(await insistWithin(clock)(flaky(1).step)).toBe(2);
  });

  it('does not gain time from a clock that is set back', async () => {
    const insist = insistWithin(clock);
    await expect(insist(flaky(5, { ms: LIMITS.insistMs }).step)).rejects.toBe(OUT);
    const back = flaky(1, { ms: -LIMITS.insistMs });
    await expect(insist(back.step)).rejects.toBe(OUT);
    expect(back.calls).toBe(1);
  });
});
