import { describe, expect, it } from 'vitest';
import type { EraseMarks } from '../../core/ports/erase-marks.ts';
import { type Ground, onGround } from '../support/ground.ts';

/** Every store of erase marks keeps to this. */
export function eraseMarksContract(name: string, makeGround: () => Ground<EraseMarks>): void {
  const on = (check: Parameters<typeof onGround<EraseMarks>>[1]) => () => onGround(makeGround(), check);
  const until = 4_000_000_000_001;

  describe(`erase marks: ${name}`, () => {
    it(
      'tell the last time that was written, over reopening',
      on(async (marks, other, reopen) => {
        expect(await marks.read('u')).toBeNull();
        await marks.write('u', until);
        expect(await other.read('u')).toBe(until);
        await other.write('u', until + 1);
        expect(await reopen().read('u')).toBe(until + 1);
      }),
    );

    it(
      'are gone when removed, as often as that is asked',
      on(async (marks, other) => {
        await marks.write('u', until);
        for (let time = 0; time < 2; time++) await marks.remove('u');
        expect(await other.read('u')).toBeNull();
      }),
    );

    it(
      'keep users apart',
      on(async (marks) => {
        await marks.write('user1', until);
        for (const other of ['user10', 'user', 'USER1']) expect(await marks.read(other)).toBeNull();
        await marks.remove('user10');
        expect(await marks.read('user1')).toBe(until);
      }),
    );
  });
}
