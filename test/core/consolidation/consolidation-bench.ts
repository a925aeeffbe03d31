import { join, resolve } from 'node:path';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { consolidate } from '../../../core/consolidation/consolidate.ts';
import type {
  ConsolidationPorts,
  ConsolidationRequest,
  ConsolidationResult,
} from '../../../core/consolidation/consolidation-ports.ts';
import type { Manifest } from '../../../core/consolidation/manifest.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { assignStems } from '../../../core/workspace/file-stem.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryMemoryStore } from '../../doubles/memory-memory-store.ts';
import { MemoryReplayStore } from '../../doubles/memory-replay-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';
import { MemoryStepRunner } from '../../doubles/memory-step-runner.ts';
import { MemoryThreadStore } from '../../doubles/memory-thread-store.ts';
import { MemoryUsageLedger } from '../../doubles/memory-usage-ledger.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { type ScriptEntry, ScriptedModel } from '../../doubles/scripted-model.ts';
import { NOW, sampleHead, sampleJob, sampleThread } from '../../support/sample-state.ts';
import { calling, finishing, writing } from '../agent/agent-script.ts';
import { groupText, SUMMARY_TEXT } from './memory-text.ts';

export const USER = 'u1';
export const PROJECT = 'git.example.org/dev/shop';
const TEMPLATES = join(resolve(import.meta.dirname, '../../..'), 'layers/templates');

/** A user's stores in memory, and what a test does to them between runs. */
export class ConsolidationBench {
  readonly clock = new FixedClock(NOW);
  readonly jobs = new MemoryJobStore();
  readonly outputs = new MemoryStageOneStore(this.jobs.table);
  readonly threads = new MemoryThreadStore();
  readonly heads = new MemoryHeadStore();
  readonly memories = new MemoryMemoryStore();
  readonly replays = new MemoryReplayStore();
  readonly steps = new MemoryStepRunner();
  readonly ledger = new MemoryUsageLedger();
  readonly tokens = new NumberedTokens();
  readonly telemetry = new RecordingTelemetry();
  readonly templates = new FilesTemplateStore(TEMPLATES);

  /** Stores an output of a thread as an extraction would have. */
  async addOutput(
    threadId: string,
    more: { at?: number; text?: string; thread?: Partial<Thread>; userKey?: string } = {},
  ): Promise<void> {
    const userKey = more.userKey ?? USER;
    const sourceUpdatedAt = more.at ?? NOW - 3_600_000;
    const text = more.text ?? `memory of ${threadId}`;
    await this.threads.update(userKey, threadId, () =>
      sampleThread({ threadId, project: PROJECT, updatedAt: sourceUpdatedAt, ...more.thread }),
    );
    await this.outputs.putBody(
      userKey,
      { threadId, sourceUpdatedAt },
      { rawMemory: text, rolloutSummary: `# ${text}` },
    );
    const head = sampleHead({ threadId, sourceUpdatedAt });
    this.jobs.table.setRow(userKey, threadId, { job: sampleJob({ status: 'done' }), head });
    await this.jobs.enqueueConsolidation(userKey, sourceUpdatedAt);
  }

  /** One run. The script must be used up, no more and no less. */
  async run(
    script: readonly ScriptEntry[] = [],
    more: Partial<ConsolidationRequest> & { readonly ports?: Partial<ConsolidationPorts> } = {},
  ): Promise<ConsolidationResult & { readonly model: ScriptedModel }> {
    const { ports, ...request } = more;
    const model = new ScriptedModel(script);
    const result = await consolidate(
      { ...this.ports(model), ...ports },
      { userKey: USER, settings: DEFAULT_SETTINGS, model: 'm', immediate: true, ...request },
    );
    model.assertDone();
    return { ...result, model };
  }

  ports(model: ModelClient): ConsolidationPorts {
    const { jobs, outputs, threads, heads, memories, replays, templates } = this;
    const { steps, ledger, clock, tokens, telemetry } = this;
    return {
      jobs,
      outputs,
      threads,
      heads,
      memories,
      replays,
      templates,
      model,
      steps,
      ledger,
      clock,
      tokens,
      telemetry,
    };
  }

  /** A whole good run over the outputs of these threads. */
  goodRun(...threadIds: readonly string[]): Promise<ConsolidationResult & { readonly model: ScriptedModel }> {
    return this.run(this.goodScript(...threadIds));
  }

  goodScript(...threadIds: readonly string[]): readonly ModelReply[] {
    return [
      writing('MEMORY.md', this.goodMemory(threadIds)),
      writing('memory_summary.md', SUMMARY_TEXT),
      finishing(`took in ${threadIds.join(', ')}`),
    ];
  }

  goodMemory(threadIds: readonly string[], bullets?: readonly string[]): string {
    const threads = threadIds.map((threadId) => ({ threadId, stem: this.stemOf(threadId) }));
    return groupText({ threads, project: PROJECT, ...(bullets === undefined ? {} : { bullets }) });
  }

  stemOf(threadId: string): string {
    const sources = this.jobs.table.rows(USER).flatMap(([, row]) => (row.head === null ? [] : [row.head]));
    return assignStems(sources).get(threadId) ?? threadId;
  }

  async manifest(): Promise<Manifest | undefined> {
    return this.memories.manifest(USER, (await this.heads.read(USER)).version);
  }

  /** Files of the current version as text. */
  async files(): Promise<Record<string, string>> {
    const out: Record<string, string> = {};
    for (const [path, entry] of Object.entries((await this.manifest())?.files ?? {}))
      out[path] = decodeUtf8(await this.memories.readFile(USER, path, entry));
    return out;
  }

  /** A small version by a person: the current files with some changed, or removed where null. */
  async publishSmall(
    reason: 'note' | 'edit' | 'forget',
    change: Readonly<Record<string, string | null>>,
    removed: readonly string[] = [],
  ): Promise<void> {
    const head = await this.heads.read(USER);
    const manifest = await this.memories.manifest(USER, head.version);
    const files = new Map<string, Uint8Array>();
    for (const [path, text] of Object.entries({ ...(await this.files()), ...change }))
      if (text !== null) files.set(path, encodeUtf8(text));
    await publishVersion(this, {
      userKey: USER,
      base: { manifest, epoch: head.epoch },
      fence: null,
      reason,
      actor: 'user',
      files,
      inputs: (manifest?.inputs ?? []).filter((input) => !removed.includes(input.threadId)),
      removed,
      notesConsumed: manifest?.notesConsumed ?? [],
      model: null,
      promptVersion: null,
      tokenUsage: NO_USAGE,
      now: this.clock.now(),
    });
  }
}

/** A user with outputs of these threads, not yet consolidated. */
export async function benchWith(...threadIds: readonly string[]): Promise<ConsolidationBench> {
  const bench = new ConsolidationBench();
  for (const threadId of threadIds) await bench.addOutput(threadId);
  return bench;
}

export const reading = (path: string): ModelReply =>
  calling({ name: 'read', arguments: { path, line_offset: null, max_lines: null } });

export function firstMessage(request: ModelRequest | undefined): string {
  const item = request?.items[0];
  return item?.kind === 'message' ? item.text : '';
}

/** Text of the last tool result that a model saw. */
export function lastResult(request: ModelRequest): string {
  const item = request.items.at(-1);
  return item?.kind === 'tool_result' ? item.text : '';
}
