import type { ConsolidationStarter } from '../../core/ports/consolidation-starter.ts';

type Start = Parameters<ConsolidationStarter['start']>[0];

/** Keeps every start in order; fails for the users named in `failing` with what they map to. */
export class RecordingConsolidationStarter implements ConsolidationStarter {
  readonly started: Start[] = [];
  readonly failing = new Map<string, Error>();

  async start(start: Start): Promise<void> {
    const failure = this.failing.get(start.userKey);
    if (failure !== undefined) throw failure;
    this.started.push(start);
  }
}
