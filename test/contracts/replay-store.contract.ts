import { afterEach, describe, expect, it } from 'vitest';
import { DefectError } from '../../core/errors.ts';
import type { ReplayRef, ReplayStore } from '../../core/ports/replay-store.ts';

/** A store to try, with the means to damage what it holds. */
export interface ReplayStoreRig {
  readonly store: ReplayStore;
  /** Another client of the same storage. */
  readonly second: ReplayStore;
  /** Changes the stored bytes of a record behind the store's back; where there are no bytes, makes it unreadable. */
  damage(userKey: string, ref: ReplayRef, change: (bytes: Uint8Array) => Uint8Array): Promise<void>;
  /** Stored contents of all users, old ones included. */
  contents(): Promise<number>;
  close(): Promise<void>;
}

const REF: ReplayRef = { epoch: 0, version: 7, createdAt: 1_700_000_000_123 };

/** What every ReplayStore must do. */
export function replayStoreContract(name: string, openRig: () => Promise<ReplayStoreRig>): void {
  describe(`ReplayStore: ${name}`, () => {
    let rig: ReplayStoreRig | undefined;
    const open = async () => {
      rig = await openRig();
      return rig;
    };
    afterEach(async () => {
      await rig?.close();
      rig = undefined;
    });

    it.each([
      ['nothing', ''],
      ['text', '{"answer":"é 日本 😀"}\n'],
      ['a long text', 'turn '.repeat(200_000)],
    ])('reads back %s as it was put', async (_name, text) => {
      const { store, second } = await open();
      await store.put('user1', REF, text);
      expect(await second.read('user1', REF)).toBe(text);
    });

    it('holds nothing of a version, an epoch or a time that was not put', async () => {
      const { store } = await open();
      await store.put('user1', REF, 'x');
      for (const other of [{ epoch: 1 }, { version: 8 }, { createdAt: 5 }])
        expect(await store.read('user1', { ...REF, ...other })).toBeUndefined();
    });

    it('replaces a record that is put again', async () => {
      const { store } = await open();
      await store.put('user1', REF, 'one');
      await store.put('user1', REF, 'two');
      expect(await store.read('user1', REF)).toBe('two');
      expect(await store.list('user1')).toEqual([REF]);
    });

    it('lists what is kept of a user, by epoch and version, and of nobody else', async () => {
      const { store, second } = await open();
      const refs = [
        { ...REF, version: 1_000 },
        { ...REF, epoch: 2, version: 3 },
        { ...REF, version: 9 },
        { ...REF, epoch: 10, version: 1 },
      ];
      for (const ref of refs) await store.put('user1', ref, 'x');
      await store.put('user10', REF, 'y');
      const order = [refs[2], refs[0], refs[1], refs[3]];
      expect(await second.list('user1')).toEqual(order);
      expect(await second.list('user10')).toEqual([REF]);
      expect(await second.list('user')).toEqual([]);
    });

    it('removes records for good, those that are not there without a word, and no others', async () => {
      const { store, second, contents } = await open();
      const kept = { ...REF, version: 70 };
      await store.put('user1', REF, 'one');
      await store.put('user1', REF, 'two');
      await store.put('user1', kept, 'three');
      await store.put('user2', REF, 'four');
      await store.remove('user1', [REF, { ...REF, version: 99 }]);
      expect(await second.read('user1', REF)).toBeUndefined();
      expect(await second.list('user1')).toEqual([kept]);
      expect(await second.read('user2', REF)).toBe('four');
      expect(await contents()).toBe(2);
    });

    it.each([
      ['cut off', (bytes: Uint8Array) => bytes.slice(0, Math.floor(bytes.length / 2))],
      ['empty', () => new Uint8Array()],
      [
        'changed in the middle',
        (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 255 : byte)),
      ],
      ['no archive at all', () => new TextEncoder().encode('{"format":1}')],
    ])('says of a record that is %s that it cannot be read', async (_name, change) => {
      const { store, damage } = await open();
      await store.put('user1', REF, JSON.stringify({ text: Array.from({ length: 500 }, (_, at) => at) }));
      await damage('user1', REF, change);
      const error = await store.read('user1', REF).catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(DefectError);
      expect(error).toMatchObject({ code: 'replay.unreadable' });
      await store.remove('user1', [REF]); // and can be rid of it
      expect(await store.list('user1')).toEqual([]);
    });
  });
}
