import type { ModelPorts } from '../agent/ask-model.ts';
import { setbackForFaults } from '../consolidation/consolidation-setback.ts';
import { editMemory } from '../consolidation/edit-memory.ts';
import type { AgentRunEnd } from '../consolidation/run-agent.ts';
import { DefectError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { compareVersion, type Difference } from './compare-version.ts';
import { KeptSteps } from './kept-steps.ts';
import { openRun, type ReplayPorts, requireSameTemplates } from './open-run.ts';
import { placeVersion } from './place-version.ts';
import { rebuildStart } from './rebuild-start.ts';

export interface Replay {
  readonly version: number;
  /** True: byte for byte the same files, and the same said of their making. */
  readonly equal: boolean;
  readonly difference: Difference | null;
  readonly files: number;
  readonly answers: number;
  readonly model: string;
}

/**
 * Makes a version once more from what is kept of its run: the same inputs, the same answers, the same gates, no model call; then
 * compares it with the version, byte for byte. Changes nothing.
 * @throws what `openRun`, `requireSameTemplates` and `rebuildStart` throw
 */
export async function replayVersion(ports: ReplayPorts, userKey: string, version: number): Promise<Replay> {
  const run = await openRun(ports, userKey, version);
  const { record, manifest } = run;
  await requireSameTemplates(ports.templates, run);
  const start = await rebuildStart(ports.memories, run);
  const steps = new KeptSteps(record.answers);
  const { model } = record;
  const answer = (difference: Difference | undefined): Replay => ({
    version,
    equal: difference === undefined,
    difference: difference ?? null,
    files: Object.keys(manifest.files).length,
    answers: record.answers.length,
    model,
  });
  const edited = await editMemory(withoutModel(ports, steps), {
    userKey,
    dailyTokenBudget: 0,
    model,
    start,
    budget: { ...record.budget, deadline: null },
    oneShotTokens: record.oneShotTokens ?? 0,
    confirmOwnership: async () => true,
  }).catch((error: unknown) => {
    if (steps.divergence === undefined) throw error;
    return undefined;
  });
  if (edited === undefined) return answer(steps.divergence && { kind: 'step', ...steps.divergence });
  const { end, promptVersion, way } = edited;
  if (end.kind !== 'passed') return answer({ kind: 'end', ...reasonOf(end) });
  if (steps.left.length > 0) return answer({ kind: 'end', code: 'replay.answers_left', detail: steps.left.join(', ') });
  const made = { files: end.files, usage: end.usage, turns: end.turns, way, promptVersion, model };
  const draft = await placeVersion(ports.memories, run, start, made);
  if (draft === undefined) return answer({ kind: 'end', code: 'consolidation.moved', detail: 'cannot be merged' });
  return answer(await compareVersion(ports.memories, run, { draft, files: end.files }));
}

/** How a run ended that made no version. Content-free. */
export function reasonOf(end: Exclude<AgentRunEnd, { kind: 'passed' }>): {
  readonly code: string;
  readonly detail: string;
} {
  const { code, detail } = end.kind === 'stopped' ? end.end : setbackForFaults(end.faults);
  return { code, detail };
}

/** Whatever could ask a model, count a call or draw a token says that it must not. */
function withoutModel(
  { templates, clock }: Pick<ReplayPorts, 'templates'> & { readonly clock: Clock },
  steps: KeptSteps,
): ModelPorts & Pick<ReplayPorts, 'templates'> {
  const never = (): never => {
    throw new DefectError('replay.model_called', 'a replay must not call a model');
  };
  return {
    templates,
    clock,
    steps,
    model: { respond: never },
    ledger: { reserve: never, settle: never, day: never },
    tokens: { next: never },
  };
}
