import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { codexRollout } from '../support/rollout-builder.ts';
import { checkEnd, checkRest } from './check-end.ts';
import type { FaultPlan, NumberedCall } from './fault-point.ts';
import { NOTES, THREADS } from './told.ts';
import { type Ground, World } from './world.ts';

/** How one run of the path ended. */
export interface PathEnd {
  /** What broke; empty: nothing. */
  readonly faults: readonly string[];
  readonly calls: readonly NumberedCall[];
  /** Answers that the provider gave. */
  readonly answers: number;
  /** False: the planned fault never met its call. */
  readonly met: boolean;
}

/**
 * The whole path once: two uploads, extraction of the one by its event and of the other by the sweep, a note, a consolidation of
 * three turns, a citation, reads, another note. At most one call meets a fault. Then everything is left to come to rest, which takes
 * the last note in; one more consolidation cleans up, and what is there is looked at.
 */
export async function runPath(ground: Ground, plan?: FaultPlan): Promise<PathEnd> {
  ground.provider.reset(Object.values(THREADS));
  const world = await World.open(ground, plan);
  try {
    await walk(world);
    world.point.end();
    await world.workToEnd();
    const { answers } = world.payments;
    await checkRest(world);
    world.clock.advance(2 * HOUR_MS);
    await world.consolidateNow();
    if (world.payments.answers > answers) world.faults.push('paid for a consolidation of nothing');
    await checkEnd(world);
    return { faults: [...world.faults], calls: world.point.calls, answers, met: world.point.met };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { faults: [...world.faults, message], calls: world.point.calls, answers: 0, met: world.point.met };
  } finally {
    await world.close();
  }
}

async function walk(world: World): Promise<void> {
  await upload(world, THREADS.waiting, '');
  await world.workNow();
  world.clock.advance(7 * HOUR_MS);
  await upload(world, THREADS.ended, '?ended=true');
  await world.workNow();
  await addNote(world, NOTES[0]);
  await world.workToEnd();
  await cite(world);
  await read(world);
  await addNote(world, NOTES[1]);
}

async function upload(world: World, threadId: string, query: string): Promise<void> {
  const body = codexRollout({ id: threadId, startAt: world.clock.now() - 10 * MINUTE_MS, cwd: '/home/dev/shop' })
    .user(`fix the failing checkout test (session ${threadId})`)
    .call('shell', { command: 'npm test' }, 'port 5433 closed')
    .assistant('The database was down. Fixed.')
    .toBytes();
  const { answer } = await world.ask('control', `/v1/rollouts/${threadId}${query}`, { method: 'PUT', body });
  if (answer.status !== 202) world.faults.push(`upload answered ${answer.status}`);
}

/** A repeated request may find its note there. */
async function addNote(world: World, note: (typeof NOTES)[number]): Promise<void> {
  const { answer, asked } = await world.ask('control', '/v1/memory/notes', post(note));
  if (answer.status !== 201 && !(answer.status === 409 && asked > 1))
    world.faults.push(`note answered ${answer.status}`);
}

async function cite(world: World): Promise<void> {
  const path = '/v1/citations?idempotency_key=key-1';
  const { answer } = await world.ask('read', path, post({ citation: { rollout_ids: [THREADS.ended] } }));
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes('"recorded":1')) world.faults.push(`citation answered ${answer.status}`);
}

async function read(world: World): Promise<void> {
  for (const path of ['/v1/memory', '/v1/memory/files/MEMORY.md']) {
    const { answer } = await world.ask('read', path, {});
    const text = await answer.text();
    if (answer.status !== 200 || !text.includes('5433')) world.faults.push(`read of ${path} answered ${answer.status}`);
  }
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
