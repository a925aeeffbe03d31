import { join, resolve } from 'node:path';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import {
  type ExtractionPorts,
  type ExtractionRequest,
  extractThread,
} from '../../../core/extraction/extract-thread.ts';
import type { Outcome } from '../../../core/extraction/outcome.ts';
import type { Job } from '../../../core/job/job.ts';
import type { UsageLedger } from '../../../core/ports/usage-ledger.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../core/settings.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryRolloutStore } from '../../doubles/memory-rollout-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { MemoryUsageLedger } from '../../doubles/memory-usage-ledger.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { ScriptedModel, textReply } from '../../doubles/scripted-model.ts';
import { StageOneTable } from '../../doubles/stage-one-table.ts';
import { codexRollout, type RolloutBuilder, toChunks } from '../../support/rollout-builder.ts';
import { makeThread, NOW, THREAD_ID } from './sample-session.ts';

export const USER = 'user-1';
export const MODEL = 'model-1';

/** The simulated end of the process: from then on no port answers. */
export class Killed extends Error {}

/** A session with a correction by the person and a command that failed and then passed. */
export function usefulRollout(): RolloutBuilder {
  return codexRollout({ id: THREAD_ID, cwd: '/home/dev/shop' })
    .user('fix the failing checkout test')
    .call('shell', { command: 'npm test' }, 'port 5433 closed')
    .assistant('The database is down.')
    .user("don't reformat files in a fix")
    .call('shell', { command: 'npm test' }, 'passed')
    .assistant('Done.');
}

export function goodReply(summary = '# Fixed the checkout test') {
  return textReply(JSON.stringify({ raw_memory: 'raw', rollout_summary: summary, rollout_slug: 'fix-checkout' }), {
    inputTokens: 10,
    cachedInputTokens: 2,
    cacheWriteInputTokens: 0,
    outputTokens: 3,
    reasoningOutputTokens: 1,
    totalTokens: 13,
  });
}

export const emptyReply = () => textReply('{"raw_memory":"","rollout_summary":"","rollout_slug":""}');

/** Phase 1 over in-memory stores. Every call to a store that may write is logged as `store.method`. */
export class ExtractionBench {
  readonly table = new StageOneTable();
  readonly threads = new MemoryThreadStore();
  readonly jobs = new MemoryJobStore(this.table);
  readonly outputs = new MemoryStageOneStore(this.table);
  readonly ledger: UsageLedger = new MemoryUsageLedger();
  readonly model = new ScriptedModel();
  readonly clock = new FixedClock(NOW);
  readonly tokens = new NumberedTokens();
  readonly telemetry = new RecordingTelemetry();
  readonly templates = new FilesTemplateStore(join(resolve(import.meta.dirname, '../../..'), 'layers/templates'));
  readonly log: string[] = [];
  rollouts = new MemoryRolloutStore();

  /** Stores a thread and, unless null, its rollout. */
  async add(more: Partial<Thread> = {}, rollout: Uint8Array | null = usefulRollout().toBytes()): Promise<Thread> {
    const thread = makeThread(more);
    await this.threads.update(USER, thread.threadId, () => thread);
    if (rollout !== null) await this.rollouts.put(USER, thread.threadId, toChunks(rollout), thread.rollout.path, NOW);
    return thread;
  }

  run(
    more: Partial<ExtractionRequest> & { settings?: Settings } = {},
    ports: Partial<ExtractionPorts> = {},
  ): Promise<Outcome> {
    return extractThread(
      { ...this.ports(), ...ports },
      {
        userKey: USER,
        threadId: THREAD_ID,
        settings: DEFAULT_SETTINGS,
        model: MODEL,
        includeActive: false,
        maxAgeMs: null,
        ...more,
      },
    );
  }

  /** The ports; with `killAt`, the process dies right after that call was carried out. */
  ports(killAt?: string): ExtractionPorts {
    const life = { dead: false, killAt };
    return {
      threads: this.#watch('threads', this.threads, life),
      rollouts: this.#watch('rollouts', this.rollouts, life),
      outputs: this.#watch('outputs', this.outputs, life),
      jobs: this.#watch('jobs', this.jobs, life),
      ledger: this.#watch('ledger', this.ledger, life),
      model: this.#watch('model', this.model, life),
      templates: this.templates,
      clock: this.clock,
      tokens: this.tokens,
      telemetry: this.telemetry,
    };
  }

  async job(threadId = THREAD_ID): Promise<Job | undefined> {
    return this.jobs.get(USER, { kind: 'extraction', threadId });
  }

  async consolidation(): Promise<Job | undefined> {
    return this.jobs.get(USER, { kind: 'consolidation' });
  }

  /** Everything that is stored or told, as text: for what must appear nowhere. */
  async everything(): Promise<string> {
    const heads = await this.outputs.heads(USER);
    const bodies = await this.outputs.bodies(USER, heads);
    const jobs = [...(await this.jobs.listExtractions(USER))];
    const { counts, values, events } = this.telemetry;
    return JSON.stringify([heads, [...bodies], jobs, counts, values, events, this.model.requests]);
  }

  #watch<T extends object>(name: string, port: T, life: { dead: boolean; readonly killAt: string | undefined }): T {
    return new Proxy(port, {
      get: (target, key) => {
        const method: unknown = Reflect.get(target, key);
        if (typeof method !== 'function' || typeof key !== 'string') return method;
        return async (...args: unknown[]) => {
          if (life.dead) throw new Killed();
          this.log.push(`${name}.${key}`);
          const result: unknown = await Reflect.apply(method, target, args);
          if (life.killAt !== `${name}.${key}`) return result;
          life.dead = true;
          throw new Killed();
        };
      },
    });
  }
}
