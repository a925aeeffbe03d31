import { resolve } from 'node:path';
import { LambdaConsolidationStarter } from '../../adapters/durable/consolidation-starter.ts';
import { DurableStepRunner } from '../../adapters/durable/step-runner.ts';
import { DynamoDueIndex } from '../../adapters/dynamodb/due-index.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoEraseMarks } from '../../adapters/dynamodb/erase-marks.ts';
import { DynamoFront } from '../../adapters/dynamodb/front.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoReceiptStore } from '../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoStepRunner } from '../../adapters/dynamodb/step-runner.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../adapters/dynamodb/usage-ledger.ts';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { KeyedModelClient } from '../../adapters/openai/keyed-model-client.ts';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { parseRolloutKey } from '../../adapters/s3/keys.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { S3UploadSigner } from '../../adapters/s3/presign-upload.ts';
import { S3ReplayStore } from '../../adapters/s3/replay-store.ts';
import { S3RolloutStore } from '../../adapters/s3/rollout-store.ts';
import { SecretKey } from '../../adapters/secrets/secret-key.ts';
import { SqsJobQueue } from '../../adapters/sqs/job-queue.ts';
import { SqsRedelivery } from '../../adapters/sqs/redelivery.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import type { ControlAppDeps } from '../../functions/control/deps.ts';
import type { Phase1Deps } from '../../functions/phase1/deps.ts';
import type { Phase2Deps } from '../../functions/phase2/deps.ts';
import type { ReadAppDeps } from '../../functions/read/deps.ts';
import type { SweepDeps } from '../../functions/sweep/deps.ts';
import { RecordingTelemetry } from '../doubles/recording-telemetry.ts';
import type { Clients } from './services.ts';

export const USER = 'user-1';
export const ROLLOUTS = 'rollouts';
export const MEMORIES = 'memories';
const TEMPLATES = new FilesTemplateStore(resolve(import.meta.dirname, '../../layers/templates'));
const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/000000000000/rollouts';
const PHASE2_ARN = 'arn:aws:lambda:eu-central-1:000000000000:function:phase2:live';
/** Longer than any run of this harness, so that no answer comes of a timer. */
const REQUEST_TIMEOUT_MS = 60_000;

/** What one process of a function works with, beside its clients. */
export interface Setting {
  readonly tableName: string;
  readonly modelUrl: string;
  readonly clock: Clock;
  readonly tokens: TokenSource;
}

/** The stores of a process, as every `wire.ts` makes them. */
export function storesOn(clients: Clients, { tableName, clock }: Setting) {
  const table = new DynamoTable(clients.table, tableName);
  const telemetry = new RecordingTelemetry();
  const front = new DynamoFront(table);
  const pause = async (): Promise<void> => {};
  return {
    table,
    telemetry,
    jobs: new DynamoJobStore(table),
    outputs: new DynamoStageOneStore(table, new S3BodyShelf(clients.objects, MEMORIES)),
    threads: new DynamoThreadStore(table),
    marks: new DynamoEraseMarks(table),
    heads: new DynamoHeadStore(table, front),
    settings: new DynamoSettingsStore(table, front),
    ledger: new DynamoUsageLedger(table, clock),
    receipts: new DynamoReceiptStore(table),
    memories: new S3MemoryStore(clients.objects, MEMORIES, telemetry, { now: () => clock.now(), pause }),
    replays: new S3ReplayStore(clients.objects, MEMORIES),
    rollouts: new S3RolloutStore(clients.objects, ROLLOUTS),
    templates: TEMPLATES,
  };
}

export type Stores = ReturnType<typeof storesOn>;

const TRACING = {
  correlate: () => {},
  flush: () => {},
  withSpan: <T>(_name: string, _attributes: unknown, work: () => Promise<T>): Promise<T> => work(),
};

export function phase1Deps(clients: Clients, setting: Setting): Phase1Deps {
  return {
    ...storesOn(clients, setting),
    model: modelOf(clients, setting),
    clock: setting.clock,
    tokens: setting.tokens,
    queue: new SqsJobQueue(clients.queue, QUEUE_URL),
    redelivery: new SqsRedelivery(clients.queue, QUEUE_URL),
    tracing: TRACING,
    rolloutOf: (bucket, key) => (bucket === ROLLOUTS ? parseRolloutKey(key) : undefined),
    extractModel: 'extract-model',
    dailyTokenBudget: null,
  };
}

export function sweepDeps(clients: Clients, setting: Setting): SweepDeps {
  const { table, telemetry } = storesOn(clients, setting);
  return {
    due: new DynamoDueIndex(table),
    queue: new SqsJobQueue(clients.queue, QUEUE_URL),
    consolidations: new LambdaConsolidationStarter(clients.lambda, PHASE2_ARN),
    clock: setting.clock,
    telemetry,
    tracing: TRACING,
  };
}

export function phase2Deps(clients: Clients, setting: Setting): Phase2Deps {
  const stores = storesOn(clients, setting);
  return {
    ...stores,
    model: modelOf(clients, setting),
    stepsOf: ({ userKey, context, ...time }) =>
      new DurableStepRunner(context, new DynamoStepRunner(stores.table, userKey, setting.clock), time),
    clock: setting.clock,
    tokens: setting.tokens,
    tracing: TRACING,
    consolidationModel: 'consolidation-model',
    dailyTokenBudget: null,
    oneShotTokens: 0,
  };
}

export function readDeps(clients: Clients, setting: Setting): ReadAppDeps {
  const stores = storesOn(clients, setting);
  return {
    ...stores,
    identify,
    settings: (userKey) => stores.settings.read(userKey),
    stageOne: stores.outputs,
    clock: setting.clock,
    tokens: setting.tokens,
    basePath: 'https://memory.example.org/v1/memory/files',
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  };
}

export function controlDeps(clients: Clients, setting: Setting): ControlAppDeps {
  return {
    ...storesOn(clients, setting),
    identify,
    queue: new SqsJobQueue(clients.queue, QUEUE_URL),
    consolidations: new LambdaConsolidationStarter(clients.lambda, PHASE2_ARN),
    uploads: new S3UploadSigner(clients.objects, ROLLOUTS),
    traces: [],
    clock: setting.clock,
    tokens: setting.tokens,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  };
}

function identify() {
  return { userKey: USER, userId: USER };
}

function modelOf(clients: Clients, { modelUrl, clock }: Setting) {
  const key = new SecretKey(clients.secrets, 'the-secret', clock);
  return clients.model(new KeyedModelClient(key, { baseUrl: modelUrl, apiMode: 'responses' }));
}
