/** Starts a user's consolidation somewhere else, without waiting for it. */
export interface ConsolidationStarter {
  /**
   * Asks for a run. The same user and `dueAt` again is the same run: it is started once, whoever asks how often.
   * @param start.dueAt ms since the epoch: what the run is due since; names the run
   * @param start.immediate true where a person asked: no cooldown
   * @throws UnavailableError `consolidation.not_started`
   */
  start(start: { readonly userKey: string; readonly dueAt: number; readonly immediate: boolean }): Promise<void>;
}
