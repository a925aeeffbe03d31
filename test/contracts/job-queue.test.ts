import { PurgeQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll } from 'vitest';
import { SqsJobQueue } from '../../adapters/sqs/job-queue.ts';
import { WorkerPool } from '../../adapters/system/worker-pool.ts';
import { decodeJobMessage } from '../../core/job/job-message.ts';
import type { JobMessage } from '../../core/ports/job-queue.ts';
import { MemoryJobQueue } from '../doubles/memory-job-queue.ts';
import { startQueue, type TestQueue } from '../support/fauxqs.ts';
import { jobQueueContract } from './job-queue.contract.ts';

let sqs: TestQueue;
beforeAll(async () => {
  sqs = await startQueue();
});
afterAll(() => sqs.close());

jobQueueContract('in memory', async () => {
  const queue = new MemoryJobQueue();
  return { queue, delivered: async () => queue.drain() };
});

jobQueueContract('worker pool', async () => {
  const seen: JobMessage[] = [];
  const queue = new WorkerPool(async (message) => void seen.push(message));
  return { queue, delivered: () => queue.idle().then(() => seen) };
});

jobQueueContract('SQS', async () => {
  await sqs.client.send(new PurgeQueueCommand({ QueueUrl: sqs.queueUrl }));
  return { queue: new SqsJobQueue(sqs.client, sqs.queueUrl), delivered: receiveAll };
});

async function receiveAll(): Promise<readonly JobMessage[]> {
  const messages: JobMessage[] = [];
  for (;;) {
    const request = { QueueUrl: sqs.queueUrl, MaxNumberOfMessages: 10 };
    const { Messages = [] } = await sqs.client.send(new ReceiveMessageCommand(request));
    if (Messages.length === 0) return messages;
    for (const { Body = '' } of Messages) messages.push(decodeJobMessage(JSON.parse(Body)));
  }
}
