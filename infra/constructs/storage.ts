import { Aws, Duration } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption, type BucketProps, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { REPLAY_TAG, ROLLOUTS_PREFIX, USERS_PREFIX } from '../../adapters/s3/keys.ts';
import { LIMITS } from '../../core/settings.ts';
import { DAY_MS } from '../../core/time.ts';
import { acknowledge } from './findings.ts';
import { dataRemoval, type StageScope } from './stage-scope.ts';

/**
 * Both buckets (storage.md). `rollouts` tells a queue of what is uploaded; `memories` tells nobody, so that nothing written
 * there can start work (user case C13).
 */
export class Storage extends Construct {
  readonly rollouts: Bucket;
  readonly memories: Bucket;

  constructor(scope: Construct, id: string, stage: StageScope) {
    super(scope, id);
    this.rollouts = this.#bucket('Rollouts', stage, {
      lifecycleRules: [
        {
          id: 'forget-old-rollouts',
          prefix: ROLLOUTS_PREFIX,
          expiration: Duration.days(stage.config.rolloutRetentionDays),
          noncurrentVersionExpiration: Duration.days(1),
        },
        ...LEFTOVERS,
      ],
    });
    this.memories = this.#bucket('Memories', stage, {
      // No rule for current objects but records of runs: what a head refers to is the newest version of its key (user case C26).
      lifecycleRules: [
        {
          id: 'forget-answers',
          prefix: USERS_PREFIX,
          tagFilters: { [REPLAY_TAG.key]: REPLAY_TAG.value },
          expiration: Duration.days(LIMITS.replayMs / DAY_MS),
          noncurrentVersionExpiration: Duration.days(1),
        },
        { id: 'forget-history', noncurrentVersionExpiration: Duration.days(stage.config.historyDays) },
        ...LEFTOVERS,
      ],
    });
    denyForeignKeys(this.rollouts, ROLLOUTS_PREFIX);
    denyForeignKeys(this.memories, USERS_PREFIX);
  }

  #bucket(name: string, stage: StageScope, props: BucketProps): Bucket {
    const bucket = new Bucket(this, name, {
      ...props,
      versioned: true,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      removalPolicy: dataRemoval(stage.config),
      ...(stage.key
        ? { encryption: BucketEncryption.KMS, encryptionKey: stage.key, bucketKeyEnabled: true }
        : { encryption: BucketEncryption.S3_MANAGED }),
    });
    acknowledge(bucket, {
      'AwsSolutions-S1':
        'Object keys name users and threads; an access log would be one more store of personal data that an erase must reach. CloudTrail data events can be turned on for an audit.',
    });
    return bucket;
  }
}

/** What no reader can see and everybody would pay for. */
const LEFTOVERS = [
  { id: 'drop-lone-delete-markers', expiredObjectDeleteMarker: true },
  { id: 'drop-stale-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
];

/** Whatever a role or a presigned address may say: nothing is written outside the prefix, and nobody of another account writes. */
function denyForeignKeys(bucket: Bucket, prefix: string): void {
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'DenyForeignPrefixes',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:PutObject'],
      notResources: [bucket.arnForObjects(`${prefix}*`)],
    }),
  );
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'DenyForeignAccounts',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:GetObject', 's3:GetObjectVersion', 's3:PutObject', 's3:DeleteObject', 's3:DeleteObjectVersion'],
      resources: [bucket.arnForObjects('*')],
      conditions: { StringNotEquals: { 'aws:PrincipalAccount': Aws.ACCOUNT_ID } },
    }),
  );
}
