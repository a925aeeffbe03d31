import type { ToolStep } from './tool-step.ts';

/** Calls without a result are forgotten beyond this, oldest first. */
const MAX_OPEN_CALLS = 64;
const MAX_FAILED_COMMANDS = 32;

interface Run {
  readonly command: string;
  readonly masked: boolean;
  readonly place: number;
}

/**
 * Finds commands that failed and later passed while items stream by, in bounded memory. What failed and why, and what made
 * it pass, is worth more than other tool rows.
 */
export class CommandPairs {
  readonly #open = new Map<string, Run>();
  readonly #failed = new Map<string, readonly number[]>();
  readonly #ranks = new Map<number, number>();
  #count = 0;

  /** Pairs found so far. */
  get count(): number {
    return this.#count;
  }

  /** Of rows of pairs, by place: the number of their pair. A higher one is newer. */
  get ranks(): ReadonlyMap<number, number> {
    return this.#ranks;
  }

  /** @returns the places of the four rows of the pair that this item completes */
  add(step: ToolStep, place: number): readonly number[] | undefined {
    if (step.kind === 'call') {
      const { callId, command, masked } = step;
      if (command !== null) setNewest(this.#open, callId, { command, masked, place }, MAX_OPEN_CALLS);
      return undefined;
    }
    const run = this.#open.get(step.callId);
    if (run === undefined) return undefined;
    this.#open.delete(step.callId);
    const { command } = run;
    const verdict = step.verdict(run.masked);
    if (verdict === 'unknown') return undefined;
    if (verdict === 'failed') {
      setNewest(this.#failed, command, [run.place, place], MAX_FAILED_COMMANDS);
      return undefined;
    }
    const failed = this.#failed.get(command);
    if (failed === undefined) return undefined;
    this.#failed.delete(command);
    const places = [...failed, run.place, place];
    for (const each of places) this.#ranks.set(each, this.#count);
    this.#count++;
    return places;
  }

  /** Rows that are gone have no rank. */
  forgetOthers(kept: ReadonlySet<number>): void {
    for (const place of this.#ranks.keys()) if (!kept.has(place)) this.#ranks.delete(place);
  }

  /** Places whose rows a later item may still make part of a pair. */
  awaited(): ReadonlySet<number> {
    return new Set([...[...this.#open.values()].map((run) => run.place), ...[...this.#failed.values()].flat()]);
  }
}

/** Sets as the newest entry, and forgets the oldest beyond the limit. */
export function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= limit) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
