import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../simulation/fair-queue.ts';
import { batchOf, dueBody, s3Body } from './events.ts';
import { Phase1Bench, withMethods } from './phase1-bench.ts';

const WORKERS = 8;
const HOT = 'hot';
const OTHERS = Array.from({ length: 50 }, (_, at) => `other-${at}`);

interface Run {
  /** Users in the order in which their threads were claimed. */
  readonly claims: readonly string[];
  /** How many of these came before the others' uploads. */
  readonly before: number;
}

/**
 * Uploads so much of one user, works on it with eight workers, and uploads one session each of the others when the first ten of
 * it were claimed.
 * @param groupOf the message group that a thread which is due is sent in
 */
async function run(uploads: number, groupOf: (userKey: string) => string | null): Promise<Run> {
  const bench = new Phase1Bench();
  const queue = new FairQueue<string>();
  const claims: string[] = [];
  const later: string[] = [];
  for (const user of OTHERS) later.push(s3Body(await bench.upload(user, 't')));
  bench.open((ports) => ({
    queue: {
      send: async (messages) => {
        for (const { userKey, threadId } of messages) {
          queue.push({ group: groupOf(userKey), what: dueBody(userKey, threadId) });
        }
      },
    },
    jobs: withMethods(ports.jobs, {
      claim: async (userKey, key, request) => {
        claims.push(userKey);
        // S3 names no group for its events.
        if (claims.length === 10) for (const body of later.splice(0)) queue.push({ group: null, what: body });
        return bench.core.jobs.claim(userKey, key, request);
      },
    }),
  }));
  for (let at = 0; at < uploads; at++) {
    queue.push({ group: null, what: s3Body(await bench.upload(HOT, `t${at}`)) });
  }
  bench.expectCalls(uploads + OTHERS.length);
  const work = async (): Promise<void> => {
    for (let message = queue.take(); message !== undefined; message = queue.take()) {
      expect(await bench.invoke(batchOf(message.what))).toEqual([]);
      queue.done(message.group);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  bench.core.model.assertDone();
  return { claims, before: 10 };
}

/** How many of the hot user's threads were claimed between the others' uploads and the last of the others' claims. */
function heldUpBy({ claims, before }: Run): number {
  const last = claims.findLastIndex((user) => user !== HOT);
  return claims.slice(before, last).filter((user) => user === HOT).length;
}

describe('phase1, one user with a thousand uploads', () => {
  it('C21 extracts fifty others in between, not behind them', async () => {
    const fair = await run(1_000, (userKey) => userKey);
    expect(fair.claims).toHaveLength(1_000 + OTHERS.length);
    expect(new Set(fair.claims)).toEqual(new Set([HOT, ...OTHERS]));
    // What the workers had in hand, and a turn of the hot user among the fifty.
    expect(heldUpBy(fair)).toBeLessThanOrEqual(2 * WORKERS);
  });

  it('C21 it is the message group that does it: without one they wait for all of the backlog', async () => {
    expect(heldUpBy(await run(200, () => null))).toBeGreaterThan(150);
  });
});
