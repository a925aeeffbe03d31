import { resolve } from 'node:path';
import { ListMultipartUploadsCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { CreateSecretCommand, DeleteSecretCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DeleteMessageCommand, type Message, SendMessageCommand } from '@aws-sdk/client-sqs';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { SQSRecord } from 'aws-lambda';
import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { userPartition } from '../../adapters/dynamodb/table.ts';
import { rolloutKey, rolloutsPrefix, userPrefix } from '../../adapters/s3/keys.ts';
import { createSecretsClient } from '../../adapters/secrets/client.ts';
import { startOfflineModel } from '../../local/offline/server.ts';
import { messageOf, objectCreated, s3Body } from '../functions/phase1/events.ts';
import { gatewayEvent, tokenOf } from '../support/gateway-event.ts';
import {
  type DurableEntry,
  type Execution,
  type LambdaServer,
  lambdaContext,
  startLambdaServer,
} from '../support/lambda-server.ts';
import type { LiveBuckets } from '../support/live-buckets.ts';
import { liveName } from '../support/live-name.ts';
import type { LiveQueue, LiveQueues } from '../support/live-queues.ts';

type GatewayHandler = typeof import('../../functions/read/handler.ts').handler;
type Phase1Handler = typeof import('../../functions/phase1/handler.ts').handler;
type SweepHandler = typeof import('../../functions/sweep/handler.ts').handler;

/** What stands at the endpoint for a world. */
export interface Ground {
  readonly tableName: string;
  readonly buckets: LiveBuckets;
  readonly queues: LiveQueues;
}

/** What is left of a user at the endpoint, asked without our adapters. */
export interface LeftOver {
  readonly items: number;
  readonly versions: number;
  readonly uploads: number;
}

interface Places {
  readonly rollouts: string;
  readonly memories: string;
  readonly queue: LiveQueue;
}

const KEY = ['sk', 'live', '0123456789'].join('-');
const MAX_ROUNDS = 20;

/**
 * The functions as they are wired for a deployment, over the table, buckets, queue and secret of an endpoint. Lambda's durable
 * executions and the model provider are servers of this process: no emulator has them.
 */
export class LiveWorld {
  readonly #ground: Ground;
  readonly #places: Places;
  readonly #lambda: LambdaServer;
  readonly #closing: (() => Promise<unknown>)[];
  #handlers: { read: GatewayHandler; control: GatewayHandler; phase1: Phase1Handler; sweep: SweepHandler } | undefined;
  #events = 0;

  private constructor(made: {
    ground: Ground;
    places: Places;
    lambda: LambdaServer;
    closing: (() => Promise<unknown>)[];
  }) {
    this.#ground = made.ground;
    this.#places = made.places;
    this.#lambda = made.lambda;
    this.#closing = made.closing;
  }

  /** @param stub sets a variable of the environment until the test file ends */
  static async start(ground: Ground, stub: (name: string, value: string) => void): Promise<LiveWorld> {
    const secrets = createSecretsClient();
    const [rollouts, memories, queue, secret, lambda, model] = await Promise.all([
      ground.buckets.make(),
      ground.buckets.make(),
      ground.queues.make(),
      makeSecret(secrets),
      startLambdaServer(),
      startOfflineModel(),
    ]);
    const places = { rollouts, memories, queue };
    const addresses = { secret: secret.arn, lambda: lambda.url, model: model.baseUrl };
    const variables = environment(ground.tableName, places, addresses);
    for (const [name, value] of Object.entries(variables)) stub(name, value);
    const closing = [() => lambda.close(), () => model.close(), secret.remove, async () => secrets.destroy()];
    const world = new LiveWorld({ ground, places, lambda, closing });
    await world.#load();
    return world;
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }

  /** Asks a function as API Gateway would. @returns status and body */
  async ask(
    name: 'read' | 'control',
    request: { readonly method?: string; readonly path: string; readonly user: string; readonly body?: unknown },
  ): Promise<{ readonly status: number; readonly json: unknown }> {
    const { user, body, ...rest } = request;
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers };
    const event = gatewayEvent({ ...rest, caller: tokenOf(user), ...sent });
    const answer = await this.#loaded()[name](event, lambdaContext(name));
    return { status: answer.statusCode, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
  }

  /** Sends what S3 sends to the queue when a rollout was created. */
  async announce(userKey: string, threadId: string): Promise<void> {
    const sequencer = `0055AED6DCD9${String(++this.#events).padStart(4, '0')}`;
    const MessageBody = s3Body(objectCreated(rolloutKey(userKey, threadId), sequencer, this.#places.rollouts));
    const { queueUrl: QueueUrl } = this.#places.queue;
    await this.#ground.queues.client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  }

  /** Hands messages to phase1 as Lambda does, until none is left. @returns how many it was given, and gave back */
  async drain(): Promise<{ readonly given: number; readonly failed: number }> {
    const { queueUrl: QueueUrl } = this.#places.queue;
    const total = { given: 0, failed: 0 };
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const records = (await this.#ground.queues.receive(QueueUrl)).map(recordOf);
      if (records.length === 0) return total;
      const answer = await this.#loaded().phase1({ Records: records }, lambdaContext('phase1'));
      const failed = new Set(answer.batchItemFailures.map((item) => item.itemIdentifier));
      for (const { messageId, receiptHandle: ReceiptHandle } of records)
        if (!failed.has(messageId))
          await this.#ground.queues.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      total.given += records.length;
      total.failed += failed.size;
    }
    throw new Error('the queue does not run dry');
  }

  /** One pass of the sweep, and every consolidation that it started, to its end. */
  async sweep(): Promise<readonly Execution[]> {
    await this.#loaded().sweep({ source: 'aws.events' }, lambdaContext('sweep'));
    return this.#lambda.settle();
  }

  async leftOf(userKey: string): Promise<LeftOver> {
    const { rollouts, memories } = this.#places;
    const inRollouts = await this.#objectsUnder(rollouts, rolloutsPrefix(userKey));
    const inMemories = await this.#objectsUnder(memories, userPrefix(userKey));
    return {
      items: await this.#itemsOf(userKey),
      versions: inRollouts.versions + inMemories.versions,
      uploads: inRollouts.uploads + inMemories.uploads,
    };
  }

  async #itemsOf(userKey: string): Promise<number> {
    const client = createTableClient();
    const { Count = 0 } = await client.send(
      new QueryCommand({
        TableName: this.#ground.tableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': userPartition(userKey) },
        ConsistentRead: true,
        Select: 'COUNT',
      }),
    );
    client.destroy();
    return Count;
  }

  async #objectsUnder(Bucket: string, Prefix: string): Promise<Omit<LeftOver, 'items'>> {
    const { client } = this.#ground.buckets;
    const listed = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
    const { Versions = [], DeleteMarkers = [] } = listed;
    return { versions: Versions.length + DeleteMarkers.length, uploads: Uploads.length };
  }

  /** Each handler puts itself together from the environment when it is loaded, as in a deployment. */
  async #load(): Promise<void> {
    const [read, control, phase1, sweep, phase2] = await Promise.all([
      import('../../functions/read/handler.ts'),
      import('../../functions/control/handler.ts'),
      import('../../functions/phase1/handler.ts'),
      import('../../functions/sweep/handler.ts'),
      import('../../functions/phase2/handler.ts'),
    ]);
    this.#handlers = { read: read.handler, control: control.handler, phase1: phase1.handler, sweep: sweep.handler };
    this.#lambda.serve(phase2.handler as DurableEntry);
  }

  #loaded() {
    if (this.#handlers === undefined) throw new Error('the functions are not loaded');
    return this.#handlers;
  }
}

function recordOf(message: Message): SQSRecord {
  const { MessageId = '', ReceiptHandle = '', Body = '', Attributes = {} } = message;
  const receives = Number(Attributes['ApproximateReceiveCount'] ?? 1);
  return { ...messageOf(Body, 1, receives), messageId: MessageId, receiptHandle: ReceiptHandle };
}

async function makeSecret(client: SecretsManagerClient): Promise<{ readonly arn: string; remove(): Promise<unknown> }> {
  const { ARN = '' } = await client.send(new CreateSecretCommand({ Name: liveName(), SecretString: KEY }));
  const request = { SecretId: ARN, ForceDeleteWithoutRecovery: true };
  return { arn: ARN, remove: () => client.send(new DeleteSecretCommand(request)) };
}

function environment(
  tableName: string,
  { rollouts, memories, queue }: Places,
  addresses: { readonly secret: string; readonly lambda: string; readonly model: string },
): Readonly<Record<string, string>> {
  return {
    AWS_ENDPOINT_URL_LAMBDA: addresses.lambda,
    STAGE: 'live',
    TABLE_NAME: tableName,
    ROLLOUTS_BUCKET: rollouts,
    MEMORIES_BUCKET: memories,
    QUEUE_URL: queue.queueUrl,
    TEMPLATES_FOLDER: resolve(import.meta.dirname, '../../layers/templates'),
    MODEL_SECRET_ARN: addresses.secret,
    MODEL_BASE_URL: addresses.model,
    MODEL_API: 'responses',
    EXTRACT_MODEL: 'offline-rules-1',
    CONSOLIDATION_MODEL: 'offline-rules-1',
    CONSOLIDATION_FUNCTION: 'arn:aws:lambda:us-east-1:000000000000:function:phase2:live',
    AUTH_MODE: 'jwt',
    USER_CLAIM: 'sub',
    API_URL: 'https://memory.example.com',
    POWERTOOLS_DEV: 'false',
  };
}
