import { describe, expect, it } from 'vitest';
import { at, list, type Resource, statements, synthStack, tree } from '../support/synth.ts';

const dev = synthStack();
const prod = synthStack({ stage: 'prod' });
const rollouts = dev.one('AWS::S3::Bucket', /Rollouts/);
const memories = dev.one('AWS::S3::Bucket', /Memories/);
const table = dev.one('AWS::DynamoDB::Table');

function rules(bucket: Resource): readonly unknown[] {
  return list(at(bucket.properties, 'LifecycleConfiguration', 'Rules'));
}

function policy(bucket: Resource): ReturnType<typeof statements> {
  const found = dev.of('AWS::S3::BucketPolicy').find((item) => at(item.properties, 'Bucket', 'Ref') === bucket.id);
  return statements(found?.properties['PolicyDocument']);
}

describe.each([
  ['rollouts', rollouts, 'rollouts/*'],
  ['memories', memories, 'users/*'],
] as const)('the bucket %s', (_name, bucket, prefix) => {
  it('is versioned, encrypted and private', () => {
    expect(at(bucket.properties, 'VersioningConfiguration', 'Status')).toBe('Enabled');
    expect(list(at(bucket.properties, 'BucketEncryption', 'ServerSideEncryptionConfiguration'))).toHaveLength(1);
    expect(bucket.properties['PublicAccessBlockConfiguration']).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(at(bucket.properties, 'OwnershipControls', 'Rules', 0, 'ObjectOwnership')).toBe('BucketOwnerEnforced');
  });

  it('denies plain HTTP, old TLS and keys outside its prefix, whatever a role may do', () => {
    const denied = policy(bucket).filter((item) => item.effect === 'Deny');
    const plain = denied.find((item) => at(item.condition, 'Bool', 'aws:SecureTransport') === 'false');
    expect(plain?.actions).toEqual(['s3:*']);
    expect(plain?.resources).toHaveLength(2);
    expect(denied.some((item) => at(item.condition, 'NumericLessThan', 's3:TlsVersion') === 1.2)).toBe(true);
    const foreign = denied.find((item) => item.sid === 'DenyForeignPrefixes');
    expect(foreign).toMatchObject({ actions: ['s3:PutObject'], notResources: [`<${bucket.id}.Arn>/${prefix}`] });
    expect(foreign?.condition).toEqual({});
  });

  it('grants nothing by its own policy', () => {
    expect(policy(bucket).filter((item) => item.effect === 'Allow')).toEqual([]);
  });

  it('cleans up what nobody can see: noncurrent versions, lone delete markers, stale uploads (C25)', () => {
    const all = rules(bucket);
    expect(all.every((rule) => at(rule, 'Status') === 'Enabled')).toBe(true);
    expect(all.some((rule) => at(rule, 'NoncurrentVersionExpiration', 'NoncurrentDays') !== undefined)).toBe(true);
    expect(all.some((rule) => at(rule, 'ExpiredObjectDeleteMarker') === true)).toBe(true);
    expect(all.some((rule) => at(rule, 'AbortIncompleteMultipartUpload', 'DaysAfterInitiation') === 1)).toBe(true);
  });

  it('outlives its stack', () => {
    expect(bucket.whole).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('lifecycles', () => {
  it('forget rollouts after their retention, and former ones after a day', () => {
    expect(rules(rollouts)).toContainEqual(
      expect.objectContaining({ ExpirationInDays: 30, NoncurrentVersionExpiration: { NoncurrentDays: 1 } }),
    );
    const longer = synthStack({ 'rollout-retention-days': '60' }).one('AWS::S3::Bucket', /Rollouts/);
    expect(rules(longer)).toContainEqual(expect.objectContaining({ ExpirationInDays: 60 }));
  });

  it('forget records of runs after 30 days, by the tag that they are stored with, and former ones after a day', () => {
    expect(rules(memories)).toContainEqual({
      Id: 'forget-answers',
      Status: 'Enabled',
      Prefix: 'users/',
      TagFilters: [{ Key: 'stillroom', Value: 'replay' }],
      ExpirationInDays: 30,
      NoncurrentVersionExpiration: { NoncurrentDays: 1 },
    });
  });

  it('never expire a current object of the memories but such records, so no version that a head refers to (C26)', () => {
    for (const rule of rules(memories).filter((item) => at(item, 'TagFilters') === undefined)) {
      expect(at(rule, 'ExpirationInDays')).toBeUndefined();
      expect(at(rule, 'ExpirationDate')).toBeUndefined();
    }
    expect(rules(memories)).toContainEqual(
      expect.objectContaining({ NoncurrentVersionExpiration: { NoncurrentDays: 90 } }),
    );
  });
});

describe('notifications', () => {
  it('tell the queue of uploads under rollouts/ and of nothing else (C13)', () => {
    const queue = dev.one('AWS::SQS::Queue', /^IntakeQueue/);
    expect(rollouts.properties['NotificationConfiguration']).toEqual({
      QueueConfigurations: [
        {
          Event: 's3:ObjectCreated:*',
          Queue: { 'Fn::GetAtt': [queue.id, 'Arn'] },
          Filter: { S3Key: { Rules: [{ Name: 'prefix', Value: 'rollouts/' }] } },
        },
      ],
    });
    expect(memories.properties['NotificationConfiguration']).toBeUndefined();
    expect(dev.resources.filter((item) => item.type.startsWith('Custom::'))).toEqual([]);
  });

  it('come from buckets of this stage and account only, and the queue takes them before the bucket is there', () => {
    const queuePolicy = dev.one('AWS::SQS::QueuePolicy', /^IntakeQueue/);
    const allowed = statements(queuePolicy.properties['PolicyDocument']).filter((item) => item.effect === 'Allow');
    expect(allowed).toHaveLength(1);
    expect(allowed[0]?.condition).toMatchObject({ StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } });
    expect(JSON.stringify(allowed[0]?.condition)).toContain(':s3:::stillroom-dev-storagerollouts*');
    expect(list(rollouts.whole['DependsOn'])).toContain(queuePolicy.id);
  });
});

describe('the table', () => {
  it('is one, on demand, restorable to the second, with a time to live', () => {
    expect(dev.of('AWS::DynamoDB::Table')).toHaveLength(1);
    expect(table.properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    });
  });

  it('finds due jobs by a sparse index of keys', () => {
    expect(table.properties['GlobalSecondaryIndexes']).toEqual([
      {
        IndexName: 'due',
        KeySchema: [
          { AttributeName: 'due_pk', KeyType: 'HASH' },
          { AttributeName: 'due_at', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ]);
    expect(table.properties['AttributeDefinitions']).toContainEqual({ AttributeName: 'due_at', AttributeType: 'N' });
  });

  it('cannot be deleted outside dev, and outlives its stack everywhere', () => {
    expect(prod.one('AWS::DynamoDB::Table').properties['DeletionProtectionEnabled']).toBe(true);
    expect(table.properties['DeletionProtectionEnabled']).toBe(false);
    for (const stack of [dev, prod])
      expect(stack.one('AWS::DynamoDB::Table').whole).toMatchObject({ DeletionPolicy: 'Retain' });
  });
});

describe('removal', () => {
  it('takes data along only where dev was asked to, and even then no full bucket', () => {
    const gone = synthStack({ removal: 'destroy' });
    for (const type of ['AWS::S3::Bucket', 'AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret'])
      for (const item of gone.of(type)) expect(item.whole).toMatchObject({ DeletionPolicy: 'Delete' });
    // Nothing empties a bucket, and CloudFormation deletes only empty ones.
    expect(gone.resources.filter((item) => item.type.startsWith('Custom::'))).toEqual([]);
  });

  it('keeps the secret with the model key', () => {
    expect(dev.one('AWS::SecretsManager::Secret').whole).toMatchObject({ DeletionPolicy: 'Retain' });
    const own = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:mine-AbCdEf';
    const stack = synthStack({ 'model-secret-arn': own });
    expect(stack.of('AWS::SecretsManager::Secret')).toEqual([]);
    expect(tree(at(stack.fn('phase1').properties, 'Environment', 'Variables'))['MODEL_SECRET_ARN']).toBe(own);
  });
});
