import * as z from 'zod/mini';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import type { VersionReason } from '../../../core/consolidation/manifest.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import { DeniedError } from '../../../core/errors.ts';
import type { SnapshotRef } from '../../../core/extraction/stage-one-output.ts';
import { toUserKey } from '../../../core/ids.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../../core/settings.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { createApp } from '../../../functions/http/create-app.ts';
import { noteRoutes } from '../../../functions/http/note-routes.ts';
import { noteAnswer } from '../../../functions/http/schema-notes.ts';
import { problemAnswer } from '../../../functions/http/schema-problem.ts';
import { readRoutes } from '../../../functions/read/app.ts';
import type { ReadAppDeps } from '../../../functions/read/deps.ts';
import { citationAnswer } from '../../../functions/read/schema-citations.ts';
import { fileAnswer, listAnswer, searchAnswer } from '../../../functions/read/schema-files.ts';
import { memoryAnswer } from '../../../functions/read/schema-memory.ts';
import { healthAnswer, statusAnswer } from '../../../functions/read/schema-status.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryMemoryStore } from '../../doubles/memory-memory-store.ts';
import { MemoryReceiptStore } from '../../doubles/memory-receipt-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryTemplateStore } from '../../doubles/memory-template-store.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { MemoryUsageLedger } from '../../doubles/memory-usage-ledger.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { StageOneTable } from '../../doubles/stage-one-table.ts';
import { NOW } from '../../support/sample-state.ts';

export const TEMPLATE = `<!-- stillroom template: read_path, version: 7 -->
Below {{ base_path }}. Pending:
{{ pending_notes }}
========= MEMORY_SUMMARY BEGINS =========
{{ summary }}
========= MEMORY_SUMMARY ENDS =========
`;

const NOTES_TEMPLATE = '<!-- stillroom template: ad_hoc_instructions, version: 1 -->\nHow to read notes.\n';

/** What each good answer must look like. */
const SHAPES: readonly (readonly [string, RegExp, z.ZodMiniType])[] = [
  ['GET', /^\/healthz$/, healthAnswer],
  ['GET', /^\/v1\/status$/, statusAnswer],
  ['GET', /^\/v1\/memory$/, memoryAnswer],
  ['GET', /^\/v1\/memory\/files$/, listAnswer],
  ['GET', /^\/v1\/memory\/files\/.+$/, fileAnswer],
  ['POST', /^\/v1\/memory\/search$/, searchAnswer],
  ['POST', /^\/v1\/memory\/notes$/, noteAnswer],
  ['POST', /^\/v1\/citations$/, citationAnswer],
];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless `raw` is given. */
  readonly body?: unknown;
  readonly raw?: BodyInit;
}

type BodyInit = string | Uint8Array<ArrayBuffer> | ReadableStream;

/**
 * The read app's routes and the notes that it shows, on in-memory stores. Requests are made as `user-1` unless the header `authorization: Bearer <user>` says
 * otherwise. Every JSON answer is checked against its schema.
 */
export function readWorld(given: Partial<ReadAppDeps> = {}) {
  const table = new StageOneTable();
  const settings = new Map<string, Settings>();
  const stores = {
    heads: new MemoryHeadStore(),
    memories: new MemoryMemoryStore(),
    threads: new MemoryThreadStore(),
    stageOne: new MemoryStageOneStore(table),
    jobs: new MemoryJobStore(table),
    ledger: new MemoryUsageLedger(),
    receipts: new MemoryReceiptStore(),
    clock: new FixedClock(NOW),
    telemetry: new RecordingTelemetry(),
  };
  const deps: ReadAppDeps = {
    ...stores,
    identify,
    settings: async (userKey) => settings.get(userKey) ?? DEFAULT_SETTINGS,
    templates: new MemoryTemplateStore({ read_path: TEMPLATE, ad_hoc_instructions: NOTES_TEMPLATE }),
    tokens: new NumberedTokens(),
    basePath: '/home/u/memories',
    ...given,
  };
  const app = createApp({ ...deps, routes: [...readRoutes(deps), ...noteRoutes(deps)], requestTimeoutMs: 10_000 });
  const ask = async (path: string, request: Ask = {}): Promise<Answer> => {
    const answer = await app.request(new Request(`http://localhost${path}`, toInit(request)));
    return checkAnswer(request.method ?? 'GET', path, answer);
  };
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    ask(path, { method: 'POST', body, headers });
  return { ...stores, settings, app, ask, post, publish: publisher(stores) };
}

function identify(request: Request) {
  const sent = request.headers.get('authorization');
  const userId = sent === null ? 'user-1' : (/^Bearer (.+)$/.exec(sent)?.[1] ?? '');
  if (userId === '' || userId === 'nobody') throw new DeniedError('auth.invalid_token', 'the token is not valid');
  return { userId, userKey: toUserKey(userId) };
}

function toInit(request: Ask): RequestInit {
  const json = request.body !== undefined;
  return {
    method: request.method ?? 'GET',
    headers: { ...(json ? { 'content-type': 'application/json' } : {}), ...request.headers },
    ...(json ? { body: JSON.stringify(request.body) } : {}),
    ...(request.raw === undefined ? {} : { body: request.raw, duplex: 'half' }),
  };
}

async function checkAnswer(method: string, path: string, answer: Response): Promise<Answer> {
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  const json: unknown = type.includes('json') && method !== 'HEAD' ? JSON.parse(text) : undefined;
  const result = { status: answer.status, headers: answer.headers, text, json };
  if (answer.status >= 400) {
    if (type !== 'application/problem+json') throw new Error(`a failure was answered as ${type}`);
    if (z.parse(problemAnswer, json).status !== answer.status) throw new Error('the problem tells another status');
    return result;
  }
  if (json === undefined) return result;
  const shape = SHAPES.find(
    ([verb, pattern]) => verb === method && pattern.test(new URL(path, 'http://localhost').pathname),
  );
  if (shape === undefined) throw new Error(`no schema for ${method} ${path}`);
  z.parse(shape[2], json);
  return result;
}

interface PublishOptions {
  readonly user?: string;
  readonly reason?: VersionReason;
  readonly inputs?: readonly SnapshotRef[];
  readonly now?: number;
}

/** Publishes a version with exactly these files. */
function publisher(stores: { heads: MemoryHeadStore; memories: MemoryMemoryStore }) {
  return async (files: Readonly<Record<string, string | Uint8Array>>, options: PublishOptions = {}) => {
    const userKey = toUserKey(options.user ?? 'user-1');
    const head = await stores.heads.read(userKey);
    const tree = Object.entries(files).map(
      ([path, content]) => [path, typeof content === 'string' ? encodeUtf8(content) : content] as const,
    );
    const result = await publishVersion(stores, {
      userKey,
      base: { manifest: await stores.memories.manifest(userKey, head.version), epoch: head.epoch },
      fence: null,
      reason: options.reason ?? 'consolidation',
      actor: 'test',
      files: new Map(tree),
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
