import { InvalidInputError, NotFoundError, UnavailableError } from '../errors.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import { readRollout } from '../rollout/read-rollout.ts';
import type { RolloutCounts, RolloutReading } from '../rollout/rollout.ts';
import type { Settings } from '../settings.ts';

export interface SessionRef {
  readonly userKey: string;
  readonly threadId: string;
  readonly settings: Pick<Settings, 'evidence'>;
}

/** A reading; without counts where the rollout could not even be opened. */
export type SessionReading =
  | Pick<Extract<RolloutReading, { kind: 'read' }>, 'kind' | 'facts' | 'evidence' | 'counts'>
  | (Pick<Extract<RolloutReading, { kind: 'failed' }>, 'kind' | 'reason' | 'detail'> & {
      readonly counts: RolloutCounts | null;
    });

/**
 * Reads the stored rollout of a thread. What is wrong with the rollout itself is a value, since no retry changes it: gone,
 * a cut archive, over the size limit, not understood.
 * @param evidenceTokens budget of the evidence
 * @throws UnavailableError and DefectError of the store
 */
export async function readSession(
  rollouts: RolloutStore,
  session: SessionRef,
  evidenceTokens: number,
): Promise<SessionReading> {
  try {
    const chunks = await rollouts.open(session.userKey, session.threadId);
    return await readRollout(chunks, { evidenceTokens, mode: session.settings.evidence });
  } catch (error) {
    if (!(error instanceof NotFoundError || error instanceof InvalidInputError)) throw error;
    const reason = error.code === 'rollout.too_large' ? 'too_large' : 'unreadable';
    return { kind: 'failed', reason, detail: error.code, counts: null };
  }
}

/**
 * The evidence of a session that was read before, within a smaller limit.
 * @throws UnavailableError `rollout.changed` when it can no longer be read
 */
export async function readEvidenceAgain(rollouts: RolloutStore, session: SessionRef, tokens: number): Promise<string> {
  const reading = await readSession(rollouts, session, tokens);
  if (reading.kind === 'read') return reading.evidence;
  throw new UnavailableError('rollout.changed', 'the rollout changed while it was read', {
    details: { reason: reading.detail },
  });
}
