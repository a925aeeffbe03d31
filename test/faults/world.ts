import { setTimeout } from 'node:timers/promises';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DurableExecutionAlreadyStartedException } from '@aws-sdk/client-lambda';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { SECOND_MS } from '../../core/time.ts';
import { createControlApp } from '../../functions/control/app.ts';
import { createHandler as createPhase1 } from '../../functions/phase1/create-handler.ts';
import { createHandler as createPhase2 } from '../../functions/phase2/create-handler.ts';
import { createReadApp } from '../../functions/read/app.ts';
import { createHandler as createSweep } from '../../functions/sweep/create-handler.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { NumberedTokens } from '../doubles/numbered-tokens.ts';
import { objectCreated, s3Body } from '../functions/phase1/events.ts';
import { DurableHost } from '../support/durable-host.ts';
import type { Emulator } from '../support/dynalite.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { checkWhole } from './check-whole.ts';
import { type FaultPlan, FaultPoint, Process } from './fault-point.ts';
import {
  controlDeps,
  phase1Deps,
  phase2Deps,
  ROLLOUTS,
  readDeps,
  type Setting,
  type Stores,
  storesOn,
  sweepDeps,
} from './function-deps.ts';
import type { Command } from './intercept.ts';
import { Payments } from './payments.ts';
import type { Provider } from './provider.ts';
import { QueueService } from './queue-service.ts';
import { type Clients, connect, type Services } from './services.ts';

export const START = Date.parse('2026-03-03T12:00:00Z');
/** A path that has not come to rest after so many jumps of the clock is stuck. */
const MAX_JUMPS = 60;
const MAX_REQUESTS = 6;
const INVOCATION = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 900_000 };

/** No call of the path takes real time: an invocation that has not ended by then waits for what never comes, ms. */
const HUNG_MS = 20_000;

/** What all runs of one operating-system process share. */
export interface Ground {
  readonly emulator: Emulator;
  readonly provider: Provider;
  /** Puts something else in front of the services, for tests of the harness itself. */
  readonly change?: (services: Services) => Services;
}

/** A process of a function, with what its code has in hand. */
interface Running {
  readonly functionName: string;
  readonly process: Process;
  readonly clients: Clients;
}

/**
 * One user's deployment in memory: tables, buckets, queue, schedule, durable executions, on a clock that is moved. Functions run as
 * deployed, one process each, which is replaced when it died. AWS does what it promises: it delivers again, invokes again, sweeps
 * again; callers repeat what was not answered.
 */
export class World {
  readonly clock = new FixedClock(START);
  readonly point: FaultPoint;
  readonly payments: Payments;
  readonly queue = new QueueService(() => this.clock.now());
  /** What broke so far. */
  readonly faults: string[] = [];
  readonly objects: FakeS3;
  /** Beside the path: sees everything, meets no fault. */
  readonly stores: Stores;
  readonly services: Services;
  readonly #setting: Setting;
  readonly #running = new Map<string, Running>();
  readonly #phase1 = new WeakMap<Running, ReturnType<typeof createPhase1>>();
  readonly #executions: DurableHost[] = [];
  readonly #started = new Set<string>();

  static async open(ground: Ground, plan?: FaultPlan): Promise<World> {
    let world: World | undefined;
    let uploads = 0;
    const objects = await FakeS3.start({
      now: () => world?.clock.now() ?? START,
      onCreated: (bucket, { key }) => {
        if (bucket !== ROLLOUTS) return;
        world?.queue.put(s3Body(objectCreated(key, String(++uploads).padStart(16, '0'), ROLLOUTS)));
      },
    });
    world = new World(ground, objects, await ground.emulator.createTable(), plan);
    return world;
  }

  private constructor({ emulator, provider, change }: Ground, objects: FakeS3, tableName: string, plan?: FaultPlan) {
    this.objects = objects;
    this.point = new FaultPoint(plan, (ms) => this.clock.advance(ms));
    this.payments = new Payments(provider, plan);
    this.#setting = { tableName, modelUrl: provider.baseUrl, clock: this.clock, tokens: new NumberedTokens() };
    const services: Services = {
      table: emulator.connect(),
      objects: objects.client,
      queue: (command) => this.queue.answer(command),
      lambda: async (command) => this.#invoke(command),
      secrets: async () => ({ SecretString: 'the-key' }),
    };
    this.services = change?.(services) ?? services;
    const watch = { met: () => {}, applied: () => {} };
    const point = new FaultPoint(undefined, () => {});
    const beside = connect(services, { functionName: 'beside', process: new Process(), point, watch });
    this.stores = storesOn(beside, this.#setting);
  }

  async close(): Promise<void> {
    for (const { process } of this.#running.values()) process.kill();
    await this.services.table.send(new DeleteTableCommand({ TableName: this.#setting.tableName }));
    this.services.table.destroy();
    this.objects.close();
  }

  /** A request of a caller, who repeats it until it is answered. @returns the answer, and how often it was asked */
  async ask(
    app: 'read' | 'control',
    path: string,
    init: RequestInit,
  ): Promise<{ readonly answer: Response; readonly asked: number }> {
    for (let asked = 1; asked <= MAX_REQUESTS; asked++) {
      const running = this.#run(app);
      const { clients } = running;
      const hono =
        app === 'read'
          ? createReadApp(readDeps(clients, this.#setting))
          : createControlApp(controlDeps(clients, this.#setting));
      const end = await this.#settled(running, async () =>
        hono.request(new Request(`https://api.example.org${path}`, init)),
      );
      if (end instanceof Response && end.status < 500) return { answer: end, asked };
      this.clock.advance(2 * SECOND_MS);
    }
    throw new Error(`${app} did not answer ${MAX_REQUESTS} requests`);
  }

  /** All that can be done at this time: messages, then executions. */
  async workNow(): Promise<void> {
    for (;;) {
      const record = this.queue.receive();
      const execution = record === undefined ? this.#executions.shift() : undefined;
      if (record !== undefined) await this.#deliver(record);
      else if (execution !== undefined) await this.#execute(execution);
      else return;
    }
  }

  /** Jumps from one time at which something happens to the next until nothing is left to do. */
  async workToEnd(): Promise<void> {
    for (let jumps = 0; jumps < MAX_JUMPS; jumps++) {
      await this.workNow();
      const due = await this.#dueAt();
      const times = [due, this.queue.nextAt()].filter((time) => time !== undefined);
      if (times.length === 0) return;
      this.clock.set(Math.max(this.clock.now(), Math.min(...times)));
      if (due !== undefined && due <= this.clock.now()) await this.#sweep();
    }
    this.faults.push('stuck: the path does not come to rest');
  }

  /** Starts a consolidation as a person does, past all faults, and works until it ended. */
  async consolidateNow(): Promise<void> {
    const event = { user_key: 'user-1', due_at: this.clock.now(), immediate: true };
    this.#executions.push(this.#hostOf(event));
    await this.workToEnd();
  }

  #run(functionName: string): Running {
    const known = this.#running.get(functionName);
    if (known?.process.alive === true) return known;
    const process = new Process();
    const watch = {
      met: () => this.payments.meet(),
      applied: (name: string) => this.payments.apply(name),
    };
    const running = {
      functionName,
      process,
      clients: connect(this.services, { functionName, process, point: this.point, watch }),
    };
    this.#running.set(functionName, running);
    return running;
  }

  /** What an invocation came to: its answer, `died`, or what it threw. Then looks whether readers see a whole version. */
  async #settled<T>({ functionName, process }: Running, invoke: () => Promise<T>): Promise<T | 'died' | Error> {
    const thrown = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
    const hung = new AbortController();
    const end = await Promise.race([invoke().catch(thrown), process.died, silence(hung.signal)]);
    hung.abort();
    await this.point.settle();
    if (end === 'died' || end instanceof Error) this.payments.die(functionName);
    const fault = await checkWhole(this.stores);
    if (fault !== undefined && !this.faults.includes(fault)) this.faults.push(fault);
    return end;
  }

  async #deliver(record: NonNullable<ReturnType<QueueService['receive']>>): Promise<void> {
    const running = this.#run('phase1');
    const handler = this.#phase1.get(running) ?? createPhase1(phase1Deps(running.clients, this.#setting));
    this.#phase1.set(running, handler);
    const end = await this.#settled(running, () => handler({ Records: [record] }, INVOCATION));
    if (end === 'died' || end instanceof Error) return;
    if (end.batchItemFailures.length === 0) this.queue.remove(record);
  }

  async #sweep(): Promise<void> {
    const running = this.#run('sweep');
    const handler = createSweep(sweepDeps(running.clients, this.#setting));
    const end = await this.#settled(running, () => handler({}, INVOCATION));
    if (end === 'died' || end instanceof Error || end.failed > 0) this.clock.advance(300 * SECOND_MS);
  }

  /** The service invokes until the execution ends; a dead or failed invocation is done again over what was kept. */
  async #execute(host: DurableHost): Promise<void> {
    for (let invocations = 0; invocations < MAX_JUMPS; invocations++) {
      const running = this.#run('phase2');
      const end = await this.#settled(running, () => host.invoke());
      if (end === 'died' || end instanceof Error) {
        host.kill();
        running.process.kill();
        continue;
      }
      if (end === 'suspended' || end === 'killed') continue;
      if (end.status === 'FAILED') this.faults.push(`an execution failed: ${end.message}`);
      return;
    }
    this.faults.push('stuck: an execution does not end');
  }

  #hostOf(event: unknown): DurableHost {
    return new DurableHost(event, ({ durableExecutionClient }) => (input, context) => {
      const { clients } = this.#run('phase2');
      const config = { durableExecutionClient: clients.durable(durableExecutionClient) };
      return createPhase2(phase2Deps(clients, this.#setting), config)(input, context);
    });
  }

  #invoke({ input }: Command): object {
    const name = String(input['DurableExecutionName']);
    if (this.#started.has(name))
      throw new DurableExecutionAlreadyStartedException({ message: 'started', $metadata: { httpStatusCode: 409 } });
    this.#started.add(name);
    this.#executions.push(this.#hostOf(JSON.parse(Buffer.from(input['Payload'] as Uint8Array).toString())));
    return { StatusCode: 202 };
  }

  /** When the next job is due, by the table itself. */
  async #dueAt(): Promise<number | undefined> {
    const { Items = [] } = await this.services.table.send(
      new ScanCommand({ TableName: this.#setting.tableName, ProjectionExpression: 'due_at', ConsistentRead: true }),
    );
    const times = Items.flatMap((item) => (typeof item['due_at'] === 'number' ? [item['due_at']] : []));
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/** @throws Error when an invocation hangs for good; aborted, it is never heard of again */
async function silence(signal: AbortSignal): Promise<never> {
  await setTimeout(HUNG_MS, undefined, { signal }).catch(() => new Promise(() => {}));
  throw new Error('stuck: an invocation does not end');
}
