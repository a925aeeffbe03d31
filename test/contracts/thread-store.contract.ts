import { describe, expect, it } from 'vitest';
import type { ThreadStore } from '../../core/ports/thread-store.ts';
import type { Thread } from '../../core/thread/thread.ts';
import { type Ground, onGround } from '../support/ground.ts';
import { NOW, sampleThread } from '../support/sample-state.ts';

const FULL: Thread = sampleThread({
  threadId: 'full',
  memoryMode: 'polluted',
  source: 'my "own" source',
  subagent: true,
  ephemeral: true,
  parentThreadId: 'parent',
  cwd: 'C:\\work\\日本',
  repository: 'git@host:a/b.git',
  gitBranch: "feature/'x'",
  title: 'title \u0000 with NUL, 😀 and \u2028',
  ended: false,
  forgottenAt: NOW,
  requestedAt: NOW - 1,
  reading: { broken: 3, oversized: 1, tornTail: true, redactions: { github_token: 2, named_secret: 1 } },
});

/** Every catalogue keeps to this. */
export function threadStoreContract(name: string, makeGround: () => Ground<ThreadStore>): void {
  const on = (check: Parameters<typeof onGround<ThreadStore>>[1]) => () => onGround(makeGround(), check);

  describe(`thread store: ${name}`, () => {
    it(
      'keeps every field over closing and reopening',
      on(async (store, _other, reopen) => {
        const plain = sampleThread({ cwd: null });
        for (const thread of [FULL, plain]) await store.update('u', thread.threadId, () => thread);
        const again = reopen();
        expect(await again.get('u', 'full')).toEqual(FULL);
        expect(await again.get('u', plain.threadId)).toEqual(plain);
      }),
    );

    it(
      'shows a change what is stored, and leaves it when the change answers undefined',
      on(async (store, other) => {
        const seen: (Thread | undefined)[] = [];
        const look = (stored: Thread | undefined): undefined => {
          seen.push(stored);
        };
        expect(await store.update('u', 't', look)).toBeUndefined();
        expect(await store.get('u', 't')).toBeUndefined();
        const thread = sampleThread({ threadId: 't' });
        expect(await store.update('u', 't', () => thread)).toEqual(thread);
        expect(await other.update('u', 't', look)).toEqual(thread);
        expect(seen).toEqual([undefined, thread]);
      }),
    );

    it(
      'marks all threads that are not forgotten, of this user only, in byte order',
      on(async (store) => {
        const uploaded = { ...sampleThread().rollout, uploadedAt: NOW - 7 };
        const { reading } = FULL;
        await store.update('u', 'b', () =>
          sampleThread({ threadId: 'b', updatedAt: NOW - 9, rollout: uploaded, reading }),
        );
        await store.update('u', 'a', () => sampleThread({ threadId: 'a' }));
        await store.update('u', 'B', () => sampleThread({ threadId: 'B' }));
        await store.update('u', 'full', () => FULL);
        await store.update('u2', 'x', () => sampleThread({ threadId: 'x' }));
        const marks = await store.marks('u');
        expect(marks.map((mark) => mark.threadId)).toEqual(['B', 'a', 'b']);
        const redactions = { github_token: 2, named_secret: 1 };
        expect(marks[2]).toEqual({ threadId: 'b', updatedAt: NOW - 9, uploadedAt: NOW - 7, redactions });
        expect(marks[1]?.redactions).toEqual({});
        expect(await store.marks('u3')).toEqual([]);
      }),
    );

    it(
      'loses no change of many at once',
      on(async (one, other) => {
        await one.update('u', 't', () => sampleThread({ threadId: 't', requestedAt: 0 }));
        await Promise.all(
          Array.from({ length: 40 }, (_, at) =>
            (at % 2 ? one : other).update(
              'u',
              't',
              (stored) => stored && { ...stored, requestedAt: (stored.requestedAt ?? 0) + 1 },
            ),
          ),
        );
        expect((await one.get('u', 't'))?.requestedAt).toBe(40);
      }),
    );

    it(
      'keeps the stored thread when a change throws',
      on(async (store) => {
        await store.update('u', 't', () => sampleThread({ threadId: 't', title: 'kept' }));
        const fail = store.update('u', 't', () => {
          throw new RangeError('from the change');
        });
        await expect(fail).rejects.toThrow('from the change');
        expect((await store.get('u', 't'))?.title).toBe('kept');
        await store.update('u', 't', (stored) => stored && { ...stored, title: 'later' });
        expect((await store.get('u', 't'))?.title).toBe('later');
      }),
    );

    it(
      'says true only for a real change of mode (Q-03)',
      on(async (store) => {
        await store.update('u', 't', () => sampleThread({ threadId: 't' }));
        expect(await store.setMemoryMode('u', 't', 'polluted')).toBe(true);
        expect(await store.setMemoryMode('u', 't', 'polluted')).toBe(false);
        expect(await store.setMemoryMode('u', 'unknown', 'polluted')).toBe(false);
        expect(await store.setMemoryMode('u1', 't', 'disabled')).toBe(false);
        expect((await store.get('u', 't'))?.memoryMode).toBe('polluted');
      }),
    );

    it(
      'lists by id in byte order, page after page, each thread once',
      on(async (store) => {
        const ids = ['b', 'B', 'a.1', 'a', '_', 'a-1', 'Z'];
        for (const id of ids) await store.update('u', id, () => sampleThread({ threadId: id }));
        await store.update('u1', 'other', () => sampleThread({ threadId: 'other' }));
        const seen: string[] = [];
        for (let after: string | undefined; ; ) {
          const page = await store.list('u', after === undefined ? { limit: 3 } : { after, limit: 3 });
          if (page.length === 0) break;
          seen.push(...page.map((thread) => thread.threadId));
          after = seen.at(-1);
        }
        expect(seen).toEqual(['B', 'Z', '_', 'a', 'a-1', 'a.1', 'b']);
        expect(await store.list('u', { limit: 0 })).toEqual([]);
        expect((await store.list('u', { after: 'a0', limit: 9 })).map((thread) => thread.threadId)).toEqual(['b']);
      }),
    );

    it(
      'gets many by id, leaving out unknown ones and other users',
      on(async (store) => {
        for (const id of ['a', 'b']) await store.update('u', id, () => sampleThread({ threadId: id }));
        await store.update('u1', 'c', () => sampleThread({ threadId: 'c' }));
        const found = await store.getMany('u', ['b', 'c', 'a', 'a', 'x"y']);
        expect([...found.keys()].sort()).toEqual(['a', 'b']);
        expect(found.get('a')?.threadId).toBe('a');
        expect(await store.getMany('u', [])).toEqual(new Map());
      }),
    );
  });
}
