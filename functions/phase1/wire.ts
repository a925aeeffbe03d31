import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../adapters/dynamodb/usage-ledger.ts';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { KeyedModelClient } from '../../adapters/openai/keyed-model-client.ts';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { parseRolloutKey } from '../../adapters/s3/keys.ts';
import { S3RolloutStore } from '../../adapters/s3/rollout-store.ts';
import { createSecretsClient } from '../../adapters/secrets/client.ts';
import { SecretKey } from '../../adapters/secrets/secret-key.ts';
import { createQueueClient } from '../../adapters/sqs/client.ts';
import { SqsJobQueue } from '../../adapters/sqs/job-queue.ts';
import { SqsRedelivery } from '../../adapters/sqs/redelivery.ts';
import { RandomTokenSource } from '../../adapters/system/random-token-source.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import { withSpan } from '../../adapters/telemetry/spans.ts';
import type { Phase1Deps } from './deps.ts';
import type { Phase1Env } from './env.ts';

/** Puts the function together, once a process. Nothing is called yet. */
export function wire(env: Phase1Env): Phase1Deps {
  const clock = new SystemClock();
  const telemetry = new PowertoolsTelemetry({ functionName: 'phase1', stage: env.stage });
  const table = new DynamoTable(createTableClient(), env.tableName);
  const objects = createObjectClient();
  const messages = createQueueClient();
  const key = new SecretKey(createSecretsClient(), env.modelSecretArn, clock);
  return {
    threads: new DynamoThreadStore(table),
    rollouts: new S3RolloutStore(objects, env.rolloutsBucket, { removal: 'hide' }),
    outputs: new DynamoStageOneStore(table, new S3BodyShelf(objects, env.memoriesBucket)),
    jobs: new DynamoJobStore(table),
    ledger: new DynamoUsageLedger(table, clock),
    settings: new DynamoSettingsStore(table),
    queue: new SqsJobQueue(messages, env.queueUrl),
    model: new KeyedModelClient(key, { baseUrl: env.modelBaseUrl, apiMode: env.modelApi }),
    templates: new FilesTemplateStore(env.templatesFolder),
    clock,
    tokens: new RandomTokenSource(),
    telemetry,
    redelivery: new SqsRedelivery(messages, env.queueUrl),
    tracing: {
      correlate: (ids) => telemetry.correlate(ids),
      flush: () => telemetry.flush(),
      withSpan,
    },
    rolloutOf: (bucket, objectKey) => (bucket === env.rolloutsBucket ? parseRolloutKey(objectKey) : undefined),
    extractModel: env.extractModel,
    dailyTokenBudget: env.dailyTokenBudget,
  };
}
