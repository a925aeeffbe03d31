import type { RolloutDamage } from '../rollout/rollout.ts';

/** The memory mode of a thread. Only `enabled` threads are extracted and selected (behaviours A-06, E-01, Q-04). */
export type MemoryMode = 'enabled' | 'disabled' | 'polluted';

/** How a thread came to be: DV-16 decides which of these are extracted. An unknown source string is kept as it is. */
export type ThreadSource = string;

/** Where the stored rollout of a thread lies and what it was when stored. */
export interface StoredRollout {
  /** Hex SHA-256 of the bytes as uploaded: tells an unchanged upload. */
  readonly sha256: string;
  /** Bytes as uploaded, possibly compressed. */
  readonly bytes: number;
  readonly uploadedAt: number;
  /** What the uploader calls the file: a path on their machine, or an object key. Shown as `rollout_path`. */
  readonly path: string;
  /**
   * Where this upload stands among those of its thread, as the store tells it (S3's sequencer, see `compareUploadOrder`);
   * null where uploads come in order.
   */
  readonly order: string | null;
}

/** What the uploader says about a rollout. Null = not said; the rollout's own record comes first. */
export interface UploadHints {
  readonly source: string | null;
  readonly cwd: string | null;
  readonly repository: string | null;
  readonly gitBranch: string | null;
  /** ms since the epoch. */
  readonly sourceUpdatedAt: number | null;
  /** True when the session is over. */
  readonly ended: boolean | null;
}

/** An uploader that says nothing. */
export const NO_HINTS: UploadHints = {
  source: null,
  cwd: null,
  repository: null,
  gitBranch: null,
  sourceUpdatedAt: null,
  ended: null,
};

/** A rollout as it lies in the store, with what its uploader said of it. */
export interface UploadedRollout {
  readonly rollout: StoredRollout;
  readonly hints: UploadHints;
}

/** A thread in the catalogue: the conversation that a rollout records. All times in ms. */
export interface Thread {
  readonly threadId: string;
  readonly memoryMode: MemoryMode;
  readonly source: ThreadSource;
  /** Whether the conversation was opened by another agent, not by a person. */
  readonly subagent: boolean;
  /** A session that its agent declared not to be kept. */
  readonly ephemeral: boolean;
  readonly parentThreadId: string | null;
  /** Which agent wrote the rollout: `codex`, `claude-code`, … */
  readonly agentKind: string;
  readonly cwd: string | null;
  readonly repository: string | null;
  /** Scope key of the repository or directory (storage.md, "Identity"); `unknown` when neither is known. */
  readonly project: string;
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly createdAt: number;
  /** Content time of the last record; this is the watermark `source_updated_at`. */
  readonly updatedAt: number;
  /** True when the uploader said that the session is over: no idle wait then. */
  readonly ended: boolean;
  /** Tombstone: set when the user had the thread forgotten. Never unset (DV-18). */
  readonly forgottenAt: number | null;
  /** When a person last asked for this thread by name (an explicit import or "extract now"); see selection. */
  readonly requestedAt: number | null;
  readonly rollout: StoredRollout;
  /**
   * What was met when the rollout was read; null = it was not read. Redactions are those of the evidence, so there are none
   * before the first extraction.
   */
  readonly reading: RolloutDamage | null;
}
