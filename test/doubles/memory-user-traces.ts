import { NO_TRACES, type TraceCounts, type UserTraces } from '../../core/ports/user-traces.ts';

/** What stores in memory keep of a user, as things that are counted and dropped. */
export class MemoryUserTraces implements UserTraces {
  readonly kept = new Map<string, TraceCounts>();
  /** Users whose erasure never ends: something is written all the time. */
  readonly busy = new Set<string>();

  async count(userKey: string): Promise<TraceCounts> {
    return this.kept.get(userKey) ?? NO_TRACES;
  }

  async erase(userKey: string): Promise<TraceCounts> {
    const removed = await this.count(userKey);
    if (!this.busy.has(userKey)) this.kept.delete(userKey);
    return removed;
  }
}
