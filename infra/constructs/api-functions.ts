import { Duration } from 'aws-cdk-lib';
import type { ILayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE } from '../../adapters/dynamodb/table.ts';
import { ROLLOUTS_PREFIX } from '../../adapters/s3/keys.ts';
import type { IdentityConfig } from '../config.ts';
import { listKeys, sendMessages, startConsolidation, useItems, useObjects } from './grants.ts';
import { budgetEnvironment } from './model.ts';
import type { StageScope } from './stage-scope.ts';
import { StillroomFunction } from './stillroom-function.ts';
import type { Storage } from './storage.ts';
import type { StillroomTable } from './table.ts';

/** What a citation changes, and what its condition looks at: with these no head can be made to name another version. */
const USE_ATTRIBUTES = [
  PARTITION_KEY,
  SORT_KEY,
  'last_usage',
  'touch_id',
  'usage_count',
  'revision',
  'source_updated_at',
];
const RECEIPT_ATTRIBUTES = [PARTITION_KEY, SORT_KEY, 'fingerprint', 'answer', 'kept_at', 'write_id', TTL_ATTRIBUTE];

export interface ApiFunctionProps {
  readonly stage: StageScope;
  readonly storage: Storage;
  readonly table: StillroomTable;
  readonly templates: ILayerVersion;
  readonly apiUrl: string;
  readonly rollouts: IQueue;
  readonly consolidationArn: string;
}

const FILES = 'users/*/memories/*';
const MANIFESTS = 'users/*/manifests/*';
const BODIES = 'users/*/bodies/*';
const REPLAYS = 'users/*/replays/*';

/** An erase leaves no version, no delete marker and no half of an upload. */
const KEEP_AND_ERASE = [
  'GetObject',
  'GetObjectVersion',
  'PutObject',
  'DeleteObject',
  'DeleteObjectVersion',
  'AbortMultipartUpload',
] as const;
const FIND_ALL = ['ListBucket', 'ListBucketVersions', 'ListBucketMultipartUploads'] as const;

/** The functions behind the front door; who may do what is listed in docs/decisions/0009-infrastructure.md. */
export class ApiFunctions extends Construct {
  readonly read: StillroomFunction;
  readonly control: StillroomFunction;
  readonly mcp: StillroomFunction;

  constructor(scope: Construct, id: string, props: ApiFunctionProps) {
    super(scope, id);
    this.read = this.#read(props);
    this.control = this.#control(props);
    this.mcp = this.#mcp(props);
  }

  /** Reads; of a citation it counts the uses and keeps the receipt, both in the table. It cannot write an object. */
  #read({ stage, storage, table, templates, apiUrl }: ApiFunctionProps): StillroomFunction {
    return new StillroomFunction(this, 'Read', {
      stage,
      name: 'read',
      description: 'Summary, files, search, status, citations',
      memoryMb: 1_024, // agents wait for it: memory buys the CPU of a short start
      timeout: Duration.seconds(15), // the app gives a request 10 s
      layers: [templates],
      environment: {
        TABLE_NAME: table.table.tableName,
        MEMORIES_BUCKET: storage.memories.bucketName,
        API_URL: apiUrl,
        ...budgetEnvironment(stage.config.model),
        ...identityEnvironment(stage.config.identity),
      },
      grants: [
        useObjects(storage.memories, 'ReadVersions', ['GetObject', 'GetObjectVersion'], [FILES, MANIFESTS]),
        listKeys(storage.memories, 'TellMissingFromForbidden', ['ListBucket']),
        useItems(table.table, 'ReadItems', ['GetItem', 'BatchGetItem', 'Query']),
        useItems(table.table, 'CountUses', ['UpdateItem'], USE_ATTRIBUTES),
        useItems(table.table, 'KeepReceipts', ['PutItem'], RECEIPT_ATTRIBUTES),
      ],
    });
  }

  /** Everything that a person asks for; the only one that removes what a user has. */
  #control({ stage, storage, table, templates, rollouts, consolidationArn }: ApiFunctionProps): StillroomFunction {
    return new StillroomFunction(this, 'Control', {
      stage,
      name: 'control',
      description: 'Uploads, notes, threads, settings, versions, forget, reset, erase',
      memoryMb: 1_024, // uploads of 5 MB pass through it
      timeout: Duration.seconds(29), // as long as API Gateway waits: an erase removes a thousand versions a call
      layers: [templates],
      environment: {
        TABLE_NAME: table.table.tableName,
        ROLLOUTS_BUCKET: storage.rollouts.bucketName,
        MEMORIES_BUCKET: storage.memories.bucketName,
        QUEUE_URL: rollouts.queueUrl,
        CONSOLIDATION_FUNCTION: consolidationArn,
        ...identityEnvironment(stage.config.identity),
      },
      grants: [
        useObjects(storage.rollouts, 'KeepAndEraseRollouts', KEEP_AND_ERASE, [`${ROLLOUTS_PREFIX}*`]),
        listKeys(storage.rollouts, 'FindRollouts', FIND_ALL),
        useObjects(storage.memories, 'EditAndEraseMemories', KEEP_AND_ERASE, [FILES, MANIFESTS, BODIES]),
        // A forget reads which of them rest on the thread; nobody here writes one.
        useObjects(
          storage.memories,
          'ForgetAnswers',
          ['GetObject', 'DeleteObjectVersion', 'AbortMultipartUpload'],
          [REPLAYS],
        ),
        listKeys(storage.memories, 'FindMemories', FIND_ALL),
        useItems(table.table, 'UseItems', [
          'GetItem',
          'BatchGetItem',
          'Query',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'BatchWriteItem',
        ]),
        sendMessages(rollouts),
        startConsolidation(consolidationArn),
      ],
    });
  }

  /** As `read`, and notes: a note is one new file and one manifest, and the head names it. */
  #mcp({ stage, storage, table, templates, apiUrl }: ApiFunctionProps): StillroomFunction {
    return new StillroomFunction(this, 'Mcp', {
      stage,
      name: 'mcp',
      description: 'The memory as tools of the Model Context Protocol',
      memoryMb: 1_024, // as read, with a larger library to load
      timeout: Duration.seconds(15),
      layers: [templates],
      environment: {
        TABLE_NAME: table.table.tableName,
        MEMORIES_BUCKET: storage.memories.bucketName,
        API_URL: apiUrl,
        ...identityEnvironment(stage.config.identity),
      },
      grants: [
        useObjects(storage.memories, 'ReadVersions', ['GetObject', 'GetObjectVersion'], [FILES, MANIFESTS]),
        useObjects(storage.memories, 'AddNotes', ['PutObject'], ['users/*/memories/extensions/ad_hoc/*', MANIFESTS]),
        listKeys(storage.memories, 'FindFreeNumber', ['ListBucket']),
        useItems(table.table, 'UseItems', ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'PutItem']),
      ],
    });
  }
}

/** How a function knows who asks. */
function identityEnvironment(identity: IdentityConfig): Record<string, string> {
  return identity.mode === 'jwt' ? { AUTH_MODE: 'jwt', USER_CLAIM: identity.userClaim } : { AUTH_MODE: 'iam' };
}
