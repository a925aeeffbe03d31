import { createTableClient } from '../../adapters/dynamodb/client.ts';
import { DynamoTable } from '../../adapters/dynamodb/dynamo-table.ts';
import { DynamoFront } from '../../adapters/dynamodb/front.ts';
import { DynamoHeadStore } from '../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoReceiptStore } from '../../adapters/dynamodb/receipt-store.ts';
import { DynamoSettingsStore } from '../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { DynamoThreadStore } from '../../adapters/dynamodb/thread-store.ts';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { createObjectClient } from '../../adapters/s3/client.ts';
import { S3MemoryStore } from '../../adapters/s3/memory-store.ts';
import { RandomTokenSource } from '../../adapters/system/random-token-source.ts';
import { SystemClock } from '../../adapters/system/system-clock.ts';
import { PowertoolsTelemetry } from '../../adapters/telemetry/powertools-telemetry.ts';
import type { GatewayHandlerOptions } from '../http/gateway-handler.ts';
import { gatewayIdentity } from '../http/identity.ts';
import type { McpAppDeps } from './deps.ts';
import type { McpEnv } from './env.ts';

/** The MCP app's dependencies on AWS, made once a process. Head and settings share a front: one table request reads both. */
export function wireMcp(env: McpEnv): McpAppDeps & Omit<GatewayHandlerOptions, 'app'> {
  const table = new DynamoTable(createTableClient(), env.tableName);
  const front = new DynamoFront(table);
  const objects = createObjectClient();
  const telemetry = new PowertoolsTelemetry({ functionName: 'mcp', stage: env.stage });
  const settings = new DynamoSettingsStore(table, front);
  return {
    identify: gatewayIdentity({ mode: env.authMode, claim: env.userClaim }),
    settings: (userKey) => settings.read(userKey),
    heads: new DynamoHeadStore(table, front),
    memories: new S3MemoryStore(objects, env.memoriesBucket, telemetry),
    stageOne: new DynamoStageOneStore(table, new S3BodyShelf(objects, env.memoriesBucket)),
    threads: new DynamoThreadStore(table),
    jobs: new DynamoJobStore(table),
    receipts: new DynamoReceiptStore(table),
    templates: new FilesTemplateStore(env.templatesFolder),
    clock: new SystemClock(),
    tokens: new RandomTokenSource(),
    telemetry,
    basePath: env.basePath,
    correlate: (ids) => telemetry.correlate(ids),
    flush: () => telemetry.flush(),
  };
}
