import { describe, expect, it } from 'vitest';
import type { BodyShelf } from '../../adapters/dynamodb/body-shelf.ts';

const REF = { threadId: 't', sourceUpdatedAt: 100 };
const BYTES = new Uint8Array([40, 181, 47, 253, 0, 255]);

/** Every shelf of packed texts keeps to this. */
export function bodyShelfContract(name: string, makeShelf: () => Promise<BodyShelf>): void {
  const on = (check: (shelf: BodyShelf) => Promise<void>) => async () => check(await makeShelf());

  describe(`body shelf: ${name}`, () => {
    it(
      'gives bytes back as they were put last, and nothing where nothing lies',
      on(async (shelf) => {
        expect(await shelf.get('u', REF)).toBeUndefined();
        await shelf.put('u', REF, new Uint8Array([1]));
        await shelf.put('u', REF, BYTES);
        await shelf.put('u', { ...REF, sourceUpdatedAt: 101 }, new Uint8Array([2]));
        expect(new Uint8Array((await shelf.get('u', REF)) ?? [])).toEqual(BYTES);
      }),
    );

    it(
      'removes one snapshot, whether it is there or not',
      on(async (shelf) => {
        await shelf.put('u', REF, BYTES);
        await shelf.put('u', { ...REF, sourceUpdatedAt: 1_000 }, BYTES);
        for (let time = 0; time < 2; time++) await shelf.remove('u', REF);
        expect(await shelf.get('u', REF)).toBeUndefined();
        expect(await shelf.list('u')).toEqual([{ ...REF, sourceUpdatedAt: 1_000 }]);
      }),
    );

    it(
      'lists what lies there of a user, and of no other, also where one key begins like another',
      on(async (shelf) => {
        const refs = ['a', 'a.1', 'B', '_'].map((threadId) => ({ threadId, sourceUpdatedAt: 1_760_000_000_000 }));
        expect(await shelf.list('u')).toEqual([]);
        for (const ref of refs) await shelf.put('u', ref, BYTES);
        await shelf.put('u1', REF, BYTES);
        expect(new Set(await shelf.list('u'))).toEqual(new Set(refs));
        await shelf.remove('u', REF);
        expect(await shelf.list('u1')).toEqual([REF]);
      }),
    );
  });
}
