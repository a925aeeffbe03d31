export interface RunRequest {
  /** Files and folders named by the person; empty = the agents' own folders. */
  readonly paths: readonly string[];
  /** Age limit by content time; null = none for named paths, the settings' for the agents' own folders. */
  readonly sinceMs: number | null;
  /** At most so many threads are extracted in this run, newest first. */
  readonly max: number;
  /** True: sessions that may still be going on are taken as well. */
  readonly includeActive: boolean;
}

export type RunPhase = 'import' | 'extract' | 'consolidate';

export interface RunObserver {
  /** Progress within a phase; `total` 0 = nothing to do. */
  progress(phase: RunPhase, done: number, total: number): void;
}
