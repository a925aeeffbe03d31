import { setNewest } from './command-pairs.ts';
import type { ToolStep } from './tool-step.ts';

/** Calls without a result are forgotten beyond this, oldest first. */
const MAX_OPEN_CALLS = 64;

/**
 * Replaces results that are no evidence of this session (A16, A18), whatever the agent: the call tells what its result will
 * be.
 */
export class RecallGuard {
  readonly #awaited = new Map<string, string>();

  /** @returns the JSON to hold instead of the item's own, undefined where the item is evidence */
  standIn(step: ToolStep): string | undefined {
    if (step.kind === 'call') {
      if (step.omission !== null) setNewest(this.#awaited, step.callId, step.omission, MAX_OPEN_CALLS);
      return undefined;
    }
    const output = this.#awaited.get(step.callId);
    return output && JSON.stringify({ type: 'function_call_output', call_id: step.callId, output });
  }
}
