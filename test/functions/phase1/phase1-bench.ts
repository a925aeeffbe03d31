import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseRolloutKey, rolloutKey } from '../../../adapters/s3/keys.ts';
import type { ExtractionPorts } from '../../../core/extraction/extract-thread.ts';
import { outcomeName } from '../../../core/extraction/outcome.ts';
import { extractionDueAt } from '../../../core/job/claim-extraction.ts';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../core/settings.ts';
import { DAY_MS } from '../../../core/time.ts';
import { createHandler } from '../../../functions/phase1/create-handler.ts';
import type { Phase1Deps } from '../../../functions/phase1/deps.ts';
import { ExtractionBench, goodReply } from '../../core/extraction/extraction-bench.ts';
import { NOW } from '../../core/extraction/sample-session.ts';
import { MemoryJobQueue } from '../../doubles/memory-job-queue.ts';
import { codexRollout, toChunks } from '../../support/rollout-builder.ts';
import { batchOf, dueBody, objectCreated, ROLLOUTS } from './events.ts';

export const MINUTES_15 = 900_000;
const EXTRACT_MODEL = 'extract-model';

/** A session of yesterday with something to learn; `marker` stands in the person's words. */
export function session(threadId: string, marker = 'nothing', startAt = NOW - DAY_MS): Uint8Array {
  return codexRollout({ id: threadId, startAt })
    .user(`fix the failing checkout test (${marker})`)
    .call('shell', { command: 'npm test' }, 'port 5433 closed')
    .assistant('The database was down. Fixed.')
    .toBytes();
}

/** The function over stores in memory and a scripted model. */
export class Phase1Bench {
  readonly core = new ExtractionBench();
  readonly settings = new Map<string, Settings>();
  readonly queue = new MemoryJobQueue();
  /** `receipt handle: seconds`, in order. */
  readonly redelivered: string[] = [];
  readonly correlated: (string | null | undefined)[] = [];
  flushes = 0;
  remainingMs = (): number => MINUTES_15;
  #handler: ReturnType<typeof createHandler> | undefined;

  /** Changes some ports of the function; before its first invocation. */
  open(more: Partial<Phase1Deps> | ((ports: ExtractionPorts) => Partial<Phase1Deps>) = {}): this {
    const deps = this.#deps();
    this.#handler = createHandler({ ...deps, ...(typeof more === 'function' ? more(deps) : more) });
    return this;
  }

  /** One invocation. @returns ids of the messages that go back */
  async invoke(event: SQSEvent): Promise<readonly string[]> {
    const answer = await this.answer(event);
    return answer.batchItemFailures.map((failure) => failure.itemIdentifier);
  }

  /** Hands all that the function has sent to its queue back to it, in one batch. @returns ids of the messages that go back */
  async drain(): Promise<readonly string[]> {
    const bodies = this.queue.drain().map(({ userKey, threadId }) => dueBody(userKey, threadId));
    return bodies.length === 0 ? [] : this.invoke(batchOf(...bodies));
  }

  /** An invocation, and one for what it sent to the queue. @returns ids of the messages that go back from either */
  async deliver(event: SQSEvent): Promise<readonly string[]> {
    const intake = await this.invoke(event);
    return [...intake, ...(await this.drain())];
  }

  answer(event: unknown): Promise<SQSBatchResponse> {
    if (this.#handler === undefined) this.open();
    const handler = this.#handler;
    if (handler === undefined) throw new Error('not open');
    return handler(event, { awsRequestId: 'request-1', getRemainingTimeInMillis: () => this.remainingMs() });
  }

  /** Lays a rollout where an upload puts it. @returns the record that S3 then sends */
  async upload(userKey: string, threadId: string, of: { bytes?: Uint8Array; sequencer?: string } = {}) {
    const { bytes = session(threadId), sequencer = '0055AED6DCD90281E5' } = of;
    const key = rolloutKey(userKey, threadId);
    await this.core.rollouts.put(userKey, threadId, toChunks(bytes), key, this.core.clock.now());
    return objectCreated(key, sequencer);
  }

  expectCalls(number: number, reply: ModelReply = goodReply()): void {
    this.core.model.expect(...Array.from({ length: number }, () => reply));
  }

  get calls(): number {
    return this.core.model.requests.length;
  }

  /** The recorded outcome of a thread; undefined when there is none. */
  async outcome(userKey: string, threadId: string): Promise<string | undefined> {
    const job = await this.core.jobs.get(userKey, { kind: 'extraction', threadId });
    return job?.outcome ? outcomeName(job.outcome) : undefined;
  }

  /** When a sweep hands the thread on; null: not by itself. */
  async dueAt(userKey: string, threadId: string): Promise<number | null> {
    return extractionDueAt(await this.core.jobs.get(userKey, { kind: 'extraction', threadId }));
  }

  #deps(): Phase1Deps {
    return {
      ...this.core.ports(),
      settings: {
        read: async (userKey) => this.settings.get(userKey) ?? DEFAULT_SETTINGS,
        write: async (userKey, settings) => void this.settings.set(userKey, settings),
      },
      queue: this.queue,
      redelivery: {
        redeliver: async (receiptHandle, seconds) => void this.redelivered.push(`${receiptHandle}: ${seconds}`),
      },
      tracing: {
        correlate: ({ thread_id }) => void this.correlated.push(thread_id),
        flush: () => void this.flushes++,
        withSpan: (_name, _attributes, work) => work(),
      },
      rolloutOf: (bucket, key) => (bucket === ROLLOUTS ? parseRolloutKey(key) : undefined),
      extractModel: EXTRACT_MODEL,
      dailyTokenBudget: null,
    };
  }
}

/** A port of which some methods are replaced. */
export function withMethods<T extends object>(port: T, methods: Partial<T>): T {
  return new Proxy(port, {
    get: (target, key) => {
      const own: unknown = Reflect.get(methods, key);
      if (own !== undefined) return own;
      const method: unknown = Reflect.get(target, key);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
