import { describe, expect, it } from 'vitest';
import { toUserKey } from '../../core/ids.ts';
import { NO_TRACES, type TraceCounts, type UserTraces } from '../../core/ports/user-traces.ts';
import { type Ground, onGround } from '../support/ground.ts';

/** What keeps something of users, with a way to have it keep some. */
export interface TracedStore {
  readonly traces: UserTraces;
  /**
   * Keeps a little of everything that this technology keeps of a user: with older versions and delete markers where it has
   * them. @returns how much it kept, to the last item
   */
  leave(userKey: string): Promise<TraceCounts>;
}

/** User keys that share beginnings, and what `toUserKey` makes of ids that are no plain keys. */
const USERS = [
  'user1',
  'user10',
  'user',
  'USER1',
  'user1.x',
  ...['a/b', '../user1', 'user1/', 'Zoë 日本 😀', '%', 'x'.repeat(200)].map(toUserKey),
];

/** Everything that counts and erases a user keeps to this. */
export function userTracesContract(name: string, makeGround: () => Ground<TracedStore>): void {
  const on = (check: Parameters<typeof onGround<TracedStore>>[1]) => () => onGround(makeGround(), check);

  describe(`user traces: ${name}`, () => {
    it(
      'counts nothing of a user of whom nothing is kept, and erases nothing',
      on(async ({ traces }) => {
        expect(await traces.count('nobody')).toEqual(NO_TRACES);
        expect(await traces.erase('nobody')).toEqual(NO_TRACES);
      }),
    );

    it(
      'counts all that is kept of each user, and of nobody else',
      on(async (store, other) => {
        const kept = new Map<string, TraceCounts>();
        for (const user of USERS) kept.set(user, await store.leave(user));
        for (const user of USERS) {
          expect(total(kept.get(user) ?? NO_TRACES), user).toBeGreaterThan(0);
          expect(await other.traces.count(user), user).toEqual(kept.get(user));
        }
      }),
    );

    it(
      'erases all of a user, says how much that was, and touches nobody else',
      on(async (store, other) => {
        const kept = new Map<string, TraceCounts>();
        for (const user of USERS) kept.set(user, await store.leave(user));
        for (const [at, user] of USERS.entries()) {
          expect(await store.traces.erase(user), user).toEqual(kept.get(user));
          expect(await other.traces.count(user), user).toEqual(NO_TRACES);
          for (const left of USERS.slice(at + 1)) expect(await other.traces.count(left), left).toEqual(kept.get(left));
        }
      }),
    );

    it(
      'finds nothing more to erase the second time, and can keep something of the user again',
      on(async (store) => {
        await store.leave('user1');
        await store.traces.erase('user1');
        expect(await store.traces.erase('user1')).toEqual(NO_TRACES);
        const kept = await store.leave('user1');
        expect(await store.traces.count('user1')).toEqual(kept);
      }),
    );

    it(
      'leaves nothing when two erase at once',
      on(async (store, other) => {
        await store.leave('user1');
        const kept = await store.leave('user10');
        await Promise.all([store.traces.erase('user1'), other.traces.erase('user1')]);
        expect(await store.traces.count('user1')).toEqual(NO_TRACES);
        expect(await store.traces.count('user10')).toEqual(kept);
      }),
    );
  });
}

function total({ objects, versions, items }: TraceCounts): number {
  return objects + versions + items;
}
