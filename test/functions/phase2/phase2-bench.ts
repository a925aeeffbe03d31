import { DurableStepRunner } from '../../../adapters/durable/step-runner.ts';
import type { ConsolidationPorts } from '../../../core/consolidation/consolidation-ports.ts';
import type { ModelClient } from '../../../core/ports/model-client.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../core/settings.ts';
import { createHandler } from '../../../functions/phase2/create-handler.ts';
import type { Phase2Deps } from '../../../functions/phase2/deps.ts';
import { type ConsolidationBench, USER } from '../../core/consolidation/consolidation-bench.ts';
import { MemoryStepRunner } from '../../doubles/memory-step-runner.ts';
import { DurableHost } from '../../support/durable-host.ts';
import { NOW } from '../../support/sample-state.ts';

export interface Phase2Setup {
  readonly userKey?: string;
  readonly dueAt?: number;
  readonly immediate?: boolean;
  readonly remainingMs?: () => number;
  /** Puts hooks around the ports, or others in their place. */
  readonly change?: (ports: ConsolidationPorts) => ConsolidationPorts;
  readonly settings?: (userKey: string) => Promise<Settings>;
}

/** Executions of the function over a bench's stores. Turns are kept in one place for all of them, as in the table. */
export class Phase2Bench {
  readonly bench: ConsolidationBench;
  readonly kept = new Map<string, MemoryStepRunner>();
  flushes = 0;

  constructor(bench: ConsolidationBench) {
    this.bench = bench;
  }

  /** An execution that is not invoked yet. */
  execution(model: ModelClient, setup: Phase2Setup = {}): DurableHost {
    const event = {
      user_key: setup.userKey ?? USER,
      due_at: setup.dueAt ?? NOW,
      immediate: setup.immediate ?? false,
    };
    return this.executionOf(event, model, setup);
  }

  executionOf(event: unknown, model: ModelClient, setup: Phase2Setup = {}): DurableHost {
    const deps = this.#deps(model, setup);
    return new DurableHost(event, (config) => createHandler(deps, config), setup.remainingMs);
  }

  #deps(model: ModelClient, setup: Phase2Setup): Phase2Deps {
    const ports = this.bench.ports(model);
    return {
      ...(setup.change?.(ports) ?? ports),
      settings: { read: setup.settings ?? (async () => DEFAULT_SETTINGS) },
      tracing: {
        correlate: () => {},
        flush: () => void this.flushes++,
        withSpan: (_name, _attributes, work) => work(),
      },
      stepsOf: ({ userKey, context, ...time }) => new DurableStepRunner(context, this.#keptOf(userKey), time),
      consolidationModel: 'model-1',
      dailyTokenBudget: null,
      oneShotTokens: 0,
    };
  }

  #keptOf(userKey: string): MemoryStepRunner {
    const kept = this.kept.get(userKey) ?? new MemoryStepRunner();
    this.kept.set(userKey, kept);
    return kept;
  }
}
