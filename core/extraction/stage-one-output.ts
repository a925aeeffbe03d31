/** What Phase 1 made of one rollout: the texts. Redacted before they are stored (behaviours C-10). */
export interface StageOneBody {
  readonly rawMemory: string;
  readonly rolloutSummary: string;
}

/** Names one snapshot of a thread's output. */
export interface SnapshotRef {
  readonly threadId: string;
  /** The watermark the snapshot was made at, ms. */
  readonly sourceUpdatedAt: number;
}

/**
 * The head of a stage-one output: all that ranking and listing need, small whatever the size of the texts.
 * Written by the extraction's commit; `usageCount`, `lastUsage` and `selectedSnapshot` survive a refresh (behaviours C-03).
 */
export interface StageOneHead extends SnapshotRef {
  readonly generatedAt: number;
  readonly slug: string | null;
  /** Null until first cited; ranked as 0. */
  readonly usageCount: number | null;
  readonly lastUsage: number | null;
  /** `sourceUpdatedAt` of the snapshot that the last successful consolidation took in; null when it took in none. */
  readonly selectedSnapshot: number | null;
  /** UTF-8 bytes of both texts. */
  readonly bytes: number;
  readonly model: string;
  readonly promptVersion: string;
}

/** The part of a head that a commit decides; the rest is kept or starts empty. */
export type NewStageOneHead = Omit<StageOneHead, 'usageCount' | 'lastUsage' | 'selectedSnapshot'>;
