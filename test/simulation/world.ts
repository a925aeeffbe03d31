import { join, resolve } from 'node:path';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { sweep } from '../../core/control/sweep.ts';
import { StillroomError } from '../../core/errors.ts';
import { type ExtractionPorts, extractThread } from '../../core/extraction/extract-thread.ts';
import type { Outcome } from '../../core/extraction/outcome.ts';
import { queueExtraction } from '../../core/extraction/queue-extraction.ts';
import type { JobMessage, JobQueue } from '../../core/ports/job-queue.ts';
import type { ModelReply } from '../../core/ports/model-client.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../core/settings.ts';
import { takeInRollout } from '../../core/thread/take-in-rollout.ts';
import { DAY_MS, SECOND_MS } from '../../core/time.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../doubles/memory-job-store.ts';
import { MemoryRolloutStore } from '../doubles/memory-rollout-store.ts';
import { MemoryStageOneStore } from '../doubles/memory-stage-one-store.ts';
import { MemoryThreadStore } from '../doubles/memory-thread-store.ts';
import { MemoryUsageLedger } from '../doubles/memory-usage-ledger.ts';
import { NumberedTokens } from '../doubles/numbered-tokens.ts';
import { StageOneTable } from '../doubles/stage-one-table.ts';
import { codexRollout, toChunks } from '../support/rollout-builder.ts';
import { Agenda } from './agenda.ts';
import { FairQueue } from './fair-queue.ts';
import { Random } from './random.ts';
import { ENDED_SHARE, NOON, type Scenario, START, TIMES, uploadGapMs } from './scenario.ts';
import { SimulatedDueIndex, throttled } from './simulated-stores.ts';

const TEMPLATES = new FilesTemplateStore(join(resolve(import.meta.dirname, '../..'), 'layers/templates'));
const SETTINGS = { ...DEFAULT_SETTINGS, dailyTokenBudget: 1_000_000_000 };
const REPLY_TEXT = JSON.stringify({ raw_memory: 'm', rollout_summary: 's', rollout_slug: 'a-session' });
const POISON = Buffer.from('this is no rollout\n'.repeat(20));

interface Message {
  readonly body: JobMessage | { readonly kind: 'uploaded'; readonly userKey: string; readonly threadId: string };
  readonly seenAt: number;
  readonly receives: number;
}

/** What is known of one upload. */
export interface Upload {
  readonly userKey: string;
  readonly threadId: string;
  readonly poison: boolean;
  readonly burst: boolean;
  /** When it may first be extracted: the upload, or the end of its idle wait. */
  readonly readyAt: number;
  endedAt: number | null;
  /** Calls that the provider worked on. */
  paid: number;
  /** Calls of it that ended well. */
  succeeded: number;
}

/** The intake, the queue, its workers and the sweep, with the real use cases over stores in memory and a clock that jumps. */
export class World {
  readonly uploads = new Map<string, Upload>();
  readonly queueAges: { readonly at: number; readonly ms: number }[] = [];
  readonly sweeps: { readonly handedOn: number; readonly complete: boolean; readonly queries: number }[] = [];
  consolidations = 0;
  readonly deadLetters = new Set<string>();
  received = 0;
  readonly due: SimulatedDueIndex;
  readonly #scenario: Scenario;
  readonly #agenda = new Agenda();
  readonly #random: Random;
  readonly #clock = new FixedClock(START);
  readonly #table = new StageOneTable();
  readonly #rollouts = new MemoryRolloutStore();
  readonly #ports: Omit<ExtractionPorts, 'model'>;
  readonly #queue = new FairQueue<Message>();
  readonly #users: readonly string[];
  readonly #end: number;
  #busy = 0;
  #serial = 0;
  #sleepers: Promise<unknown>[] = [];

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#random = new Random(scenario.seed);
    this.#end = START + scenario.days * DAY_MS;
    this.#users = Array.from({ length: scenario.users }, (_, at) => `user-${at}`);
    this.due = new SimulatedDueIndex(this.#table, this.#users);
    const fails = (): boolean => this.#isThrottled() && this.#random.next() < (scenario.throttle?.share ?? 0);
    this.#ports = {
      threads: throttled(new MemoryThreadStore(), fails),
      rollouts: throttled(this.#rollouts, fails),
      outputs: throttled(new MemoryStageOneStore(this.#table), fails),
      jobs: throttled(new MemoryJobStore(this.#table), fails),
      ledger: throttled(new MemoryUsageLedger(), fails),
      templates: TEMPLATES,
      clock: this.#clock,
      tokens: new NumberedTokens(),
      telemetry: { count: () => {}, record: () => {}, event: () => {} },
    };
  }

  /** Runs the scenario, and then on until nothing is left to do, a week at most. */
  async run(): Promise<void> {
    this.#agenda.add(START, () => this.#uploadNext());
    if (this.#scenario.burst !== undefined) this.#agenda.add(NOON, () => this.#burst());
    this.#agenda.add(START, () => this.#sweepNext());
    for (let entry = this.#agenda.next(); entry !== undefined; entry = this.#agenda.next()) {
      this.#clock.set(entry.at);
      entry.act();
      await this.#settle();
    }
  }

  /** Uploads that nobody has dealt with; those in the dead-letter queue wait there for a person. */
  open(): readonly Upload[] {
    return [...this.uploads.values()].filter(
      (upload) => upload.endedAt === null && !this.deadLetters.has(upload.threadId),
    );
  }

  #isThrottled(): boolean {
    const { throttle } = this.#scenario;
    return throttle !== undefined && this.#clock.now() >= throttle.from && this.#clock.now() < throttle.until;
  }

  #uploadNext(): void {
    const now = this.#clock.now();
    if (now >= this.#end) return;
    // A few users upload much, most of them little.
    const user = Math.trunc(this.#users.length * this.#random.next() ** 3);
    this.#upload(this.#users[user] ?? 'user-0', { burst: false });
    this.#agenda.add(now + uploadGapMs(this.#scenario, now), () => this.#uploadNext());
  }

  #burst(): void {
    for (let count = 0; count < (this.#scenario.burst ?? 0); count++) this.#upload('user-999', { burst: true });
  }

  #upload(userKey: string, of: { readonly burst: boolean }): void {
    const now = this.#clock.now();
    const threadId = `t${this.#serial++}`;
    const inWave = now >= NOON && now < NOON + 3_600 * SECOND_MS;
    const poison = inWave && this.#random.next() < (this.#scenario.poisonShare ?? 0);
    const ended = poison || of.burst || this.#random.next() < ENDED_SHARE;
    const readyAt = ended ? now : now + SETTINGS.minRolloutIdleHours * 3_600 * SECOND_MS;
    const upload: Upload = {
      userKey,
      threadId,
      poison,
      burst: of.burst,
      readyAt,
      endedAt: null,
      paid: 0,
      succeeded: 0,
    };
    this.uploads.set(threadId, upload);
    const content = poison ? POISON : sampleSession(threadId, now);
    void this.#rollouts.put(userKey, threadId, toChunks(content), `${threadId}.jsonl`, now).then(() => {
      this.#rollouts.say(userKey, threadId, { ended, source: 'cli' });
      this.#send({ body: { kind: 'uploaded', userKey, threadId }, seenAt: now, receives: 0 });
    });
  }

  #send(message: Message): void {
    // Events of a bucket carry no group.
    const group = message.body.kind === 'uploaded' ? null : message.body.userKey;
    if (this.#scenario.limitedBy === 'function' && this.#busy >= this.#scenario.workers) {
      this.#giveBack({ ...message, receives: message.receives + 1 });
      return;
    }
    this.#queue.push({ group, what: message });
    this.#work();
  }

  #work(): void {
    while (this.#busy < this.#scenario.workers) {
      const taken = this.#queue.take();
      if (taken === undefined) return;
      const message = taken.what;
      this.#busy++;
      this.received++;
      this.queueAges.push({ at: this.#clock.now(), ms: this.#clock.now() - message.seenAt });
      this.#track(
        this.#handle({ ...message, receives: message.receives + 1 }).finally(() => {
          this.#queue.done(taken.group);
          this.#busy--;
          this.#work();
        }),
      );
    }
  }

  async #handle(message: Message): Promise<void> {
    const { body } = message;
    try {
      await this.#sleep(TIMES.handlingMs);
      if (body.kind === 'uploaded') await this.#takeIn(body);
      else await this.#extract(body.userKey, body.threadId);
    } catch (error) {
      if (!(error instanceof StillroomError)) throw error;
      this.#giveBack(message);
    }
  }

  /** An upload is entered in the catalogue first, as `phase1` does it; its extraction waits its user's turn. */
  async #takeIn({ userKey, threadId }: { readonly userKey: string; readonly threadId: string }): Promise<void> {
    const taken = await takeInRollout(this.#ports, { userKey, threadId, order: null, settings: SETTINGS });
    const thread = await this.#ports.threads.get(userKey, threadId);
    if (thread === undefined) throw new Error('an upload was not entered');
    const ports = { ...this.#ports, queue: this.#jobQueue() };
    await queueExtraction(ports, { userKey, thread, settings: SETTINGS, isNew: taken.kind === 'registered' });
  }

  #jobQueue(): JobQueue {
    return {
      send: async (messages) => {
        for (const body of messages) this.#send({ body, seenAt: this.#clock.now(), receives: 0 });
      },
    };
  }

  async #extract(userKey: string, threadId: string): Promise<void> {
    const upload = this.uploads.get(threadId);
    const model = { respond: () => this.#call(upload) };
    const outcome = await extractThread(
      { ...this.#ports, model },
      { userKey, threadId, settings: SETTINGS, model: 'simulated', includeActive: false, maxAgeMs: 10 * DAY_MS },
    );
    if (upload !== undefined && isEnd(outcome)) upload.endedAt ??= this.#clock.now();
  }

  async #call(upload: Upload | undefined): Promise<ModelReply> {
    const { outage } = this.#scenario;
    const now = this.#clock.now();
    const state = outage !== undefined && now >= outage.from && now < outage.until ? outage.state : 'well';
    if (state === 'refusing') {
      await this.#sleep(TIMES.refusalMs);
      return { kind: 'unavailable', code: 'http_503' };
    }
    if (upload !== undefined) upload.paid++;
    await this.#sleep(state === 'silent' ? LIMITS.modelTimeoutMs : this.#random.logNormal(TIMES.callMs));
    if (state === 'silent') return { kind: 'unavailable', code: 'timeout' };
    if (upload !== undefined) upload.succeeded++;
    const usage = { inputTokens: 9_000, cachedInputTokens: 2_000, cacheWriteInputTokens: 0, outputTokens: 1_500 };
    return {
      kind: 'reply',
      text: REPLY_TEXT,
      toolCalls: [],
      items: [],
      usage: { ...usage, reasoningOutputTokens: 0, totalTokens: 10_500 },
      model: 'simulated',
      rateLimits: [],
    };
  }

  #giveBack(message: Message): void {
    if (message.receives >= TIMES.maxReceives) {
      this.deadLetters.add(message.body.threadId);
      return;
    }
    const seenAt = this.#clock.now() + TIMES.redeliverMs * 2 ** (message.receives - 1);
    this.#agenda.add(seenAt, () => this.#send({ ...message, seenAt }));
  }

  #sweepNext(): void {
    const now = this.#clock.now();
    this.#track(this.#sweep());
    const open = now < this.#end || this.open().length > 0;
    if (open && now < this.#end + 7 * DAY_MS) this.#agenda.add(now + LIMITS.sweepEveryMs, () => this.#sweepNext());
  }

  async #sweep(): Promise<void> {
    const before = this.due.queries;
    const consolidations = { start: async ({ userKey }: { userKey: string }) => this.#consolidate(userKey) };
    const ports = {
      due: this.due,
      queue: this.#jobQueue(),
      consolidations,
      clock: this.#clock,
      telemetry: this.#ports.telemetry,
    };
    const report = await sweep(ports, { maxJobs: this.#scenario.sweepJobs, hasTime: () => true });
    const handedOn = report.extractions + report.consolidations;
    this.sweeps.push({ handedOn, complete: report.complete, queries: this.due.queries - before });
  }

  #consolidate(userKey: string): void {
    this.consolidations++;
    this.#track(this.#runConsolidation(userKey).catch(ignoreThrottling));
  }

  /** Lock, time and end of a consolidation; what it makes of the outputs is not simulated. */
  async #runConsolidation(userKey: string): Promise<void> {
    const { jobs, tokens } = this.#ports;
    const key = { kind: 'consolidation' } as const;
    const token = tokens.next();
    const leaseMs = LIMITS.consolidationLeaseMs;
    const claim = await jobs.claim(userKey, key, { token, now: this.#clock.now(), leaseMs });
    if (claim.kind === 'refused') return;
    for (let left = this.#random.logNormal(TIMES.consolidationMs); left > 0; left -= LIMITS.heartbeatMs) {
      await this.#sleep(Math.min(left, LIMITS.heartbeatMs));
      await jobs.heartbeat(userKey, key, token, { now: this.#clock.now(), leaseMs });
    }
    const completion = { kind: 'consolidation', completedWatermark: claim.inputWatermark } as const;
    await jobs.complete(userKey, token, this.#clock.now(), completion);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#agenda.add(this.#clock.now() + ms, resolve));
  }

  #track(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#sleepers.push(Promise.reject(error));
    });
  }

  /** Lets everything that can go on at this moment go on; a fault of the simulation itself ends it. */
  async #settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#sleepers.length > 0) await Promise.all(this.#sleepers);
  }
}

/** `unchanged` is told of a thread whose output is there already. */
function isEnd(outcome: Outcome): boolean {
  if (outcome.kind === 'skipped') return outcome.reason === 'unchanged' && outcome.detail === undefined;
  return outcome.kind === 'extracted' || (outcome.kind === 'failed' && outcome.reason !== 'model_unavailable');
}

function ignoreThrottling(error: unknown): void {
  if (!(error instanceof StillroomError)) throw error; // the lease ends and the next sweep starts it again
}

function sampleSession(id: string, now: number): Uint8Array {
  return codexRollout({ id, startAt: now - 60 * SECOND_MS, git: null })
    .user('fix the failing test of the parser, and use pnpm here')
    .call('exec_command', { cmd: 'pnpm test' }, 'ok')
    .assistant('The test passes now; the parser skipped empty lines.')
    .toBytes();
}
