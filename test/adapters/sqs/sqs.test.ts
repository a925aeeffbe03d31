import { ReceiveMessageCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQueueClient } from '../../../adapters/sqs/client.ts';
import { SqsJobQueue, sendBatchRequest } from '../../../adapters/sqs/job-queue.ts';
import { SqsRedelivery } from '../../../adapters/sqs/redelivery.ts';
import type { JobMessage } from '../../../core/ports/job-queue.ts';
import { startQueue, type TestQueue } from '../../support/fauxqs.ts';

const URL = 'https://sqs.eu-central-1.amazonaws.com/000000000000/rollouts';
const messages = (count: number): readonly JobMessage[] =>
  Array.from({ length: count }, (_, at) => ({ kind: 'thread-due', userKey: `u${at}`, threadId: `t${at}` }));

it('C21 sends each message in the group of its user, with ids and nothing else', () => {
  expect(sendBatchRequest(URL, messages(2))).toEqual({
    QueueUrl: URL,
    Entries: [
      { Id: '0', MessageBody: '{"kind":"thread-due","user_key":"u0","thread_id":"t0"}', MessageGroupId: 'u0' },
      { Id: '1', MessageBody: '{"kind":"thread-due","user_key":"u1","thread_id":"t1"}', MessageGroupId: 'u1' },
    ],
  });
});

describe('a queue that does not take everything', () => {
  const bodies = (mock: ReturnType<typeof mockClient>) =>
    mock
      .commandCalls(SendMessageBatchCommand)
      .map((call) => call.args[0].input.Entries?.map((entry) => JSON.parse(entry.MessageBody ?? '').thread_id));

  it('sends what was refused once more, and only that', async () => {
    const client = new SQSClient({ region: 'eu-central-1' });
    const mock = mockClient(client);
    mock
      .on(SendMessageBatchCommand)
      .resolvesOnce({ Successful: [], Failed: [{ Id: '1', Code: 'InternalError', SenderFault: false }] })
      .resolves({ Successful: [], Failed: [] });
    await new SqsJobQueue(client, URL).send(messages(12));
    expect(bodies(mock)).toEqual([
      ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9'],
      ['t1'],
      ['t10', 't11'],
    ]);
  });

  it('fails by name when it is refused again', async () => {
    const client = new SQSClient({ region: 'eu-central-1' });
    const mock = mockClient(client);
    mock
      .on(SendMessageBatchCommand)
      .resolves({ Successful: [], Failed: [{ Id: '0', Code: 'InternalError', SenderFault: false }] });
    await expect(new SqsJobQueue(client, URL).send(messages(3))).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'queue.send_failed',
      details: { messages: 1 },
    });
    expect(bodies(mock)).toEqual([['t0', 't1', 't2'], ['t0']]);
  });

  it('names an outage without quoting the message', async () => {
    const client = new SQSClient({ region: 'eu-central-1' });
    mockClient(client)
      .on(SendMessageBatchCommand)
      .rejects(Object.assign(new Error('body was u0'), { name: 'RequestThrottled' }));
    const failure = await new SqsJobQueue(client, URL).send(messages(1)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'queue.send_failed', details: { reason: 'RequestThrottled' } });
    expect(String(failure)).not.toContain('u0');
  });

  it('asks the service at most twice, and not for ever', async () => {
    const client = createQueueClient();
    expect(await client.config.maxAttempts()).toBe(2);
    client.destroy();
  });
});

describe('redelivery', () => {
  let queue: TestQueue;
  beforeAll(async () => {
    queue = await startQueue();
  });
  afterAll(() => queue.close());

  const receive = async () => {
    const { Messages = [] } = await queue.client.send(new ReceiveMessageCommand({ QueueUrl: queue.queueUrl }));
    return Messages[0]?.ReceiptHandle;
  };

  it('brings a message back at once, and to the dead letters after five receives', async () => {
    const redelivery = new SqsRedelivery(queue.client, queue.queueUrl);
    await new SqsJobQueue(queue.client, queue.queueUrl).send(messages(1));
    for (let receives = 1; receives <= 5; receives++) {
      const handle = (await receive()) ?? '';
      expect(queue.inFlight()).toMatchObject([{ receives }]);
      await redelivery.redeliver(handle, 0);
      expect(queue.waiting()).toHaveLength(1);
    }
    expect(await receive()).toBeUndefined();
    expect(queue.deadLetters()).toHaveLength(1);
  });

  it('hides a message for the time asked, within what the queue allows', async () => {
    const redelivery = new SqsRedelivery(queue.client, queue.queueUrl);
    await new SqsJobQueue(queue.client, queue.queueUrl).send(messages(1));
    const handle = (await receive()) ?? '';
    await redelivery.redeliver(handle, 1_000_000);
    expect(queue.waiting()).toHaveLength(0);
    expect(queue.inFlight()).toHaveLength(1);
  });

  it('fails by name for a handle that the queue does not know', async () => {
    const redelivery = new SqsRedelivery(queue.client, `${queue.endpoint}/000000000000/unknown`);
    await expect(redelivery.redeliver('no-such-handle', 1)).rejects.toMatchObject({ code: 'queue.release_failed' });
  });
});
