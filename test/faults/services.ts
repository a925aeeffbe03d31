import type { DurableExecutionClient } from '@aws/durable-execution-sdk-js';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ModelClient, ModelReply } from '../../core/ports/model-client.ts';
import { s3Error } from '../support/fake-s3-errors.ts';
import { isWrite, nameCommand } from './call-name.ts';
import type { FaultPoint, Process } from './fault-point.ts';
import { type Command, intercept } from './intercept.ts';

/** What answers commands behind a client that is never connected. */
export type Answer = (command: Command) => Promise<unknown>;

/** The real ends of all clients, without faults. */
export interface Services {
  readonly table: DynamoDBDocumentClient;
  readonly objects: S3Client;
  readonly queue: Answer;
  readonly lambda: Answer;
  readonly secrets: Answer;
}

/** The clients of one process of a function; every call passes the fault point. */
export interface Clients {
  readonly table: DynamoDBDocumentClient;
  readonly objects: S3Client;
  readonly queue: SQSClient;
  readonly lambda: LambdaClient;
  readonly secrets: SecretsManagerClient;
  readonly model: (model: ModelClient) => ModelClient;
  readonly durable: (client: DurableExecutionClient) => DurableExecutionClient;
}

/** Which function a process runs, and where its calls meet their faults. */
export interface Caller {
  readonly functionName: string;
  readonly process: Process;
  readonly point: FaultPoint;
  /** Told of each call that the planned fault meets, and of what was applied. */
  readonly watch: { met(): void; applied(name: string): void };
}

/** ms that a client waits in vain: two tries with the time limits of its adapter. */
const WAITS = { table: 6_000, objects: 24_000, service: 20_000 } as const;
const UNCONNECTED = { region: 'eu-central-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

export function connect(services: Services, caller: Caller): Clients {
  const through = (fails: () => Error, timeoutMs: number, isPart = false) => {
    return (command: Command, send: () => Promise<unknown>) =>
      call(caller, { name: nameCommand(command), send, fails, timeoutMs, isPart });
  };
  const service = (answer: Answer, isPart = false) => {
    const send = through(() => failure('ServiceUnavailable', 503), WAITS.service, isPart);
    return (command: Command) => send(command, () => answer(command));
  };
  return {
    table: intercept(
      services.table,
      through(() => failure('ThrottlingException', 400), WAITS.table),
    ),
    objects: intercept(
      services.objects,
      through(() => s3Error('SlowDown', 503), WAITS.objects),
    ),
    queue: intercept(new SQSClient(UNCONNECTED), service(services.queue)),
    lambda: intercept(new LambdaClient(UNCONNECTED), service(services.lambda)),
    secrets: intercept(new SecretsManagerClient(UNCONNECTED), service(services.secrets, true)),
    model: (model) => faultyModel(model, caller),
    durable: (client) => ({
      ...client,
      checkpoint: async (request) => {
        const fails = () => failure('ServiceException', 500);
        const name = `Checkpoint ${(request.Updates ?? []).map(({ Type, Action }) => `${Type} ${Action}`).join(', ')}`;
        return call(caller, { name, send: () => client.checkpoint(request), fails, timeoutMs: WAITS.service });
      },
    }),
  };
}

interface Sent<T> {
  readonly name: string;
  readonly send: () => Promise<T>;
  readonly fails: () => Error;
  readonly timeoutMs: number;
  readonly isPart?: boolean;
}

function call<T>({ functionName, process, point, watch }: Caller, { name, send, fails, ...sent }: Sent<T>): Promise<T> {
  const apply = async (): Promise<T> => {
    const answer = await send();
    watch.applied(`${functionName} ${name}`);
    return answer;
  };
  const refused = (): never => {
    throw fails();
  };
  const silent = (): never => {
    throw Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });
  };
  return point.send(
    process,
    { name: `${functionName} ${name}`, writes: isWrite(name), repeats: true, apply, refused, silent, ...sent },
    watch.met,
  );
}

/** The provider behind its adapter: what it refuses or leaves unanswered is a reply, as the adapter tells it. */
function faultyModel(model: ModelClient, { functionName, process, point, watch }: Caller): ModelClient {
  return {
    respond: (request) => {
      const name = `${functionName} model ${request.purpose}`;
      const apply = async (): Promise<ModelReply> => {
        const reply = await model.respond(request);
        if (reply.kind === 'reply') watch.applied(name);
        return reply;
      };
      const refused = (): ModelReply => ({ kind: 'unavailable', code: 'http_503' });
      const silent = (): ModelReply => ({ kind: 'unavailable', code: 'timeout' });
      return point.send(
        process,
        { name, writes: true, repeats: false, apply, refused, silent, timeoutMs: request.timeoutMs },
        watch.met,
      );
    },
  };
}

function failure(name: string, httpStatusCode: number): Error {
  return Object.assign(new Error('refused'), { name, $metadata: { httpStatusCode } });
}
