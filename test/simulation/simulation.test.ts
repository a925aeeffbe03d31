import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '../../core/time.ts';
import { Agenda } from './agenda.ts';
import { SCENARIOS, type Scenario, TIMES } from './scenario.ts';
import { World } from './world.ts';

/** A tenth of a scenario: as many uploads for each worker, on one day. */
function small(name: string): Scenario {
  const scenario = SCENARIOS.find((item) => item.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return { ...scenario, days: 1, users: 100, rolloutsPerDay: 1_000, workers: 1 };
}

async function simulate(name: string, more: Partial<Scenario> = {}): Promise<World> {
  const world = new World({ ...small(name), ...more });
  await world.run();
  return world;
}

function succeeded(world: World): readonly number[] {
  return [...world.uploads.values()].filter((upload) => !upload.poison).map((upload) => upload.succeeded);
}

describe('a large deployment, simulated', () => {
  it.each(SCENARIOS.filter((scenario) => scenario.burst === undefined).map((scenario) => scenario.name))(
    '%s: nothing is lost, nothing is paid for twice',
    async (name) => {
      const world = await simulate(name);
      expect(world.open()).toEqual([]);
      const inDeadLetters = world.deadLetters.size;
      expect(new Set(succeeded(world))).toEqual(new Set(inDeadLetters === 0 ? [1] : [0, 1]));
      expect(succeeded(world).filter((count) => count === 0)).toHaveLength(inDeadLetters);
    },
  );

  it('an outage that refuses costs no paid call; unreadable uploads neither', async () => {
    for (const name of ['provider refuses for 6 hours', 'half of an hour is unreadable']) {
      const uploads = [...(await simulate(name)).uploads.values()];
      const wanted = uploads.filter((upload) => !upload.poison).length;
      expect(uploads.reduce((sum, upload) => sum + upload.paid, 0)).toBe(wanted);
    }
  });

  it('C21 what one user uploads at once does not hold up the others', async () => {
    const delays = async (burst: number): Promise<number> => {
      const world = await simulate('one user uploads 1,000 at once', { burst, workers: 2, rolloutsPerDay: 500 });
      const others = [...world.uploads.values()].filter((upload) => !upload.burst);
      const sorted = others.map((upload) => (upload.endedAt ?? 0) - upload.readyAt).sort((left, right) => left - right);
      return sorted[Math.floor(0.95 * sorted.length)] ?? 0;
    };
    expect(await delays(250)).toBeLessThan(1.5 * (await delays(0)));
  });

  it('C10 a wave of 500 fills no dead letters at concurrency 2 and receive count 5, which a limit of the function would', async () => {
    expect(TIMES.maxReceives).toBe(5);
    const wave = { burst: 500, workers: 2, rolloutsPerDay: 10 };
    const world = await simulate('one user uploads 1,000 at once', wave);
    expect(world.uploads.size).toBeGreaterThanOrEqual(500);
    expect(world.deadLetters).toEqual(new Set());
    expect(world.open()).toEqual([]);
    expect(new Set(succeeded(world))).toEqual(new Set([1]));
    const refusing = await simulate('one user uploads 1,000 at once', { ...wave, limitedBy: 'function' });
    expect(refusing.deadLetters.size).toBeGreaterThan(0);
  });

  it('the same seed gives the same run', async () => {
    const [first, second] = [await simulate('a plain day'), await simulate('a plain day')];
    expect(second.queueAges).toEqual(first.queueAges);
    expect([...second.uploads.values()]).toEqual([...first.uploads.values()]);
  });

  it('the agenda keeps order, and the order of entry at one time', () => {
    const agenda = new Agenda();
    const seen: number[] = [];
    const times = [5, 1, 3, 1, 4, 1, 5, 2].map((at) => at * SECOND_MS);
    for (const [index, at] of times.entries()) agenda.add(at, () => seen.push(index));
    for (let entry = agenda.next(); entry !== undefined; entry = agenda.next()) entry.act();
    expect(seen).toEqual([1, 3, 5, 7, 2, 4, 0, 6]);
  });
});
