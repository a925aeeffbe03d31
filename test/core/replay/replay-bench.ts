import { type Replay, replayVersion } from '../../../core/replay/replay-version.ts';
import { type ConsolidationBench, USER } from '../consolidation/consolidation-bench.ts';

/** What a replay may call, and nothing else: every other method of the bench's stores is out of reach. */
export function readOnly(bench: ConsolidationBench) {
  const { heads, memories, replays, threads, templates, clock } = bench;
  return {
    heads: only(heads, 'read'),
    memories: only(memories, 'manifest', 'readFile'),
    replays: only(replays, 'read'),
    threads: only(threads, 'getMany'),
    templates: only(templates, 'get'),
    clock,
  };
}

/** The named methods of a port; each other one throws where it is so much as looked at. */
function only<T extends object>(port: T, ...names: readonly (keyof T)[]): T {
  return new Proxy(port, {
    get: (target, key) => {
      if (!names.some((name) => name === key)) throw new Error(`${String(key)} was not to be called`);
      const method: unknown = Reflect.get(target, key);
      if (typeof method !== 'function') throw new Error(`${String(key)} is no method`);
      return method.bind(target);
    },
  });
}

export function replay(bench: ConsolidationBench, version: number): Promise<Replay> {
  return replayVersion(readOnly(bench), USER, version);
}
