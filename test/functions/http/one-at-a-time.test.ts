import { describe, expect, it } from 'vitest';
import { OneAtATime } from '../../../functions/http/one-at-a-time.ts';

describe('OneAtATime', () => {
  it('does the work of one key in the order of asking, never two at once, and a failure holds up nobody', async () => {
    const queue = new OneAtATime();
    const log: string[] = [];
    let atWork = 0;
    const work = (name: string) => async () => {
      atWork++;
      expect(atWork).toBe(1);
      await Promise.resolve();
      log.push(name);
      atWork--;
      if (name === 'b') throw new Error('b failed');
      return name;
    };
    const asked = ['a', 'b', 'c'].map((name) => queue.run('user', work(name)));
    expect(await Promise.allSettled(asked)).toMatchObject([{ value: 'a' }, { status: 'rejected' }, { value: 'c' }]);
    expect(log).toEqual(['a', 'b', 'c']);
  });

  it('lets different keys work at once', async () => {
    const queue = new OneAtATime();
    let release = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = queue.run('one', () => waiting);
    expect(await queue.run('two', async () => 'done')).toBe('done');
    release();
    await held;
  });
});
