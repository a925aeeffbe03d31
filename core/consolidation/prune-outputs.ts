import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import { selectPrunable } from './select-inputs.ts';

export interface PrunePorts {
  readonly outputs: StageOneStore;
  readonly threads: ThreadStore;
}

/**
 * Forgets outputs that nobody used or asked for within the window and that no version rests on (behaviours D-07, D-08), the
 * stalest first, at most `LIMITS.pruneBatch` a call. Costs no tokens, so it comes before every guard.
 * @returns how many went
 */
export async function pruneOutputs(
  ports: PrunePorts,
  userKey: string,
  rules: { readonly now: number; readonly maxUnusedDays: number },
): Promise<number> {
  const heads = await ports.outputs.heads(userKey);
  const threads = await ports.threads.getMany(
    userKey,
    heads.map((head) => head.threadId),
  );
  const stale = selectPrunable(heads, threads, { ...rules, limit: LIMITS.pruneBatch });
  return ports.outputs.remove(userKey, stale, { onlyUnselected: true });
}
