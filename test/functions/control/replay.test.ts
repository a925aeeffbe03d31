import { expect, it } from 'vitest';
import { toUserKey } from '../../../core/ids.ts';
import { DAY_MS } from '../../../core/time.ts';
import { benchWith, USER } from '../../core/consolidation/consolidation-bench.ts';
import { controlWorld } from './control-world.ts';

/** The app over the stores of a user who has consolidated once. */
async function replayWorld() {
  const bench = await benchWith('t1');
  await bench.goodRun('t1');
  const { heads, memories, replays, threads, templates, clock } = bench;
  const world = controlWorld({ heads, memories, replays, threads, templates, clock });
  return {
    bench,
    ask: (path: string, user = USER) => world.ask(`/v1/memory/versions/${path}`, { caller: world.as(user) }),
  };
}

it('a version is made again and said to be equal', async () => {
  const { ask, bench } = await replayWorld();
  expect(toUserKey(USER)).toBe(USER);
  const answer = { version: 1, equal: true, difference: null, files: 4, answers: 3, model: 'm' };
  expect(await ask('1/replay')).toMatchObject({ status: 200, json: answer });
  for (const kept of bench.replays.kept.get(USER)?.values() ?? [])
    kept.text = (kept.text ?? '').replace('start the database first', 'start it twice');
  const difference = { kind: 'file', path: 'memory_summary.md', replayed: '  - learnings: start it twice' };
  expect(await ask('1/replay')).toMatchObject({ status: 200, json: { equal: false, difference } });
});

it('another user has no such version', async () => {
  const { ask } = await replayWorld();
  expect(await ask('1/replay', 'user-2')).toMatchObject({ status: 404, json: { code: 'memory.version_not_found' } });
});

it('what is no version, asks for more, or is gone is told apart', async () => {
  const { ask, bench } = await replayWorld();
  expect(await ask('x/replay')).toMatchObject({ status: 404 });
  expect(await ask('1/replay?model=m')).toMatchObject({ status: 400 });
  await bench.publishSmall('edit', { 'memory_summary.md': 'v1\n' });
  expect(await ask('2/replay')).toMatchObject({ status: 400, json: { code: 'replay.no_run' } });
  bench.clock.advance(31 * DAY_MS);
  expect(await ask('1/replay')).toMatchObject({ status: 410, json: { code: 'replay.expired' } });
});

it('a damaged record is a fault of ours, without its content', async () => {
  const { ask, bench } = await replayWorld();
  for (const kept of bench.replays.kept.get(USER)?.values() ?? []) kept.text = '{"quince":1}';
  const { status, text } = await ask('1/replay');
  expect(status).toBe(500);
  expect(text).not.toContain('quince');
});
