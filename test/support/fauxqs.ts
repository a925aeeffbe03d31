import { SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';

/** What a message of a queue looks like from outside. */
export interface QueuedMessage {
  readonly body: string;
  readonly receives: number;
}

/** An SQS emulator on a free loopback port, with the queue and its dead-letter queue as they are deployed. */
export interface TestQueue {
  readonly client: SQSClient;
  readonly endpoint: string;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly deadLetterUrl: string;
  /** Messages that wait to be received. */
  waiting(): readonly QueuedMessage[];
  /** Messages that were received and are not settled. */
  inFlight(): readonly QueuedMessage[];
  deadLetters(): readonly QueuedMessage[];
  close(): Promise<void>;
}

const QUEUE = 'rollouts';
const DEAD_LETTERS = 'rollouts-dead';

/** Starts an emulator of its own. Close it when the test file has ended. */
export async function startQueue(): Promise<TestQueue> {
  const server = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1' });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const dead = server.createQueue(DEAD_LETTERS);
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.queueArn, maxReceiveCount: 5 });
  const { queueArn } = server.createQueue(QUEUE, { attributes: { VisibilityTimeout: '60', RedrivePolicy } });
  const client = new SQSClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 2,
  });
  return {
    client,
    endpoint,
    queueUrl: urlOf(endpoint, QUEUE),
    queueArn,
    deadLetterUrl: urlOf(endpoint, DEAD_LETTERS),
    waiting: () => look(server, QUEUE).ready.map(seen),
    inFlight: () => look(server, QUEUE).inflight.map(({ message }) => seen(message)),
    deadLetters: () => look(server, DEAD_LETTERS).ready.map(seen),
    close: async () => {
      client.destroy();
      await server.stop();
    },
  };
}

/** By address, not by the emulator's host name, which needs a name server that knows it. */
function urlOf(endpoint: string, queue: string): string {
  return `${endpoint}/000000000000/${queue}`;
}

type Inspection = NonNullable<ReturnType<FauxqsServer['inspectQueue']>>['messages'];

function look(server: FauxqsServer, queue: string): Inspection {
  const inspection = server.inspectQueue(queue);
  if (inspection === undefined) throw new Error(`no queue ${queue}`);
  return inspection.messages;
}

function seen(message: { readonly body: string; readonly approximateReceiveCount: number }): QueuedMessage {
  return { body: message.body, receives: message.approximateReceiveCount };
}
