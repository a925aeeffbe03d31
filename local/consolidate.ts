import { setTimeout } from 'node:timers/promises';
import { consolidate } from '../core/consolidation/consolidate.ts';
import type { ConsolidationRequest, ConsolidationResult } from '../core/consolidation/consolidation-ports.ts';
import { type ConsolidationPlan, planConsolidation } from '../core/consolidation/plan-consolidation.ts';
import { LIMITS } from '../core/settings.ts';
import type { Home } from './home.ts';
import type { ModelSetup } from './model.ts';
import { modelPorts } from './model-ports.ts';
import { refreshWorkingCopy, type TakenEdits, takeEdits } from './sync-working-copy.ts';

const POLL_MS = 100;

/**
 * Consolidates a home. Where another process is at it, waits for its end: it may have left us nothing to do. Two that ask at
 * once are thus one run.
 * @param immediate true: a person asked, so no cooldown and no waiting retry
 */
export async function consolidateHome(home: Home, model: ModelSetup, immediate: boolean): Promise<ConsolidationResult> {
  const deadline = home.clock.now() + LIMITS.consolidationLeaseMs;
  for (;;) {
    const result = await consolidate(modelPorts(home, model), {
      ...requestOf(home, model.consolidationModel),
      immediate,
    });
    if (result.kind !== 'refused' || result.reason !== 'running' || home.clock.now() >= deadline) return result;
    home.recoverDeadRuns();
    await setTimeout(POLL_MS);
  }
}

export interface LocalConsolidation {
  readonly result: ConsolidationResult;
  readonly edits: TakenEdits;
}

/** One consolidation with what belongs to it on a person's machine: edits of the working copy go in first, the new version comes out. */
export async function consolidateWorkingCopy(
  home: Home,
  model: ModelSetup,
  immediate: boolean,
): Promise<LocalConsolidation> {
  home.recoverDeadRuns();
  const edits = await takeEdits(home);
  const result = await consolidateHome(home, model, immediate);
  await refreshWorkingCopy(home);
  return { result, edits };
}

/** What a consolidation would be about; changes nothing and asks no model. */
export function planHome(home: Home, consolidationModel: string): Promise<ConsolidationPlan> {
  return planConsolidation(home, requestOf(home, consolidationModel));
}

function requestOf(home: Home, model: string): ConsolidationRequest {
  return { userKey: home.userKey, settings: home.settings, model, oneShotTokens: LIMITS.oneShotTokens };
}
