import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll } from 'vitest';
import { createQueueClient } from '../../adapters/sqs/client.ts';
import { liveName } from './live-name.ts';

/** A queue with its dead-letter queue, as they are deployed. */
export interface LiveQueue {
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly deadLetterUrl: string;
}

/** Queues at the endpoint. */
export interface LiveQueues {
  readonly client: SQSClient;
  make(): Promise<LiveQueue>;
  /** Up to 10 messages, received and not settled. */
  receive(queueUrl: string): Promise<readonly Message[]>;
  /** All messages, settled. */
  drain(queueUrl: string): Promise<readonly Message[]>;
}

/** Queues of the test file, removed after it. Call it outside of tests. */
export function liveQueues(): LiveQueues {
  const client = createQueueClient();
  const made: string[] = [];
  afterAll(async () => {
    for (const QueueUrl of made) await client.send(new DeleteQueueCommand({ QueueUrl }));
    client.destroy();
  });
  const create = async (Attributes: Record<string, string>) => {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: liveName(), Attributes }));
    made.push(QueueUrl);
    const asked = { QueueUrl, AttributeNames: ['QueueArn' as const] };
    const answer = await client.send(new GetQueueAttributesCommand(asked));
    return { url: QueueUrl, arn: answer.Attributes?.['QueueArn'] ?? '' };
  };
  const receive = async (QueueUrl: string): Promise<readonly Message[]> => {
    const wish = { MaxNumberOfMessages: 10, WaitTimeSeconds: 1, MessageSystemAttributeNames: ['All' as const] };
    return (await client.send(new ReceiveMessageCommand({ QueueUrl, ...wish }))).Messages ?? [];
  };
  return {
    client,
    make: async () => {
      const dead = await create({});
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 5 });
      const queue = await create({ VisibilityTimeout: '60', RedrivePolicy });
      return { queueUrl: queue.url, queueArn: queue.arn, deadLetterUrl: dead.url };
    },
    receive,
    drain: async (QueueUrl) => {
      const all: Message[] = [];
      for (;;) {
        const messages = await receive(QueueUrl);
        if (messages.length === 0) return all;
        all.push(...messages);
        for (const { ReceiptHandle } of messages)
          await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    },
  };
}
