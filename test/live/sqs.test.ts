import { describe, expect, it } from 'vitest';
import { SqsJobQueue } from '../../adapters/sqs/job-queue.ts';
import { SqsRedelivery } from '../../adapters/sqs/redelivery.ts';
import { decodeJobMessage } from '../../core/job/job-message.ts';
import type { JobMessage } from '../../core/ports/job-queue.ts';
import { jobQueueContract } from '../contracts/job-queue.contract.ts';
import { liveQueues } from '../support/live-queues.ts';

const MESSAGE: JobMessage = { kind: 'thread-due', userKey: 'u1', threadId: 't1' };

const queues = liveQueues();

jobQueueContract('SQS over the wire', async () => {
  const { queueUrl } = await queues.make();
  return {
    queue: new SqsJobQueue(queues.client, queueUrl),
    delivered: async () => (await queues.drain(queueUrl)).map(({ Body = '' }) => decodeJobMessage(JSON.parse(Body))),
  };
});

describe('redelivery over the wire', () => {
  it('brings a message back at once, and to the dead letters after five receives', async () => {
    const { queueUrl, deadLetterUrl } = await queues.make();
    const redelivery = new SqsRedelivery(queues.client, queueUrl);
    await new SqsJobQueue(queues.client, queueUrl).send([MESSAGE]);
    for (let receives = 1; receives <= 5; receives++) {
      const [message] = await queues.receive(queueUrl);
      expect(message?.Attributes?.['ApproximateReceiveCount']).toBe(String(receives));
      await redelivery.redeliver(message?.ReceiptHandle ?? '', 0);
    }
    expect(await queues.receive(queueUrl)).toEqual([]);
    const dead = await queues.drain(deadLetterUrl);
    expect(dead.map(({ Body = '' }) => decodeJobMessage(JSON.parse(Body)))).toEqual([MESSAGE]);
  });

  it('hides a message for the time asked', async () => {
    const { queueUrl } = await queues.make();
    const redelivery = new SqsRedelivery(queues.client, queueUrl);
    await new SqsJobQueue(queues.client, queueUrl).send([MESSAGE]);
    const [message] = await queues.receive(queueUrl);
    await redelivery.redeliver(message?.ReceiptHandle ?? '', 1_000);
    expect(await queues.receive(queueUrl)).toEqual([]);
    await redelivery.redeliver(message?.ReceiptHandle ?? '', 0);
    expect(await queues.receive(queueUrl)).toHaveLength(1);
  });

  it('fails by name for a handle that the queue does not know', async () => {
    const { queueUrl } = await queues.make();
    const redelivery = new SqsRedelivery(queues.client, queueUrl);
    const failure = { kind: 'unavailable', code: 'queue.release_failed' };
    await expect(redelivery.redeliver('no-such-handle', 1)).rejects.toMatchObject(failure);
  });
});
