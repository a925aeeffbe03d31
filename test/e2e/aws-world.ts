import { createServer, type Server } from 'node:http';
import { pathToFileURL } from 'node:url';
import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { PARTITION_KEY } from '../../adapters/dynamodb/table.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../infra/bundling.ts';
import { type OfflineModel, startOfflineModel } from '../../local/offline/server.ts';
import { bundle } from '../support/bundles.ts';
import { type LocalTable, startTable } from '../support/dynalite.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { startQueue, type TestQueue } from '../support/fauxqs.ts';
import { gatewayEvent, tokenOf } from '../support/gateway-event.ts';
import { makeTempFolder } from '../support/ground.ts';
import { type DurableEntry, type Execution, lambdaContext, startLambdaServer } from '../support/lambda-server.ts';
import { startS3Server } from '../support/s3-server.ts';

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

export interface HttpAnswer {
  readonly status: number;
  readonly json: unknown;
}

const REGION = 'eu-central-1';
const MAX_ROUNDS = 50;

/**
 * The deployment on this machine: the six bundles as they are deployed, each with its own copy of the SDK, over the wire of a
 * table, two buckets, a queue, a secret, Lambda's durable executions and a model provider. Nothing is mocked in the bundles.
 */
export class AwsWorld {
  readonly s3: FakeS3;
  readonly queue: TestQueue;
  readonly table: LocalTable;
  readonly #lambda: Awaited<ReturnType<typeof startLambdaServer>>;
  readonly #handlers: ReadonlyMap<FunctionName, Handler>;
  readonly #closing: (() => Promise<unknown> | unknown)[];
  readonly #messages: Promise<unknown>[];

  private constructor(made: {
    s3: FakeS3;
    queue: TestQueue;
    table: LocalTable;
    lambda: Awaited<ReturnType<typeof startLambdaServer>>;
    handlers: ReadonlyMap<FunctionName, Handler>;
    closing: (() => Promise<unknown> | unknown)[];
    messages: Promise<unknown>[];
  }) {
    this.s3 = made.s3;
    this.queue = made.queue;
    this.table = made.table;
    this.#lambda = made.lambda;
    this.#handlers = made.handlers;
    this.#closing = made.closing;
    this.#messages = made.messages;
  }

  /** @param stub sets a variable of the environment until the test file ends */
  static async start(stub: (name: string, value: string) => void): Promise<AwsWorld> {
    const [table, queue, lambda, model, secrets] = await Promise.all([
      startTable(),
      startQueue(),
      startLambdaServer(),
      startOfflineModel(),
      startSecretsServer(),
    ]);
    const messages: Promise<unknown>[] = [];
    const s3 = await FakeS3.start({
      now: Date.now,
      onCreated: (bucket, version) => {
        if (bucket === 'rollouts') messages.push(notify(queue, version.key, version.versionId));
      },
    });
    const s3Server = await startS3Server(s3);
    const endpoints = { dynamodb: await endpointOf(table), s3: s3Server.url, lambda: lambda.url, secrets: secrets.url };
    for (const [name, value] of Object.entries(environment(table, queue, model, endpoints))) stub(name, value);
    const handlers = await loadHandlers(makeTempFolder());
    const phase2 = handlers.get('phase2');
    if (phase2 !== undefined) lambda.serve(phase2 as DurableEntry);
    const closing = [
      () => s3Server.close(),
      () => s3.close(),
      () => table.close(),
      () => queue.close(),
      () => lambda.close(),
      () => model.close(),
      () => secrets.close(),
    ];
    return new AwsWorld({ s3, queue, table, lambda, handlers, closing, messages });
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }

  /** Asks one of the HTTP functions as API Gateway would. */
  async ask(
    name: 'read' | 'control' | 'mcp',
    request: { readonly method?: string; readonly path: string; readonly user: string; readonly body?: unknown },
  ): Promise<HttpAnswer> {
    const { user, body, ...rest } = request;
    const sent =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const event = gatewayEvent({ ...rest, caller: tokenOf(user), ...sent });
    const answer = (await this.#call(name, event)) as { statusCode: number; body: string };
    return { status: answer.statusCode, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
  }

  /** Sends one JSON-RPC message to the MCP function. */
  async askMcp(message: object, user: string): Promise<HttpAnswer> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify(message);
    const event = gatewayEvent({ method: 'POST', path: '/mcp', headers, body, caller: tokenOf(user) });
    const answer = (await this.#call('mcp', event)) as { statusCode: number; body: string };
    return { status: answer.statusCode, json: JSON.parse(answer.body) };
  }

  /** Hands messages to phase1 until none is left; what it does not settle stays in flight. @returns how many it was given */
  async drain(): Promise<number> {
    let given = 0;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await Promise.all(this.#messages.splice(0));
      const received = await this.queue.client.send(
        new ReceiveMessageCommand({
          QueueUrl: this.queue.queueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
          WaitTimeSeconds: 0,
        }),
      );
      const records = (received.Messages ?? []).map((message) => recordOf(message));
      if (records.length === 0) return given;
      given += records.length;
      const answer = (await this.#call('phase1', { Records: records })) as SQSBatchResponse;
      const failed = new Set(answer.batchItemFailures.map((item) => item.itemIdentifier));
      for (const record of records) {
        if (failed.has(record.messageId)) continue;
        const receipt = { QueueUrl: this.queue.queueUrl, ReceiptHandle: record.receiptHandle };
        await this.queue.client.send(new DeleteMessageCommand(receipt));
      }
    }
    throw new Error('the queue does not run dry');
  }

  /** One pass of the sweep, and everything that it started, to its end. */
  async sweep(): Promise<readonly Execution[]> {
    await this.#call('sweep', {
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      time: new Date().toISOString(),
    });
    return this.#lambda.settle();
  }

  /** Runs what was started without a sweep, by a person's "now". */
  settle(): Promise<readonly Execution[]> {
    return this.#lambda.settle();
  }

  /** Every item of the table that is a user's. */
  async itemsOf(userKey: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { Items = [] } = await this.table.client.send(new ScanCommand({ TableName: this.table.tableName }));
    return Items.filter((item) => item[PARTITION_KEY] === `user#${userKey}`);
  }

  /** Keys of all versions and delete markers of a user, both buckets. */
  versionsOf(userKey: string): readonly string[] {
    return ['rollouts', 'memories'].flatMap((name) =>
      this.s3
        .bucket(name)
        .allVersions(name === 'rollouts' ? `rollouts/${userKey}/` : `users/${userKey}/`)
        .map((version) => version.key),
    );
  }

  async #call(name: FunctionName, event: unknown): Promise<unknown> {
    const handler = this.#handlers.get(name);
    if (handler === undefined) throw new Error(`no function ${name}`);
    return handler(event, lambdaContext(name));
  }
}

async function loadHandlers(folder: string): Promise<ReadonlyMap<FunctionName, Handler>> {
  const bundles = await Promise.all(FUNCTION_NAMES.map(async (name) => [name, await bundle(name, folder)] as const));
  const handlers = new Map<FunctionName, Handler>();
  for (const [name, { file }] of bundles) {
    const loaded = (await import(pathToFileURL(file).href)) as { handler: Handler };
    handlers.set(name, loaded.handler);
  }
  return handlers;
}

function environment(
  table: LocalTable,
  queue: TestQueue,
  model: OfflineModel,
  endpoints: { readonly dynamodb: string; readonly s3: string; readonly lambda: string; readonly secrets: string },
): Readonly<Record<string, string>> {
  return {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SQS: queue.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secrets,
    STAGE: 'test',
    TABLE_NAME: table.tableName,
    ROLLOUTS_BUCKET: 'rollouts',
    MEMORIES_BUCKET: 'memories',
    QUEUE_URL: queue.queueUrl,
    TEMPLATES_FOLDER: 'layers/templates',
    MODEL_SECRET_ARN: `arn:aws:secretsmanager:${REGION}:000000000000:secret:model-key`,
    MODEL_BASE_URL: model.baseUrl,
    MODEL_API: 'responses',
    EXTRACT_MODEL: 'offline-rules-1',
    CONSOLIDATION_MODEL: 'offline-rules-1',
    CONSOLIDATION_FUNCTION: `arn:aws:lambda:${REGION}:000000000000:function:phase2:live`,
    AUTH_MODE: 'jwt',
    USER_CLAIM: 'sub',
    API_URL: 'https://memory.example.com',
    POWERTOOLS_DEV: 'false',
  };
}

async function endpointOf(table: LocalTable): Promise<string> {
  const endpoint = await table.client.config.endpoint?.();
  return endpoint === undefined ? '' : `http://${endpoint.hostname}:${endpoint.port}`;
}

/** What S3 sends when an object was created. */
function notify(queue: TestQueue, key: string, versionId: string): Promise<unknown> {
  const record = {
    eventVersion: '2.1',
    eventSource: 'aws:s3',
    awsRegion: REGION,
    eventTime: new Date().toISOString(),
    eventName: 'ObjectCreated:Put',
    s3: {
      s3SchemaVersion: '1.0',
      bucket: { name: 'rollouts', arn: 'arn:aws:s3:::rollouts' },
      object: {
        key: encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+'),
        versionId,
        sequencer: versionId.slice(1).padStart(18, '0'),
      },
    },
  };
  const MessageBody = JSON.stringify({ Records: [record] });
  return queue.client.send(new SendMessageCommand({ QueueUrl: queue.queueUrl, MessageBody }));
}

function recordOf(message: {
  readonly MessageId?: string | undefined;
  readonly ReceiptHandle?: string | undefined;
  readonly Body?: string | undefined;
  readonly Attributes?: Partial<Record<string, string>> | undefined;
}): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: {
      ApproximateReceiveCount: message.Attributes?.['ApproximateReceiveCount'] ?? '1',
      SentTimestamp: message.Attributes?.['SentTimestamp'] ?? '0',
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:${REGION}:000000000000:rollouts`,
    awsRegion: REGION,
  };
}

/** Secrets Manager, as far as reading one secret goes. */
async function startSecretsServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer((incoming, outgoing) => {
    const known = incoming.headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
    outgoing.writeHead(known ? 200 : 501, { 'content-type': 'application/x-amz-json-1.1' });
    outgoing.end(JSON.stringify(known ? { Name: 'model-key', SecretString: 'the-key' } : { message: 'not known' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
