import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { putReceipt } from '../../adapters/dynamodb/receipt-requests.ts';
import { countUse } from '../../adapters/dynamodb/stage-one-requests.ts';
import { FUNCTION_NAMES } from '../../infra/bundling.ts';
import { at, grantsOf, list, REPOSITORY, type Statement, statements, synthStack } from '../support/synth.ts';

const stack = synthStack();
const bucketOf = (name: string): string => stack.one('AWS::S3::Bucket', new RegExp(name)).id;
const rollouts = `<${bucketOf('Rollouts')}.Arn>`;
const memories = `<${bucketOf('Memories')}.Arn>`;
const table = `<${stack.one('AWS::DynamoDB::Table').id}.Arn>`;

/** What a function may do, one line an action and resource. */
function lines(name: string): readonly string[] {
  return grantsOf(stack, name)
    .flatMap((item) => item.actions.flatMap((action) => item.resources.map((resource) => `${action} ${resource}`)))
    .map((line) => line.replace(rollouts, 'rollouts').replace(memories, 'memories').replace(table, 'table'));
}

function on(name: string, place: RegExp): readonly string[] {
  return lines(name)
    .filter((line) => place.test(line.split(' ')[1] ?? ''))
    .sort();
}

/** The attributes that expressions name. */
function namesIn(...expressions: readonly (string | undefined)[]): readonly string[] {
  const words = expressions.flatMap((text) => text?.match(/(?<![:\w])[a-z][a-z_]*/g) ?? []);
  const functions = ['attribute_exists', 'attribute_not_exists'];
  return [...new Set(words.filter((word) => !functions.includes(word)))].sort();
}

describe('what a function may do', () => {
  it('is written out in its role: no managed policy, and nothing that the CDK adds', () => {
    expect(stack.of('AWS::IAM::Policy')).toEqual([]);
    for (const role of stack.of('AWS::IAM::Role')) expect(role.properties['ManagedPolicyArns']).toBeUndefined();
    expect(stack.of('AWS::IAM::Role')).toHaveLength(FUNCTION_NAMES.length);
  });

  it('holds no wildcard in an action, and only these in a resource', () => {
    const found = new Set<string>();
    for (const name of FUNCTION_NAMES)
      for (const line of lines(name)) {
        const [action = '', resource = ''] = line.split(' ');
        expect(action).not.toContain('*');
        if (resource.includes('*')) found.add(resource.replace(/.*:function:/, ''));
      }
    expect([...found].sort()).toEqual([
      // Every user's objects, since one function serves every user; the bucket policies bound it again.
      'memories/users/*/bodies/*',
      'memories/users/*/manifests/*',
      'memories/users/*/memories/*',
      'memories/users/*/memories/extensions/ad_hoc/*',
      'memories/users/*/replays/*',
      'rollouts/rollouts/*',
      // The runs of one function: Lambda makes up their versions and ids.
      'stillroom-dev-phase2:*',
    ]);
  });

  it.each(FUNCTION_NAMES)('lets %s use items of users by their partition only, and scan nothing', (name) => {
    const items = grantsOf(stack, name).filter((item) => item.actions.some((action) => action.startsWith('dynamodb:')));
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) {
      expect(item.actions).not.toContain('dynamodb:Scan');
      expect(JSON.stringify(item.condition)).toContain('dynamodb:LeadingKeys');
    }
  });

  it.each(FUNCTION_NAMES)('lets %s write to its own log group', (name) => {
    const logs = lines(name).filter((line) => line.startsWith('logs:'));
    expect(logs).toHaveLength(2);
    expect(logs.every((line) => line.includes('Logs') && !line.includes('*'))).toBe(true);
  });
});

/** What a call of `DynamoTable` asks of IAM. */
const TABLE_CALLS: Readonly<Record<string, string>> = {
  get: 'GetItem',
  batchGet: 'BatchGetItem',
  query: 'Query',
  queryPage: 'Query',
  put: 'PutItem',
  update: 'UpdateItem',
  updateAndRead: 'UpdateItem',
  delete: 'DeleteItem',
  deleteMany: 'BatchWriteItem',
};

describe('the stores that a function is wired to', () => {
  // Not read and mcp: of the same stores they only use what reads, counts and notes.
  it.each(['phase1', 'sweep', 'phase2', 'control'])('ask nothing of the table that %s may not do', (name) => {
    const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
    const stores = read(`functions/${name}/wire.ts`).matchAll(/'\.\.\/\.\.\/(adapters\/dynamodb\/[\w-]+\.ts)'/g);
    const calls = [...stores].flatMap(([, path]) =>
      [...read(path ?? '').matchAll(/#table\.(\w+)\(/g)].map((call) => call[1]),
    );
    expect(calls.length).toBeGreaterThan(1);
    const granted = grantsOf(stack, name).flatMap((item) => item.actions);
    for (const call of new Set(calls)) expect(granted).toContain(`dynamodb:${TABLE_CALLS[call ?? '']}`);
  });
});

describe('phase1', () => {
  it('reads rollouts by the keys it was given: it cannot list them', () => {
    expect(on('phase1', /^rollouts/)).toEqual([
      's3:DeleteObject rollouts/rollouts/*',
      's3:GetObject rollouts/rollouts/*',
      's3:GetObjectVersion rollouts/rollouts/*',
    ]);
    const lists = grantsOf(stack, 'phase1').filter((item) =>
      item.actions.some((action) => action.startsWith('s3:List')),
    );
    expect(lists.map((item) => [item.actions, item.resources, item.condition])).toEqual([
      [['s3:ListBucketVersions'], [memories], { StringLike: { 's3:prefix': 'users/*/bodies/*' } }],
    ]);
  });

  it('reaches no memory: only bodies of its own making', () => {
    expect(on('phase1', /^memories/)).toEqual([
      's3:DeleteObjectVersion memories/users/*/bodies/*',
      's3:ListBucketVersions memories',
      's3:PutObject memories/users/*/bodies/*',
    ]);
  });
});

describe('read', () => {
  it('cannot write or delete an object', () => {
    expect(on('read', /^(memories|rollouts)/)).toEqual([
      's3:GetObject memories/users/*/manifests/*',
      's3:GetObject memories/users/*/memories/*',
      's3:GetObjectVersion memories/users/*/manifests/*',
      's3:GetObjectVersion memories/users/*/memories/*',
      's3:ListBucket memories',
    ]);
  });

  it('changes no attribute but those of a citation, and may change every one of those', () => {
    const writes = grantsOf(stack, 'read').filter((item) =>
      item.actions.some((action) => /:(Update|Put|Delete)Item$/.test(action)),
    );
    expect(writes.map((item) => item.actions)).toEqual([['dynamodb:UpdateItem'], ['dynamodb:PutItem']]);
    const [update, put] = writes.map((item) =>
      list(at(item.condition, 'ForAllValues:StringEquals', 'dynamodb:Attributes'))
        .map(String)
        .sort(),
    );
    const use = countUse('user-1', 'thread-1', { times: 1, now: 1 }, 'touch');
    expect(update).toEqual(namesIn(use.UpdateExpression, use.ConditionExpression, ...Object.keys(use.Key ?? {})));
    const receipt = { fingerprint: 'f', answer: '{}' };
    expect(put).toEqual(Object.keys(putReceipt({ userKey: 'user-1', key: 'k' }, receipt, 1, 'w').Item ?? {}).sort());
    for (const name of ['version', 'epoch', 'fence', 'summary']) expect([update, put].flat()).not.toContain(name);
  });

  it('sends no message, starts no function and knows no model key', () => {
    expect(lines('read').filter((line) => /^(sqs|lambda|secretsmanager):/.test(line))).toEqual([]);
  });
});

describe('deletion', () => {
  const deletes = (item: Statement): boolean => item.actions.some((action) => /:Delete(Object|Item)/.test(action));

  it('of rollouts is for control alone; phase1 may hide those of forgotten threads', () => {
    const may = (action: string): readonly string[] =>
      FUNCTION_NAMES.filter((name) => lines(name).some((line) => line.startsWith(`s3:${action} rollouts`)));
    expect(may('DeleteObjectVersion')).toEqual(['control']);
    expect(may('DeleteObject')).toEqual(['phase1', 'control']);
  });

  it('of bodies is for control, and for the two that replace and prune them', () => {
    const may = FUNCTION_NAMES.filter((name) => lines(name).some((line) => /^s3:Delete.*\/bodies\/\*$/.test(line)));
    expect(may).toEqual(['phase1', 'phase2', 'control']);
  });

  it('of records of runs is for control, and for phase2 to take back its own; nobody else comes near one', () => {
    const may = FUNCTION_NAMES.map((name) => [name, on(name, /\/replays\/\*$/)]).filter(([, own]) => own?.length !== 0);
    expect(Object.fromEntries(may)).toEqual({
      phase2: [
        's3:DeleteObjectVersion memories/users/*/replays/*',
        's3:PutObject memories/users/*/replays/*',
        's3:PutObjectTagging memories/users/*/replays/*',
      ],
      control: [
        's3:AbortMultipartUpload memories/users/*/replays/*',
        's3:DeleteObjectVersion memories/users/*/replays/*',
        's3:GetObject memories/users/*/replays/*',
      ],
    });
  });

  it('of memory files is for control, and for phase2 to hide what left and remove what never was published', () => {
    const may = FUNCTION_NAMES.filter((name) =>
      lines(name).some((line) => /^s3:DeleteObject.* memories\/users\/\*\/memories/.test(line)),
    );
    expect(may).toEqual(['phase2', 'control']);
  });

  it('is never possible from outside a request or a run: read, mcp and sweep delete nothing', () => {
    for (const name of ['read', 'mcp', 'sweep']) expect(grantsOf(stack, name).filter(deletes)).toEqual([]);
  });
});

describe('publishing', () => {
  it('of any memory file is for phase2 and for control; mcp adds notes alone', () => {
    const may = FUNCTION_NAMES.filter((name) => lines(name).includes('s3:PutObject memories/users/*/memories/*'));
    expect(may).toEqual(['phase2', 'control']);
    expect(lines('mcp').filter((line) => line.startsWith('s3:Put'))).toEqual([
      's3:PutObject memories/users/*/memories/extensions/ad_hoc/*',
      's3:PutObject memories/users/*/manifests/*',
    ]);
  });

  it('is started by sweep and control, through the alias', () => {
    const alias = `<${stack.one('AWS::Lambda::Alias').id}>`;
    for (const name of FUNCTION_NAMES) {
      const starts = lines(name).filter((line) => line.startsWith('lambda:InvokeFunction'));
      expect(starts).toEqual(['sweep', 'control'].includes(name) ? [`lambda:InvokeFunction ${alias}`] : []);
    }
  });

  it('checkpoints its own runs and no others', () => {
    const found = lines('phase2').filter((line) => line.startsWith('lambda:'));
    expect(found).toHaveLength(2);
    for (const line of found)
      expect(line).toMatch(/(Checkpoint|Get)DurableExecution.*:function:stillroom-dev-phase2:\*$/);
  });
});

describe('the model key', () => {
  it('is read by the functions that call the model, and by no other', () => {
    const may = FUNCTION_NAMES.filter((name) => lines(name).some((line) => line.startsWith('secretsmanager:')));
    expect(may).toEqual(['phase1', 'phase2']);
  });
});

describe('who may invoke a function', () => {
  it('is API Gateway for this API, and EventBridge for this rule', () => {
    for (const item of stack.of('AWS::Lambda::Permission')) {
      expect(['apigateway.amazonaws.com', 'events.amazonaws.com']).toContain(item.properties['Principal']);
      expect(item.properties['SourceArn']).toBeDefined();
    }
    expect(stack.of('AWS::Lambda::Url')).toEqual([]);
  });

  it('assumes no role of ours but Lambda', () => {
    for (const role of stack.of('AWS::IAM::Role')) {
      const trust = statements(role.properties['AssumeRolePolicyDocument']);
      expect(trust.map((item) => item.actions)).toEqual([['sts:AssumeRole']]);
      expect(JSON.stringify(role.properties['AssumeRolePolicyDocument'])).toContain('"Service":"lambda.amazonaws.com"');
    }
  });
});
