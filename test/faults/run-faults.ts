/**
 * The fault matrix over the whole path (`npm run test:faults`): every call of every function fails, hangs, loses its reply, or is
 * where its function dies; after each single fault the path must come to rest as it would without it. Prints a table, JSON with
 * `--json`; exits with 1 when a cell broke. `--sample N` tries N cells only, chosen by `--seed S`; `--only TEXT` those of calls whose
 * names hold the text; `--lanes N` (2) processes share the work.
 */
import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Random } from '../simulation/random.ts';
import { startEmulator } from '../support/dynalite.ts';
import type { FaultPlan } from './fault-point.ts';
import { type CellEnd, listCalls, plansFor, runCell, sampleOf, toRows } from './matrix.ts';
import { printMatrix } from './print-matrix.ts';
import { startProvider } from './provider.ts';
import type { Ground } from './world.ts';

/** The doubles keep all that they were told for as long as their process lives. */
const CELLS_PER_PROCESS = 60;

/** What a lane is given, and answers with a cell's end each. */
interface Work {
  readonly plans: readonly FaultPlan[];
  readonly answers: number;
}

if (process.send === undefined) await runAll();
else process.once('message', (work: Work) => void runLane(work));

async function runAll(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      lanes: { type: 'string', default: '2' },
    },
  });
  const startedAt = performance.now();
  const ground = await openGround();
  const { calls, answers } = await listCalls(ground);
  const all = plansFor(calls).filter((plan) => plan.name.includes(values.only));
  const size = values.sample === undefined ? all.length : Number(values.sample);
  const plans = sampleOf(all, size, new Random(Number(values.seed)));
  const lanes = Array.from({ length: Number(values.lanes) }, (_, lane) =>
    plans.filter((_plan, at) => at % Number(values.lanes) === lane),
  );
  const ends = (await Promise.all(lanes.map((own) => runInProcesses(own, answers)))).flat();
  const rows = toRows(calls, ends);
  const broken = ends.filter((end) => end.faults.length > 0);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const summary = {
    calls: calls.length,
    cells: ends.length,
    of: all.length,
    seed: Number(values.seed),
    broken: broken.length,
    seconds,
  };
  if (values.json) console.log(JSON.stringify({ ...summary, rows }, null, 2));
  else {
    console.log(printMatrix(rows));
    console.log(
      `faults: ${ends.length} of ${all.length} cells over ${calls.length} calls in ${seconds} s, ${broken.length} broke`,
    );
  }
  process.exit(broken.length === 0 && ends.length === plans.length ? 0 : 1);
}

async function openGround(): Promise<Ground> {
  const [emulator, provider] = await Promise.all([startEmulator(), startProvider()]);
  return { emulator, provider };
}

/** One lane's cells, process after process. */
async function runInProcesses(plans: readonly FaultPlan[], answers: number): Promise<readonly CellEnd[]> {
  const ends: CellEnd[] = [];
  for (let at = 0; at < plans.length; at += CELLS_PER_PROCESS)
    ends.push(...(await runInLane({ plans: plans.slice(at, at + CELLS_PER_PROCESS), answers })));
  return ends;
}

/** @throws Error when the lane ends before its work does */
function runInLane(work: Work): Promise<readonly CellEnd[]> {
  const lane = fork(import.meta.filename, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ends: CellEnd[] = [];
  return new Promise((resolve, reject) => {
    lane.on('message', (end: CellEnd) => {
      ends.push(end);
      if (ends.length === work.plans.length) lane.disconnect();
    });
    lane.on('exit', () => (ends.length === work.plans.length ? resolve(ends) : reject(new Error('a lane died'))));
    lane.send(work);
  });
}

async function runLane({ plans, answers }: Work): Promise<void> {
  const ground = await openGround();
  process.once('disconnect', () => process.exit(0)); // calls of dead functions never end
  for (const plan of plans) process.send?.(await runCell(ground, plan, answers));
}
