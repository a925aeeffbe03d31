import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoFront } from '../../adapters/dynamodb/front.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoReceiptStore } from '../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../adapters/dynamodb/usage-ledger.ts';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { S3FileLinks } from '../../adapters/s3/file-links.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { RandomTokenSource } from '../../adapters/system/random-token-source.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import { withDefaultBudget } from '../../core/settings.ts';
import type { GatewayHandlerOptions } from '../http/gateway-handler.ts';
import { gatewayIdentity } from '../http/identity.ts';
import type { ReadAppDeps } from './deps.ts';
import type { ReadEnv } from './env.ts';

/** The read app's dependencies on AWS, made once a process. Head and settings share a front: one table request reads both. */
export function wireRead(env: ReadEnv): ReadAppDeps & Omit<GatewayHandlerOptions, 'app'> {
  const table = new DynamoTable(createTableClient(), env.tableName);
  const front = new DynamoFront(table);
  const objects = createObjectClient();
  const telemetry = new PowertoolsTelemetry({ functionName: 'read', stage: env.stage });
  const clock = new SystemClock();
  const settings = new DynamoSettingsStore(table, front);
  return {
    identify: gatewayIdentity({ mode: env.authMode, claim: env.userClaim }),
    settings: async (userKey) => withDefaultBudget(await settings.read(userKey), env.dailyTokenBudget),
    heads: new DynamoHeadStore(table, front),
    memories: new S3MemoryStore(objects, env.memoriesBucket, telemetry),
    threads: new DynamoThreadStore(table),
    stageOne: new DynamoStageOneStore(table, new S3BodyShelf(objects, env.memoriesBucket)),
    jobs: new DynamoJobStore(table),
    ledger: new DynamoUsageLedger(table, clock),
    receipts: new DynamoReceiptStore(table),
    templates: new FilesTemplateStore(env.templatesFolder),
    links: new S3FileLinks(objects, env.memoriesBucket),
    clock,
    tokens: new RandomTokenSource(),
    telemetry,
    basePath: env.basePath,
    correlate: (ids) => telemetry.correlate(ids),
    flush: () => telemetry.flush(),
  };
}
