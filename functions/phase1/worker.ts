import { ModelWithinDeadline } from '../../core/agent/model-within-deadline.ts';
import { LIMITS } from '../../core/settings.ts';
import type { Task } from './decode-record.ts';
import type { Phase1Deps } from './deps.ts';
import { EvidenceMemory } from './evidence-memory.ts';
import { ModelPause } from './model-pause.ts';

/** The dependencies with what a process remembers between its invocations: times and limits, nothing of a request. */
export interface Worker {
  readonly deps: Phase1Deps;
  readonly evidence: EvidenceMemory;
  readonly pause: ModelPause;
}

export function createWorker(deps: Phase1Deps): Worker {
  return { deps, evidence: new EvidenceMemory(deps.jobs, deps.clock), pause: new ModelPause(deps.clock) };
}

/** What one invocation may still do. */
export interface Invocation {
  /** Ports of this invocation: its model calls end in time. */
  readonly ports: Phase1Deps;
  /** Whether there is time to begin with this task. */
  hasTimeFor(task: Task): boolean;
}

/**
 * An invocation with so much time left. The first extraction is begun when any model call would fit, since an invocation never
 * has more time than at its start; a further one only when a whole call does (user case C9). What asks no model, such as taking
 * an upload in, needs the time to read a rollout and to write.
 */
export function beginInvocation(deps: Phase1Deps, remainingMs: () => number): Invocation {
  const { extractionReserveMs: reserveMs, leastModelCallMs: leastMs, modelTimeoutMs } = LIMITS;
  const model = new ModelWithinDeadline(deps.model, { remainingMs, reserveMs, leastMs });
  let begun = 0;
  return {
    ports: { ...deps, model },
    hasTimeFor: (task) => {
      if (task.kind !== 'thread_due') return remainingMs() >= reserveMs;
      const callMs = begun === 0 ? leastMs : modelTimeoutMs;
      if (remainingMs() < callMs + reserveMs) return false;
      begun++;
      return true;
    },
  };
}
