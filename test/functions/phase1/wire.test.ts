import { resolve } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoJobStore } from '../../../adapters/dynamodb/job-store.ts';
import { DynamoStageOneStore } from '../../../adapters/dynamodb/stage-one-store.ts';
import { S3BodyShelf } from '../../../adapters/s3/body-shelf.ts';
import { rolloutKey } from '../../../adapters/s3/keys.ts';
import { DAY_MS } from '../../../core/time.ts';
import { captureOutput } from '../../support/capture-output.ts';
import { type LocalTable, startTable } from '../../support/dynalite.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { startQueue, type TestQueue } from '../../support/fauxqs.ts';
import {
  completedAnswer,
  errorAnswer,
  type ScriptedOpenAi,
  startScriptedOpenAi,
} from '../../support/scripted-openai.ts';
import { batchOf, dueBody, messageOf, objectCreated, s3Body } from './events.ts';
import { session } from './phase1-bench.ts';

const OLD = ['sk', 'old', '0123456789'].join('-');
const NEW = ['sk', 'new', '9876543210'].join('-');
const ANSWER = JSON.stringify({ raw_memory: 'raw', rollout_summary: '# Fixed', rollout_slug: 'fixed' });

let table: LocalTable;
let queue: TestQueue;
let objects: FakeS3;
let provider: ScriptedOpenAi;
let handler: typeof import('../../../functions/phase1/handler.ts').handler;
const secrets = mockClient(SecretsManagerClient);

beforeAll(async () => {
  [table, queue] = await Promise.all([startTable(), startQueue()]);
  objects = await FakeS3.start({ everyClient: true });
  provider = await startScriptedOpenAi([errorAnswer(401, { code: 'invalid_api_key' }), completedAnswer(ANSWER)]);
  secrets
    .on(GetSecretValueCommand, { SecretId: 'the-secret' })
    .resolvesOnce({ SecretString: OLD })
    .resolves({ SecretString: JSON.stringify({ api_key: NEW }) });
  const endpoint = await table.client.config.endpoint?.();
  const environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: `http://${endpoint?.hostname}:${endpoint?.port}`,
    AWS_ENDPOINT_URL_SQS: queue.endpoint,
    STAGE: 'test',
    TABLE_NAME: table.tableName,
    ROLLOUTS_BUCKET: 'rollouts',
    MEMORIES_BUCKET: 'memories',
    QUEUE_URL: queue.queueUrl,
    TEMPLATES_FOLDER: resolve(import.meta.dirname, '../../../layers/templates'),
    MODEL_SECRET_ARN: 'the-secret',
    MODEL_BASE_URL: provider.baseUrl,
    EXTRACT_MODEL: 'model-1',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = await import('../../../functions/phase1/handler.ts'));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  secrets.restore();
  objects.close();
  await Promise.all([table.close(), queue.close()]);
  await provider.close();
});

function invoke(event: SQSEvent) {
  return handler(event, { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 900_000 });
}

/** Hands what waits in the queue to the function, and deletes it. @returns the bodies of the messages */
async function work(): Promise<readonly string[]> {
  const QueueUrl = queue.queueUrl;
  const bodies: string[] = [];
  while (queue.waiting().length > 0) {
    const { Messages = [] } = await queue.client.send(new ReceiveMessageCommand({ QueueUrl }));
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      expect(await invoke(batchOf(Body))).toEqual({ batchItemFailures: [] });
      await queue.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
  return bodies;
}

describe('phase1, as it is deployed', () => {
  it('makes an output of an upload, with a key that was rotated meanwhile, and pays once for five deliveries', async () => {
    const output = captureOutput();
    const key = rolloutKey('~w6k', 't-1');
    const Body = session('t-1', 'MARKER', Date.now() - DAY_MS);
    await objects.client.send(
      new PutObjectCommand({ Bucket: 'rollouts', Key: key, Body, Metadata: { ended: 'true' } }),
    );
    const event = batchOf(s3Body(objectCreated(key, '0055AED6DCD90281E5', 'rollouts')));
    for (let delivery = 0; delivery < 2; delivery++) expect(await invoke(event)).toEqual({ batchItemFailures: [] });
    expect(provider.requests).toEqual([]);
    expect(await work()).toEqual([dueBody('~w6k', 't-1'), dueBody('~w6k', 't-1')]);
    for (let delivery = 0; delivery < 3; delivery++) expect(await invoke(event)).toEqual({ batchItemFailures: [] });
    expect(queue.waiting()).toEqual([]);

    const store = new DynamoTable(table.client, table.tableName);
    const job = await new DynamoJobStore(store).get('~w6k', { kind: 'extraction', threadId: 't-1' });
    expect(job).toMatchObject({ status: 'done', outcome: { kind: 'extracted' } });
    const outputs = new DynamoStageOneStore(store, new S3BodyShelf(objects.client, 'memories'));
    const head = await outputs.head('~w6k', 't-1');
    expect(head).toMatchObject({ slug: 'fixed', model: 'model-1' });
    expect((await outputs.bodies('~w6k', head === undefined ? [] : [head])).get('t-1')?.rolloutSummary).toBe('# Fixed');
    expect(await new DynamoJobStore(store).get('~w6k', { kind: 'consolidation' })).toMatchObject({ status: 'pending' });
    expect(provider.requests.map((request) => request.headers['authorization'])).toEqual([
      `Bearer ${OLD}`,
      `Bearer ${NEW}`,
    ]);
    expect(output.text()).toContain('stillroom.phase1.output');
    for (const secret of ['MARKER', OLD, NEW]) expect(output.text()).not.toContain(secret);
  });

  it('puts a message that cannot be read back into its queue, to come again later', async () => {
    captureOutput();
    await queue.client.send(new SendMessageCommand({ QueueUrl: queue.queueUrl, MessageBody: 'no JSON' }));
    const received = await queue.client.send(new ReceiveMessageCommand({ QueueUrl: queue.queueUrl }));
    const receiptHandle = received.Messages?.[0]?.ReceiptHandle ?? '';
    const answer = await invoke({ Records: [{ ...messageOf('no JSON', 1), receiptHandle }] });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] });
    expect(queue.inFlight()).toHaveLength(1);
    expect(queue.waiting()).toHaveLength(0);
  });
});
