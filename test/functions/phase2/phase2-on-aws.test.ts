import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DurableStepRunner } from '../../../adapters/durable/step-runner.ts';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoHeadStore } from '../../../adapters/dynamodb/head-store.ts';
import { DynamoJobStore } from '../../../adapters/dynamodb/job-store.ts';
import { rangeOf } from '../../../adapters/dynamodb/requests.ts';
import { DynamoSettingsStore } from '../../../adapters/dynamodb/settings-store.ts';
import { DynamoStageOneStore } from '../../../adapters/dynamodb/stage-one-store.ts';
import { DynamoStepRunner } from '../../../adapters/dynamodb/step-runner.ts';
import { DynamoThreadStore } from '../../../adapters/dynamodb/thread-store.ts';
import { DynamoUsageLedger } from '../../../adapters/dynamodb/usage-ledger.ts';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import { S3BodyShelf } from '../../../adapters/s3/body-shelf.ts';
import { S3MemoryStore } from '../../../adapters/s3/memory-store.ts';
import { S3ReplayStore } from '../../../adapters/s3/replay-store.ts';
import type { ModelClient } from '../../../core/ports/model-client.ts';
import { replayVersion } from '../../../core/replay/replay-version.ts';
import { assignStems } from '../../../core/workspace/file-stem.ts';
import { createHandler } from '../../../functions/phase2/create-handler.ts';
import type { Phase2Deps } from '../../../functions/phase2/deps.ts';
import { finishing, writing } from '../../core/agent/agent-script.ts';
import { PROJECT } from '../../core/consolidation/consolidation-bench.ts';
import { groupText, SUMMARY_TEXT } from '../../core/consolidation/memory-text.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import { DurableHost } from '../../support/durable-host.ts';
import { type LocalTable, startTable } from '../../support/dynalite.ts';
import { FakeS3 } from '../../support/fake-s3.ts';
import { extract } from '../../support/job-steps.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const TEMPLATES = resolve(import.meta.dirname, '../../../layers/templates');
const USER = 'u';
const AT = NOW - 3_600_000;

let local: LocalTable;
let s3: FakeS3;
beforeAll(async () => {
  [local, s3] = await Promise.all([startTable(), FakeS3.start({ now: () => NOW })]);
});
afterAll(() => local.close());

function depsOn(table: DynamoTable, model: ModelClient): Phase2Deps {
  const clock = new FixedClock(NOW);
  const telemetry = new RecordingTelemetry();
  return {
    jobs: new DynamoJobStore(table),
    outputs: new DynamoStageOneStore(table, new S3BodyShelf(s3.client, 'memories')),
    threads: new DynamoThreadStore(table),
    heads: new DynamoHeadStore(table),
    settings: new DynamoSettingsStore(table),
    ledger: new DynamoUsageLedger(table, clock),
    memories: new S3MemoryStore(s3.client, 'memories', telemetry),
    replays: new S3ReplayStore(s3.client, 'memories'),
    templates: new FilesTemplateStore(TEMPLATES),
    model,
    stepsOf: ({ userKey, context, ...time }) =>
      new DurableStepRunner(context, new DynamoStepRunner(table, userKey, clock), time),
    clock,
    tokens: new NumberedTokens(),
    telemetry,
    tracing: { correlate: () => {}, flush: () => {}, withSpan: (_name, _attributes, work) => work() },
    consolidationModel: 'model-1',
    dailyTokenBudget: null,
    oneShotTokens: 0,
  };
}

it('publishes from the table into the bucket, a turn an invocation, and leaves no turn behind', async () => {
  const table = new DynamoTable(local.client, local.tableName);
  const model = new ScriptedModel();
  const deps = depsOn(table, model);
  await deps.threads.update(USER, 't1', () => sampleThread({ threadId: 't1', project: PROJECT, updatedAt: AT }));
  const ref = { threadId: 't1', sourceUpdatedAt: AT };
  await deps.outputs.putBody(USER, ref, { rawMemory: 'memory of t1', rolloutSummary: '# memory of t1' });
  await extract(deps.jobs, 't1', AT);
  await deps.jobs.enqueueConsolidation(USER, AT);
  const stem = assignStems(await deps.outputs.heads(USER)).get('t1') ?? '';
  const memory = groupText({ threads: [{ threadId: 't1', stem }], project: PROJECT });
  const answersKept: number[] = [];
  model.expect(writing('MEMORY.md', memory), writing('memory_summary.md', SUMMARY_TEXT), async () => {
    answersKept.push((await table.query(rangeOf(USER, 'answer#'))).length);
    return finishing();
  });

  const event = { user_key: USER, due_at: AT, immediate: false };
  let asked = 0;
  const remainingMs = (): number => (model.requests.length > asked ? 60_000 : 900_000);
  const execution = new DurableHost(event, (config) => createHandler(deps, config), remainingMs);
  for (;;) {
    const end = await execution.invoke();
    asked = model.requests.length;
    if (end === 'suspended') continue;
    expect(end).toMatchObject({ status: 'SUCCEEDED', result: { result: 'published', version: 1, turns: 3 } });
    break;
  }
  expect(execution.invocations).toBe(4);
  expect(answersKept).toEqual([2]);
  expect(await table.query(rangeOf(USER, 'answer#'))).toEqual([]);
  const head = await deps.heads.read(USER);
  const manifest = await deps.memories.manifest(USER, head.version);
  const entry = manifest?.files['MEMORY.md'];
  expect(entry && Buffer.from(await deps.memories.readFile(USER, 'MEMORY.md', entry)).toString()).toBe(memory);
  expect(await deps.jobs.get(USER, { kind: 'consolidation' })).toMatchObject({ status: 'done' });
  expect((await deps.outputs.heads(USER))[0]?.selectedSnapshot).toBe(AT);

  const replays = new S3ReplayStore(s3.client, 'memories');
  expect(await replays.list(USER)).toEqual([{ epoch: 0, version: 1, createdAt: NOW }]);
  const replay = await replayVersion({ ...deps, replays }, USER, 1);
  expect(replay).toMatchObject({ equal: true, answers: 3 }); // all of them, though each was got by another invocation
});
