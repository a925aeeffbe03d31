import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import { createFunctionClient } from '../../../adapters/durable/client.ts';
import { LambdaConsolidationStarter, startRequest } from '../../../adapters/durable/consolidation-starter.ts';

const ARN = 'arn:aws:lambda:eu-central-1:000000000000:function:stage-a-phase2:live';
const START = { userKey: 'u1', dueAt: 1_760_000_000_000, immediate: false };

it('starts asynchronously, with ids and nothing else, under a name that is of this function only', () => {
  const { Payload, DurableExecutionName, ...request } = startRequest(ARN, START);
  expect(request).toEqual({ FunctionName: ARN, InvocationType: 'Event' });
  expect(JSON.parse(Buffer.from(Payload).toString())).toEqual({
    user_key: 'u1',
    due_at: 1_760_000_000_000,
    immediate: false,
  });
  expect(DurableExecutionName).toMatch(/^[0-9a-f]{64}$/);
  const otherStage = startRequest(ARN.replace('stage-a', 'stage-b'), START);
  expect(otherStage.DurableExecutionName).not.toBe(DurableExecutionName);
});

it('names a failure without quoting the request', async () => {
  const client = new LambdaClient({ region: 'eu-central-1' });
  mockClient(client)
    .on(InvokeCommand)
    .rejects(Object.assign(new Error('payload of u1'), { name: 'TooManyRequestsException' }));
  const failure = await new LambdaConsolidationStarter(client, ARN).start(START).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    kind: 'unavailable',
    code: 'consolidation.not_started',
    details: { reason: 'TooManyRequestsException' },
  });
  expect(String(failure)).not.toContain('u1');
});

it('asks the service at most twice', async () => {
  const client = createFunctionClient();
  expect(await client.config.maxAttempts()).toBe(2);
  client.destroy();
});
