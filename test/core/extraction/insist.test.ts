import { describe, expect, it } from 'vitest';
import { ConflictError, UnavailableError } from '../../../core/errors.ts';
import { insist } from '../../../core/extraction/insist.ts';

const OUT = new UnavailableError('table.throttled', 'out');

/** Fails so often, then answers the number of calls made. */
function flaky(failures: number, error: Error = OUT): { readonly step: () => Promise<number>; calls: number } {
  const flaky_ = {
    calls: 0,
    step: async () => {
      flaky_.calls++;
      if (flaky_.calls <= failures) throw error;
      return flaky_.calls;
    },
  };
  return flaky_;
}

describe('insist', () => {
  it('answers what the step answers, after as many failures as it takes, four at most', async () => {
    expect(await insist(flaky(0).step)).toBe(1);
    expect(await insist(flaky(4).step)).toBe(5);
    await expect(insist(flaky(5).step)).rejects.toBe(OUT);
  });

  it('repeats only what may succeed without a change', async () => {
    const conflict = flaky(1, new ConflictError('x.y', 'z'));
    await expect(insist(conflict.step)).rejects.toThrow('z');
    expect(conflict.calls).toBe(1);
  });
});
