/**
 * What a large deployment would go through, by simulation (docs/scale.md): the real use cases over stores in memory, a queue, its
 * workers, the sweep, and a clock that jumps. Prints a table, and JSON with `--json`. Exits with 1 when an upload was lost or
 * paid for twice.
 */
import { toFileTime } from '../../core/time.ts';
import {
  CONSOLIDATION,
  costOf,
  EXTRACTION,
  EXTRACTION_SECONDS,
  type Footprint,
  LIMITS_OF_AWS,
  READ,
} from './footprint.ts';
import { NOON, SCENARIOS, type Scenario } from './scenario.ts';
import { type Upload, World } from './world.ts';

const SCALE = 1_000;
const SHARDS = 16;
const PEAK = 1.8;

interface Result {
  readonly scenario: string;
  readonly uploads: number;
  readonly lost: number;
  readonly paid_twice: number;
  readonly dead_letters: number;
  readonly messages: number;
  readonly queue_age_s: { readonly p50: number; readonly p95: number; readonly max: number };
  /** From the moment an upload may be extracted to its end; of the hot user's and of all others. */
  readonly delay_s: { readonly p50: number; readonly p95: number; readonly max: number };
  readonly hot_delay_s: { readonly max: number } | null;
  readonly paid_calls: number;
  readonly consolidations: number;
  readonly sweep: { readonly most_handed_on: number; readonly most_queries: number };
  readonly caught_up: string;
}

const results: Result[] = [];
for (const scenario of SCENARIOS) {
  results.push(await simulate(scenario));
  if (!process.argv.includes('--json')) console.error(`simulated: ${scenario.name}`);
}
const capacity = describeCapacity();
const money = [EXTRACTION, CONSOLIDATION, READ].map(describeCost);
if (process.argv.includes('--json')) console.log(JSON.stringify({ results, capacity, money }, null, 2));
else print();
const broken = results.filter((result) => result.lost > 0 || result.paid_twice > 0);
process.exitCode = broken.length > 0 ? 1 : 0;

async function simulate(scenario: Scenario): Promise<Result> {
  const world = new World(scenario);
  await world.run();
  const uploads = [...world.uploads.values()];
  const others = uploads.filter((upload) => !upload.burst && !world.deadLetters.has(upload.threadId));
  const hot = uploads.filter((upload) => upload.burst);
  return {
    scenario: scenario.name,
    uploads: uploads.length,
    lost: world.open().length,
    paid_twice: uploads.filter((upload) => upload.succeeded > 1).length,
    dead_letters: world.deadLetters.size,
    messages: world.received,
    queue_age_s: spread(world.queueAges.map((age) => age.ms)),
    delay_s: spread(others.map(delayOf)),
    hot_delay_s: hot.length === 0 ? null : { max: spread(hot.map(delayOf)).max },
    paid_calls: uploads.reduce((sum, upload) => sum + upload.paid, 0),
    consolidations: world.consolidations,
    sweep: {
      most_handed_on: Math.max(...world.sweeps.map((sweep) => sweep.handedOn)),
      most_queries: Math.max(...world.sweeps.map((sweep) => sweep.queries)),
    },
    caught_up: toFileTime(Math.max(...uploads.map((upload) => upload.endedAt ?? NOON))),
  };
}

function delayOf(upload: Upload): number {
  return Math.max(0, (upload.endedAt ?? Number.POSITIVE_INFINITY) - upload.readyAt);
}

function spread(values: readonly number[]): { p50: number; p95: number; max: number } {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) / 1_000);
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** Where the limits stand at 10 million rollouts a day, counted at the busiest hour. */
function describeCapacity(): readonly { readonly what: string; readonly needed: number; readonly limit: number }[] {
  const perSecond = ((10_000 * SCALE) / 86_400) * PEAK;
  const seconds = EXTRACTION_SECONDS;
  const indexUnits = 9 * perSecond;
  return [
    {
      what: 'calls at once, against one mapping',
      needed: perSecond * seconds,
      limit: LIMITS_OF_AWS.mappingConcurrency,
    },
    {
      what: 'executions at once, against the account default',
      needed: perSecond * seconds,
      limit: LIMITS_OF_AWS.accountConcurrency,
    },
    {
      what: 'write units a second of the table, against the default',
      needed: perSecond * EXTRACTION.tableWriteUnits,
      limit: LIMITS_OF_AWS.tableWriteUnits,
    },
    {
      what: 'write units a second of one shard of the due index',
      needed: indexUnits / SHARDS,
      limit: LIMITS_OF_AWS.partitionWriteUnits,
    },
  ];
}

function describeCost(work: Footprint): { name: string; times: number; aws: number; model: number } {
  const times = work === READ ? 1_000_000 : 1_000;
  return { name: work.name, times, ...costOf(work, times) };
}

function print(): void {
  console.log(`Simulated at 1 : ${SCALE} (users, uploads and workers), seconds`);
  console.table(
    Object.fromEntries(
      results.map((result) => [
        result.scenario,
        {
          uploads: result.uploads,
          lost: result.lost,
          'paid twice': result.paid_twice,
          'dead letters': result.dead_letters,
          messages: result.messages,
          'age p50': result.queue_age_s.p50,
          'age max': result.queue_age_s.max,
          'delay p50': result.delay_s.p50,
          'delay p95': result.delay_s.p95,
          'delay max': result.delay_s.max,
          'hot max': result.hot_delay_s?.max ?? '',
          'paid calls': result.paid_calls,
          'sweep max': result.sweep.most_handed_on,
        },
      ]),
    ),
  );
  console.log('Capacity at 10 million rollouts a day, busiest hour');
  console.table(
    capacity.map(({ what, needed, limit }) => ({
      what,
      needed: Math.round(needed),
      limit,
      share: (needed / limit).toFixed(2),
    })),
  );
  console.log('Money, US dollars');
  console.table(
    money.map(({ name, times, aws, model }) => ({ what: name, times, aws: aws.toFixed(2), model: model.toFixed(2) })),
  );
}
