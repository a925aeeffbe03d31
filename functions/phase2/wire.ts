import { DurableStepRunner } from '../../adapters/durable/step-runner.ts';
import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoStepRunner } from '../../adapters/dynamodb/step-runner.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../adapters/dynamodb/usage-ledger.ts';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { KeyedModelClient } from '../../adapters/openai/keyed-model-client.ts';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { S3ReplayStore } from '../../adapters/s3/replay-store.ts';
import { createSecretsClient } from '../../adapters/secrets/client.ts';
import { SecretKey } from '../../adapters/secrets/secret-key.ts';
import { RandomTokenSource } from '../../adapters/system/random-token-source.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import { withSpan } from '../../adapters/telemetry/spans.ts';
import type { Phase2Deps } from './deps.ts';
import type { Phase2Env } from './env.ts';

/** The function on AWS. Clients are made once a process and kept by it. */
export function wire(env: Phase2Env): Phase2Deps {
  const clock = new SystemClock();
  const telemetry = new PowertoolsTelemetry({ functionName: 'phase2', stage: env.stage });
  const table = new DynamoTable(createTableClient(), env.tableName);
  const objects = createObjectClient();
  const key = new SecretKey(createSecretsClient(), env.modelSecretArn, clock);
  return {
    jobs: new DynamoJobStore(table),
    outputs: new DynamoStageOneStore(table, new S3BodyShelf(objects, env.memoriesBucket)),
    threads: new DynamoThreadStore(table),
    heads: new DynamoHeadStore(table),
    settings: new DynamoSettingsStore(table),
    ledger: new DynamoUsageLedger(table, clock),
    memories: new S3MemoryStore(objects, env.memoriesBucket, telemetry),
    replays: new S3ReplayStore(objects, env.memoriesBucket),
    templates: new FilesTemplateStore(env.templatesFolder),
    model: new KeyedModelClient(key, { baseUrl: env.modelBaseUrl, apiMode: env.modelApi }),
    stepsOf: ({ userKey, context, ...time }) =>
      new DurableStepRunner(context, new DynamoStepRunner(table, userKey, clock), time),
    clock,
    tokens: new RandomTokenSource(),
    telemetry,
    tracing: {
      correlate: (ids) => telemetry.correlate(ids),
      flush: () => telemetry.flush(),
      withSpan,
    },
    consolidationModel: env.consolidationModel,
    dailyTokenBudget: env.dailyTokenBudget,
    oneShotTokens: env.oneShotTokens,
  };
}
