import { createFunctionClient } from '../../adapters/durable/client.ts';
import { LambdaConsolidationStarter } from '../../adapters/durable/consolidation-starter.ts';
import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoDueIndex } from '../../adapters/dynamodb/due-index.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { createQueueClient } from '../../adapters/sqs/client.ts';
import { SqsJobQueue } from '../../adapters/sqs/job-queue.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import { withSpan } from '../../adapters/telemetry/spans.ts';
import type { SweepDeps } from './deps.ts';
import type { SweepEnv } from './env.ts';

/** The function on AWS. Clients are made once a process and kept by it. */
export function wire(env: SweepEnv): SweepDeps {
  const telemetry = new PowertoolsTelemetry({ functionName: 'sweep', stage: env.stage });
  return {
    due: new DynamoDueIndex(new DynamoTable(createTableClient(), env.tableName)),
    queue: new SqsJobQueue(createQueueClient(), env.queueUrl),
    consolidations: new LambdaConsolidationStarter(createFunctionClient(), env.consolidationFunction),
    clock: new SystemClock(),
    telemetry,
    tracing: {
      correlate: (ids) => telemetry.correlate(ids),
      flush: () => telemetry.flush(),
      withSpan,
    },
  };
}
