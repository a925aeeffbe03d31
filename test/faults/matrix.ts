import type { Random } from '../simulation/random.ts';
import { FAULTS, type Fault, type FaultPlan, type NumberedCall } from './fault-point.ts';
import { runPath } from './path.ts';
import type { Ground } from './world.ts';

/** What became of the path when one call met one fault. */
export interface CellEnd extends FaultPlan {
  /** Empty: it came to rest as it would without the fault. */
  readonly faults: readonly string[];
  /** Answers that the provider gave beyond those of a run without a fault. */
  readonly extraAnswers: number;
}

/** All calls of a kind, and what became of them by fault. */
export interface Row {
  readonly name: string;
  readonly calls: number;
  readonly cells: Partial<Record<Fault, readonly CellEnd[]>>;
}

/**
 * The path without a fault, which numbers its calls.
 * @throws Error when it does not end as it should: nothing else would mean anything then
 */
export async function listCalls(
  ground: Ground,
): Promise<{ readonly calls: readonly NumberedCall[]; readonly answers: number }> {
  const { faults, calls, answers } = await runPath(ground);
  if (faults.length > 0) throw new Error(`the path breaks without a fault: ${faults.join('; ')}`);
  return { calls, answers };
}

/**
 * Every fault that a call can meet. A read leaves nothing behind: to lose its reply is to hang, and to die after it is to die
 * before the next call. And only the SDK repeats a call by itself.
 */
export function plansFor(calls: readonly NumberedCall[]): readonly FaultPlan[] {
  return calls.flatMap(({ name, number, writes, repeats }) =>
    FAULTS.filter((fault) => isMet(fault, writes, repeats)).map((fault) => ({ name, number, fault })),
  );
}

function isMet(fault: Fault, writes: boolean, repeats: boolean): boolean {
  if (fault === 'repeated') return writes && repeats;
  return writes || fault === 'fails' || fault === 'hangs' || fault === 'dies before';
}

/** One cell: the path in a fresh deployment, with one fault. */
export async function runCell(ground: Ground, plan: FaultPlan, answers: number): Promise<CellEnd> {
  const end = await runPath(ground, plan);
  const faults = end.met ? end.faults : ['the call was never made', ...end.faults];
  return { ...plan, faults, extraAnswers: end.answers - answers };
}

/** Cells by row, rows in the order of the path; calls of which nothing was tried are left out. */
export function toRows(calls: readonly NumberedCall[], ends: readonly CellEnd[]): readonly Row[] {
  const tried = new Set(ends.map((end) => end.name));
  const names = [...new Set(calls.map((call) => call.name))].filter((name) => tried.has(name));
  return names.map((name) => {
    const own = ends.filter((end) => end.name === name);
    const cells = FAULTS.flatMap((fault) => {
      const met = own.filter((end) => end.fault === fault);
      return met.length === 0 ? [] : [[fault, met] as const];
    });
    return { name, calls: calls.filter((call) => call.name === name).length, cells: Object.fromEntries(cells) };
  });
}

/** Some of the plans, the same for one seed: every kind of call with one fault at least as far as the number goes. */
export function sampleOf(plans: readonly FaultPlan[], size: number, random: Random): readonly FaultPlan[] {
  const left = [...plans].map((plan) => ({ plan, rank: random.next() })).sort((one, other) => one.rank - other.rank);
  const names = new Set<string>();
  const firsts = left.filter(({ plan }) => !names.has(plan.name) && names.add(plan.name));
  const rest = left.filter((item) => !firsts.includes(item));
  return [...firsts, ...rest].slice(0, size).map(({ plan }) => plan);
}
