import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import type { VersionReason } from '../../../core/consolidation/manifest.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import type { SnapshotRef } from '../../../core/extraction/stage-one-output.ts';
import { toUserKey } from '../../../core/ids.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { createControlApp } from '../../../functions/control/app.ts';
import type { ControlAppDeps } from '../../../functions/control/deps.ts';
import { eraseAnswer, resetAnswer } from '../../../functions/control/schema-end.ts';
import { settingsAnswer } from '../../../functions/control/schema-settings.ts';
import {
  extractAnswer,
  forgottenAnswer,
  redriveAnswer,
  threadAnswer,
  threadsAnswer,
} from '../../../functions/control/schema-threads.ts';
import { offerAnswer, receivedAnswer, unchangedAnswer } from '../../../functions/control/schema-uploads.ts';
import {
  consolidationAnswer,
  editAnswer,
  manifestAnswer,
  replayAnswer,
  restoredAnswer,
  startedAnswer,
  versionsAnswer,
} from '../../../functions/control/schema-versions.ts';
import { gatewayIdentity } from '../../../functions/http/identity.ts';
import { noteAnswer } from '../../../functions/http/schema-notes.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryConsolidationStarter } from '../../doubles/memory-consolidation-starter.ts';
import { MemoryEraseMarks } from '../../doubles/memory-erase-marks.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { MemoryJobQueue } from '../../doubles/memory-job-queue.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryMemoryStore } from '../../doubles/memory-memory-store.ts';
import { MemoryReplayStore } from '../../doubles/memory-replay-store.ts';
import { MemoryRolloutStore } from '../../doubles/memory-rollout-store.ts';
import { MemorySettingsStore } from '../../doubles/memory-settings-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryTemplateStore } from '../../doubles/memory-template-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { MemoryUploadSigner } from '../../doubles/memory-upload-signer.ts';
import { MemoryUserTraces } from '../../doubles/memory-user-traces.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { StageOneTable } from '../../doubles/stage-one-table.ts';
import { type AnswerShape, gatewayClient } from '../../support/gateway-client.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const NOTES_TEMPLATE = '<!-- stillroom template: ad_hoc_instructions, version: 1 -->\nHow to read notes.\n';
const THREAD = /^\/v1\/threads\/[^/]+$/;

const SHAPES: readonly AnswerShape[] = [
  ['POST', /^\/v1\/rollouts$/, 201, offerAnswer],
  ['POST', /^\/v1\/rollouts$/, 200, unchangedAnswer],
  ['PUT', /^\/v1\/rollouts\/[^/]+$/, 202, receivedAnswer],
  ['GET', /^\/v1\/threads$/, 200, threadsAnswer],
  ['GET', THREAD, 200, threadAnswer],
  ['PATCH', THREAD, 200, threadAnswer],
  ['DELETE', THREAD, 200, forgottenAnswer],
  ['POST', /^\/v1\/threads\/[^/]+\/extract$/, 202, extractAnswer],
  ['POST', /^\/v1\/redrive$/, 200, redriveAnswer],
  ['GET', /^\/v1\/settings$/, 200, settingsAnswer],
  ['PATCH', /^\/v1\/settings$/, 200, settingsAnswer],
  ['POST', /^\/v1\/consolidations$/, 202, startedAnswer],
  ['GET', /^\/v1\/consolidations\/[^/]+$/, 200, consolidationAnswer],
  ['GET', /^\/v1\/memory\/versions$/, 200, versionsAnswer],
  ['GET', /^\/v1\/memory\/versions\/[^/]+$/, 200, manifestAnswer],
  ['GET', /^\/v1\/memory\/versions\/[^/]+\/replay$/, 200, replayAnswer],
  ['POST', /^\/v1\/memory\/versions\/[^/]+\/restore$/, 200, restoredAnswer],
  ['POST', /^\/v1\/memory\/versions\/[^/]+\/restore$/, 201, restoredAnswer],
  ['PUT', /^\/v1\/memory\/files\/.+$/, 200, editAnswer],
  ['PUT', /^\/v1\/memory\/files\/.+$/, 201, editAnswer],
  ['DELETE', /^\/v1\/memory\/files\/.+$/, 200, editAnswer],
  ['POST', /^\/v1\/memory\/notes$/, 201, noteAnswer],
  ['POST', /^\/v1\/reset$/, 200, resetAnswer],
  ['POST', /^\/v1\/erase$/, 200, eraseAnswer],
];

/** The control app on in-memory stores, behind events of API Gateway. */
export function controlWorld(given: Partial<ControlAppDeps> = {}) {
  const table = new StageOneTable();
  const stores = {
    threads: new MemoryThreadStore(),
    jobs: new MemoryJobStore(table),
    outputs: new MemoryStageOneStore(table),
    heads: new MemoryHeadStore(),
    memories: new MemoryMemoryStore(),
    rollouts: new MemoryRolloutStore(),
    replays: new MemoryReplayStore(),
    settings: new MemorySettingsStore(),
    queue: new MemoryJobQueue(),
    uploads: new MemoryUploadSigner(),
    consolidations: new MemoryConsolidationStarter(),
    clock: new FixedClock(NOW),
    marks: new MemoryEraseMarks(),
    telemetry: new RecordingTelemetry(),
    templates: new MemoryTemplateStore({ ad_hoc_instructions: NOTES_TEMPLATE }),
  };
  const traces = new MemoryUserTraces();
  const app = createControlApp({
    ...stores,
    traces: [traces],
    tokens: new NumberedTokens(),
    identify: gatewayIdentity({ mode: 'jwt', claim: 'sub' }),
    ...given,
  });
  const putThread = async (threadId: string, thread: Partial<Thread> = {}, user = 'user-1') => {
    await stores.threads.update(toUserKey(user), threadId, () => sampleThread({ ...thread, threadId }));
  };
  return { ...stores, app, table, traces, ...gatewayClient(app, SHAPES), putThread, publish: publisher(stores) };
}

interface PublishOptions {
  readonly user?: string;
  readonly reason?: VersionReason;
  readonly inputs?: readonly SnapshotRef[];
  readonly now?: number;
}

/** Publishes a version with exactly these files. */
function publisher(stores: { heads: MemoryHeadStore; memories: MemoryMemoryStore }) {
  return async (files: Readonly<Record<string, string>>, options: PublishOptions = {}) => {
    const userKey = toUserKey(options.user ?? 'user-1');
    const head = await stores.heads.read(userKey);
    const result = await publishVersion(stores, {
      userKey,
      base: { manifest: await stores.memories.manifest(userKey, head.version), epoch: head.epoch },
      fence: null,
      reason: options.reason ?? 'consolidation',
      actor: 'test',
      files: new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)])),
      inputs: options.inputs ?? [],
      removed: [],
      notesConsumed: [],
      model: null,
      promptVersion: null,
      tokenUsage: NO_USAGE,
      now: options.now ?? NOW,
    });
    if (result.kind !== 'published') throw new Error(`publishing ended as ${result.kind}`);
    return result.version;
  };
}
