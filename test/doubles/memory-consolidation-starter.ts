import type { ConsolidationStarter } from '../../core/ports/consolidation-starter.ts';

export type ConsolidationStart = Parameters<ConsolidationStarter['start']>[0];

/** Keeps what was started, in order, each run once; a test may let it fail. */
export class MemoryConsolidationStarter implements ConsolidationStarter {
  readonly started: ConsolidationStart[] = [];
  /** Asked before each start; what it throws, the caller gets. */
  onStart: (start: ConsolidationStart) => void = () => {};

  async start(start: ConsolidationStart): Promise<void> {
    this.onStart(start);
    const known = this.started.some(({ userKey, dueAt }) => userKey === start.userKey && dueAt === start.dueAt);
    if (!known) this.started.push(start);
  }
}
