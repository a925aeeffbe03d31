import { DurableExecutionAlreadyStartedException, InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import * as z from 'zod';
import { LambdaConsolidationStarter } from '../../adapters/durable/consolidation-starter.ts';
import { MemoryConsolidationStarter } from '../doubles/memory-consolidation-starter.ts';
import { consolidationStarterContract, type OpenStarter } from './consolidation-starter.contract.ts';

consolidationStarterContract('in memory', () => {
  const starter = new MemoryConsolidationStarter();
  return { starter, started: () => starter.started };
});
consolidationStarterContract('Lambda', openLambda);

const eventShape = z
  .object({ user_key: z.string(), due_at: z.number(), immediate: z.boolean() })
  .transform((event) => ({ userKey: event.user_key, dueAt: event.due_at, immediate: event.immediate }));

/** Durable execution names as the service treats them: one pattern, one execution a name, the same payload or a refusal. */
function openLambda(): OpenStarter {
  const executions = new Map<string, string>();
  const client = new LambdaClient({ region: 'eu-central-1' });
  mockClient(client)
    .on(InvokeCommand)
    .callsFake((input: InvokeCommand['input']) => {
      const { DurableExecutionName: name = '', Payload } = input;
      if (!/^[a-zA-Z0-9-_]{1,64}$/.test(name)) throw new Error(`execution name ${name}`);
      if (!(Payload instanceof Uint8Array)) throw new Error('no payload');
      const payload = Buffer.from(Payload).toString();
      const known = executions.get(name);
      if (known !== undefined && known !== payload)
        throw new DurableExecutionAlreadyStartedException({ message: 'started', $metadata: {} });
      executions.set(name, payload);
      return { StatusCode: 202 };
    });
  return {
    starter: new LambdaConsolidationStarter(client, 'arn:aws:lambda:eu-central-1:000000000000:function:phase2:live'),
    started: () => [...executions.values()].map((payload) => eventShape.parse(JSON.parse(payload))),
  };
}
