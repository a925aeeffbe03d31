import { describe, expect, it } from 'vitest';
import type { HeadStore, SwitchRequest } from '../../core/ports/head-store.ts';
import { type Ground, onGround } from '../support/ground.ts';
import { NOW } from '../support/sample-state.ts';

const EMPTY = { version: 0, publishedAt: null, summary: '', pendingNotes: [], places: [], epoch: 0, fence: null };

/** Every head store keeps to this. */
export function headStoreContract(name: string, makeGround: () => Ground<HeadStore>): void {
  const on = (check: Parameters<typeof onGround<HeadStore>>[1]) => () => onGround(makeGround(), check);

  describe(`head store: ${name}`, () => {
    it(
      'reads as version 0 before anything is published',
      on(async (store) => {
        expect(await store.read('u')).toEqual(EMPTY);
      }),
    );

    it(
      'switches once from the version, epoch and fence that are current, and keeps it over reopening',
      on(async (store, _other, reopen) => {
        expect(await store.setFence('u', 'f')).toEqual({ ...EMPTY, fence: 'f' });
        expect(await store.switchTo('u', switchFrom(0, 1, { fence: 'f' }))).toBe('switched');
        const head = { ...EMPTY, ...switchFrom(0, 1).to, fence: 'f' };
        expect(await store.read('u')).toEqual(head);
        expect(await reopen().read('u')).toEqual(head);
      }),
    );

    it.each([
      ['another version is current', switchFrom(1, 2, { fence: 'f' })],
      ['the epoch is another', switchFrom(0, 2, { fence: 'f', epoch: 1 })],
      ['somebody else holds the fence', switchFrom(0, 2, { fence: 'g' })],
    ])('loses and changes nothing when %s', (_why, request) =>
      onGround(makeGround(), async (store) => {
        await store.setFence('u', 'f');
        const before = await store.read('u');
        expect(await store.switchTo('u', request)).toBe('lost');
        expect(await store.read('u')).toEqual(before);
      }),
    );

    it(
      'needs no fence for a small version, and leaves the fence as it is',
      on(async (store) => {
        await store.setFence('u', 'f');
        expect(await store.switchTo('u', switchFrom(0, 1))).toBe('switched');
        expect(await store.read('u')).toMatchObject({ version: 1, fence: 'f' });
      }),
    );

    it(
      'lets exactly one of many publishers over the same version win',
      on(async (one, other) => {
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, at) => (at % 2 ? one : other).switchTo('u', switchFrom(0, at + 1))),
        );
        expect(answers.filter((answer) => answer === 'switched')).toHaveLength(1);
        expect((await other.read('u')).version).toBe(answers.indexOf('switched') + 1);
      }),
    );

    it(
      'makes the commit of an older claimer fail once a newer one has set its fence',
      on(async (one, other) => {
        await one.setFence('u', 'old');
        await other.setFence('u', 'new');
        expect(await one.switchTo('u', switchFrom(0, 1, { fence: 'old' }))).toBe('lost');
        expect(await other.switchTo('u', switchFrom(0, 1, { fence: 'new' }))).toBe('switched');
      }),
    );

    it(
      'forgets everything at a reset and raises the epoch, so that no run from before commits (DV-18)',
      on(async (store, other) => {
        await store.setFence('u', 'f');
        await store.switchTo('u', switchFrom(0, 1, { fence: 'f' }));
        expect(await other.reset('u')).toEqual({ ...EMPTY, epoch: 1 });
        expect(await store.switchTo('u', switchFrom(0, 2, { fence: 'f' }))).toBe('lost');
        expect(await store.switchTo('u', switchFrom(0, 2))).toBe('lost');
        expect(await store.switchTo('u', switchFrom(0, 2, { epoch: 1 }))).toBe('switched');
        expect((await store.reset('u')).epoch).toBe(2);
      }),
    );

    it(
      'keeps users apart',
      on(async (store) => {
        await store.switchTo('u', switchFrom(0, 1));
        await store.reset('u1');
        expect((await store.read('u')).version).toBe(1);
        expect(await store.read('u1')).toEqual({ ...EMPTY, epoch: 1 });
      }),
    );
  });
}

function switchFrom(
  from: number,
  version: number,
  given: { readonly fence?: string; readonly epoch?: number } = {},
): SwitchRequest {
  const pendingNotes = [{ path: 'extensions/ad_hoc/notes/n.md', text: 'note "日本"' }];
  const places = [{ directory: '/src/"日本"', project: 'host/a' }];
  const to = { version, publishedAt: NOW, summary: 'v1\n😀', pendingNotes, places };
  return { from, epoch: given.epoch ?? 0, fence: given.fence ?? null, to };
}
