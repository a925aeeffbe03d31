import type { AgentEnd } from '../agent/agent.ts';
import { StillroomError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import { DAY_MS } from '../time.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import { SHRINK_CODES } from './shrink-guard.ts';

/** Another run holds the lock, or a reset happened: nothing of this run counts. */
export const OWNERSHIP_LOST = 'consolidation.ownership_lost';

/** Why a run failed, and when the next may be tried. */
export interface Setback {
  readonly code: string;
  /** Content-free. */
  readonly detail: string;
  /** What status says, content-free; it begins with the code. Absent: the code alone. */
  readonly told?: string;
  /** ms until the next claim; absent: an hour. */
  readonly retryMs?: number;
  /** Absent: true. */
  readonly spendsRetry?: boolean;
}

/** An end of the agent that is nobody's fault costs no retry and waits only as long as its cause lasts. */
export function setbackForStop(end: Extract<AgentEnd, { kind: 'stopped' }>, now: number): Setback {
  const { code, detail } = end;
  switch (code) {
    case 'budget.daily_tokens': // the ledger's next day, UTC (DV-21)
      return { code, detail, retryMs: DAY_MS - (now % DAY_MS), spendsRetry: false };
    case 'model.rate_limited':
      return { code, detail, retryMs: Math.min(DAY_MS, end.retryAfterMs ?? LIMITS.retryDelayMs), spendsRetry: false };
    case 'agent.deadline':
      return { code, detail, retryMs: 0, spendsRetry: false };
    case 'agent.ownership_lost':
      return { code: OWNERSHIP_LOST, detail };
    default:
      return { code, detail };
  }
}

/** Somebody changed the memory whenever the run was about to publish: that is no fault of the run, which may be tried again. */
export function setbackForMoved(version: number): Setback {
  return { code: 'consolidation.moved', detail: `version ${version} came in between`, spendsRetry: false };
}

const TOLD_FAULTS = 5;

/**
 * The result did not pass the gates: status tells the first faults by code and place (a file of the memory and a line), never
 * by what stands there.
 */
export function setbackForFaults(faults: readonly ArtifactFault[]): Setback {
  const shrunk = faults.some((fault) => SHRINK_CODES.has(fault.code));
  const code = shrunk ? 'artifacts.shrunk' : 'artifacts.invalid';
  const told = faults.slice(0, TOLD_FAULTS).map((fault) => `${fault.code} ${fault.place}`);
  const more = faults.length - told.length;
  const places = [...told, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return { code, detail: `${faults.length} faults: ${places}`, told: `${code}: ${places}` };
}

/** A step that threw. What is no failure of ours by name is told as a defect, without its message. */
export function setbackForError(error: unknown): Setback {
  if (error instanceof StillroomError) return { code: error.code, detail: error.kind };
  return { code: 'core.unexpected', detail: error instanceof Error ? error.name : 'not an error' };
}
