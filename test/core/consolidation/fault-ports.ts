import type { ConsolidationPorts } from '../../../core/consolidation/consolidation-ports.ts';

/** Calls of a run by name, such as `jobs.claim`, each told before and after it happened. */
export type PortHook = (when: 'before' | 'after', call: string) => void | Promise<void>;

/** The same ports with a hook around every call. What the hook throws, the caller gets. */
export function hookPorts(ports: ConsolidationPorts, hook: PortHook): ConsolidationPorts {
  return {
    jobs: hookPort('jobs', ports.jobs, hook),
    outputs: hookPort('outputs', ports.outputs, hook),
    threads: hookPort('threads', ports.threads, hook),
    heads: hookPort('heads', ports.heads, hook),
    memories: hookPort('memories', ports.memories, hook),
    replays: hookPort('replays', ports.replays, hook),
    templates: hookPort('templates', ports.templates, hook),
    model: hookPort('model', ports.model, hook),
    steps: hookPort('steps', ports.steps, hook),
    ledger: hookPort('ledger', ports.ledger, hook),
    clock: ports.clock,
    tokens: ports.tokens,
    telemetry: ports.telemetry,
  };
}

/** The same for whatever else a use case takes; clocks and sources of tokens are left as they are. */
export function hookAll<T extends object>(ports: T, names: readonly (keyof T & string)[], hook: PortHook): T {
  const hooked = names.map((name) => {
    const port: unknown = ports[name];
    return [name, typeof port === 'object' && port !== null ? hookPort(name, port, hook) : port];
  });
  return { ...ports, ...Object.fromEntries(hooked) };
}

function hookPort<T extends object>(name: string, port: T, hook: PortHook): T {
  return new Proxy(port, {
    get: (target, key) => {
      const method: unknown = Reflect.get(target, key);
      if (typeof method !== 'function') return method;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const call = `${name}.${String(key)}`;
        await hook('before', call);
        const answer: unknown = await Reflect.apply(method, target, args);
        await hook('after', call);
        return answer;
      };
    },
  });
}
