import { createFunctionClient } from '../../adapters/durable/client.ts';
import { LambdaConsolidationStarter } from '../../adapters/durable/consolidation-starter.ts';
import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoEraseMarks } from '../../adapters/dynamodb/erase-marks.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUserTraces } from '../../adapters/dynamodb/user-traces.ts';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { rolloutsPrefix, userPrefix } from '../../adapters/s3/keys.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { S3UploadSigner } from '../../adapters/s3/presign-upload.ts';
import { S3ReplayStore } from '../../adapters/s3/replay-store.ts';
import { S3RolloutStore } from '../../adapters/s3/rollout-store.ts';
import { S3UserTraces } from '../../adapters/s3/user-traces.ts';
import { createQueueClient } from '../../adapters/sqs/client.ts';
import { SqsJobQueue } from '../../adapters/sqs/job-queue.ts';
import { RandomTokenSource } from '../../adapters/system/random-token-source.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import type { GatewayHandlerOptions } from '../http/gateway-handler.ts';
import { gatewayIdentity } from '../http/identity.ts';
import type { ControlAppDeps } from './deps.ts';
import type { ControlEnv } from './env.ts';

/** The control app's dependencies on AWS, made once a process. */
export function wireControl(env: ControlEnv): ControlAppDeps & Omit<GatewayHandlerOptions, 'app'> {
  const table = new DynamoTable(createTableClient(), env.tableName);
  const objects = createObjectClient();
  const telemetry = new PowertoolsTelemetry({ functionName: 'control', stage: env.stage });
  return {
    identify: gatewayIdentity({ mode: env.authMode, claim: env.userClaim }),
    threads: new DynamoThreadStore(table),
    jobs: new DynamoJobStore(table),
    outputs: new DynamoStageOneStore(table, new S3BodyShelf(objects, env.memoriesBucket)),
    heads: new DynamoHeadStore(table),
    memories: new S3MemoryStore(objects, env.memoriesBucket, telemetry),
    replays: new S3ReplayStore(objects, env.memoriesBucket),
    rollouts: new S3RolloutStore(objects, env.rolloutsBucket),
    settings: new DynamoSettingsStore(table),
    templates: new FilesTemplateStore(env.templatesFolder),
    queue: new SqsJobQueue(createQueueClient(), env.queueUrl),
    uploads: new S3UploadSigner(objects, env.rolloutsBucket),
    consolidations: new LambdaConsolidationStarter(createFunctionClient(), env.consolidationFunction),
    traces: [
      new S3UserTraces(objects, { bucket: env.rolloutsBucket, prefixOf: rolloutsPrefix }),
      new S3UserTraces(objects, { bucket: env.memoriesBucket, prefixOf: userPrefix }),
      new DynamoUserTraces(table),
    ],
    marks: new DynamoEraseMarks(table),
    clock: new SystemClock(),
    tokens: new RandomTokenSource(),
    telemetry,
    correlate: (ids) => telemetry.correlate(ids),
    flush: () => telemetry.flush(),
  };
}
