import type { Readable } from 'node:stream';
import { S3Client, type ServiceOutputTypes } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { FakeBucket, type StoredVersion } from './fake-s3-bucket.ts';
import { applyCommand, commandName } from './fake-s3-commands.ts';
import { aborted, requestTimeout } from './fake-s3-errors.ts';
import { FakeUploads } from './fake-s3-multipart.ts';
import { probeObjectStore } from './probe-object-store.ts';

/** One call as it arrived. */
export interface S3Call {
  /** As S3 names it: `PutObject`, … */
  readonly command: string;
  readonly bucket: string | undefined;
  readonly key: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What goes wrong with one call. */
export type S3Fault =
  /** Refused or lost on the way there: nothing happens. */
  | { readonly kind: 'fail'; readonly error: Error }
  /** Applied, but the answer never arrives. */
  | { readonly kind: 'lose-reply'; readonly error: Error }
  /** Not applied and not answered, until the caller aborts or `endHanging` lets its time limit pass. */
  | { readonly kind: 'hang' };

export interface FakeS3Options {
  /** ms since the epoch; default: stands still at a fixed time. */
  readonly now?: () => number;
  /** Names; default `rollouts` and `memories`, both with versions. */
  readonly buckets?: readonly string[];
  readonly unversionedBuckets?: readonly string[];
  /** Most items of one listing page; default 1,000 as in S3. */
  readonly pageSize?: number;
  /** Told of each object that was created, as an event notification would. */
  readonly onCreated?: (bucket: string, version: StoredVersion) => void;
  /** Replaces `send` of every S3 client of this process instead of one client's. Needed where code makes its own client. */
  readonly everyClient?: boolean;
}

const START = Date.UTC(2026, 0, 2, 3, 4, 5);

/**
 * A stateful stand-in for S3 behind `send` of the SDK's client: versions, delete markers, conditional writes, listing pages,
 * multipart uploads; strongly consistent, with version ids that count up. It refuses every command and parameter that it does
 * not know. `start` first proves that it honours conditions (user case C28).
 */
export class FakeS3 {
  readonly client: S3Client;
  /** Every call in order, failed ones included. */
  readonly calls: S3Call[] = [];
  /** Keys whose deletion DeleteObjects answers with an error. */
  readonly refusedDeletes = new Set<string>();
  readonly uploads = new FakeUploads();
  /** Decides about each call that no planned fault meets. */
  faultFor: (call: S3Call) => S3Fault | undefined = () => undefined;
  readonly #bodies: Readable[] = [];
  readonly #buckets = new Map<string, FakeBucket>();
  readonly #planned: { command: string; skip: number; readonly fault: S3Fault }[] = [];
  readonly #hanging = new Set<(error: Error) => void>();
  readonly #options: FakeS3Options;
  readonly #stub: { restore(): void };
  #versions = 0;

  static async start(options: FakeS3Options = {}): Promise<FakeS3> {
    const fake = new FakeS3(options);
    const name = 'probe-bucket';
    fake.#addBucket(name, true);
    await probeObjectStore(fake.client, name);
    fake.#buckets.delete(name);
    fake.#versions = 0;
    fake.calls.length = 0;
    return fake;
  }

  private constructor(options: FakeS3Options) {
    this.#options = options;
    this.client = new S3Client({
      region: 'eu-central-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    for (const name of options.buckets ?? ['rollouts', 'memories']) this.#addBucket(name, true);
    for (const name of options.unversionedBuckets ?? []) this.#addBucket(name, false);
    const stub = mockClient(options.everyClient === true ? S3Client : this.client);
    stub.send.callsFake((...args: readonly unknown[]) => this.#send(args[0], args[1]) as Promise<ServiceOutputTypes>);
    this.#stub = stub;
  }

  bucket(name: string): FakeBucket {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) throw new Error(`FakeS3 has no bucket ${name}`);
    return bucket;
  }

  /** The next call of a command meets the fault; with `skip`, so many go well before. */
  failNext(command: string, fault: S3Fault, skip = 0): void {
    this.#planned.push({ command, skip, fault });
  }

  /** Bodies handed out and neither read to the end nor destroyed: each would hold a socket. */
  openBodies(): number {
    return this.#bodies.filter((body) => !body.destroyed && !body.readableEnded).length;
  }

  /** How often a command was called. */
  count(command: string): number {
    return this.calls.filter((call) => call.command === command).length;
  }

  /** Lets the time limit of every hanging call pass. @returns how many hung */
  endHanging(error: Error = requestTimeout()): number {
    const hanging = [...this.#hanging];
    for (const end of hanging) end(error);
    return hanging.length;
  }

  /** @throws Error when a planned fault was never met: the test did not try what it says */
  close(): void {
    this.#stub.restore();
    this.client.destroy();
    if (this.#planned.length > 0) {
      throw new Error(`faults were never met: ${this.#planned.map((plan) => plan.command).join(', ')}`);
    }
  }

  #addBucket(name: string, versioned: boolean): void {
    const now = this.#options.now ?? (() => START);
    const nextVersionId = () => `v${String(++this.#versions).padStart(10, '0')}`;
    this.#buckets.set(name, new FakeBucket(name, versioned, { now, nextVersionId }));
  }

  async #send(command: unknown, options: unknown): Promise<object> {
    if (!isCommand(command)) throw new Error('FakeS3: send was called without a command');
    const call = callOf(command);
    this.calls.push(call);
    const signal = signalOf(options);
    if (signal?.aborted === true) throw aborted();
    await Promise.resolve(); // an answer never comes in the same turn
    const fault = this.#takeFault(call);
    if (fault?.kind === 'fail') throw fault.error;
    if (fault?.kind === 'hang') return this.#hang(signal);
    const answer = applyCommand(this.#world(), command);
    if (fault?.kind === 'lose-reply') throw fault.error;
    return answer;
  }

  #world() {
    return {
      buckets: this.#buckets,
      uploads: this.uploads,
      pageSize: this.#options.pageSize ?? 1_000,
      refusedDeletes: this.refusedDeletes,
      bodies: this.#bodies,
      created: (bucket: FakeBucket, version: StoredVersion) => this.#options.onCreated?.(bucket.name, version),
    };
  }

  #takeFault(call: S3Call): S3Fault | undefined {
    const plan = this.#planned.find((item) => item.command === call.command);
    if (plan === undefined) return this.faultFor(call);
    if (plan.skip-- > 0) return this.faultFor(call);
    this.#planned.splice(this.#planned.indexOf(plan), 1);
    return plan.fault;
  }

  async #hang(signal: AbortSignal | undefined): Promise<object> {
    if (signal?.aborted === true) throw aborted();
    return new Promise((_resolve, reject) => {
      const end = (error: Error) => {
        this.#hanging.delete(end);
        reject(error);
      };
      this.#hanging.add(end);
      signal?.addEventListener('abort', () => end(aborted()), { once: true });
    });
  }
}

function isCommand(value: unknown): value is { readonly input: object } {
  return typeof value === 'object' && value !== null && 'input' in value && typeof value.input === 'object';
}

function callOf(command: { readonly input: object }): S3Call {
  const input: Readonly<Record<string, unknown>> = { ...command.input };
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { command: commandName(command), bucket: text(input['Bucket']), key: text(input['Key']), input };
}

function signalOf(options: unknown): AbortSignal | undefined {
  const signal =
    typeof options === 'object' && options !== null && 'abortSignal' in options ? options.abortSignal : undefined;
  return signal instanceof AbortSignal ? signal : undefined;
}
