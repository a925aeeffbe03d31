import type { AgentBudget } from '../agent/agent.ts';
import type { ModelPorts } from '../agent/ask-model.ts';
import type { TokenUsage } from '../agent/token-usage.ts';
import { StillroomError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import type { ReplayRef, ReplayStore } from '../ports/replay-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS, type Settings } from '../settings.ts';
import { utf8Length } from '../text.ts';
import { renderDiffFile } from '../workspace/workspace-diff.ts';
import { AnswerLog, TemplateLog } from './answer-log.ts';
import type { Lease } from './lease.ts';
import type { Start } from './load-start.ts';
import { type RunRecord, runRecordToText, threadsOf } from './run-record.ts';

/** A run's ports, with everything written down that a replay needs of what comes in through them. */
export class RunLog<Ports extends Pick<ModelPorts, 'steps'> & { readonly templates: TemplateStore }> {
  readonly ports: Ports;
  readonly #steps: AnswerLog;
  readonly #templates: TemplateLog;

  constructor(ports: Ports) {
    this.#steps = new AnswerLog(ports.steps);
    this.#templates = new TemplateLog(ports.templates);
    this.ports = { ...ports, steps: this.#steps, templates: this.#templates };
  }

  get heard(): Pick<RunRecord, 'answers' | 'templates'> {
    return { answers: [...this.#steps.answers], templates: [...this.#templates.used] };
  }
}

export interface KeepPorts {
  readonly replays: Pick<ReplayStore, 'put' | 'remove'>;
  readonly threads: Pick<ThreadStore, 'getMany'>;
  readonly telemetry: Telemetry;
}

/** A run that has published. */
export interface PublishedRun {
  readonly userKey: string;
  readonly lease: Lease;
  readonly start: Start;
  readonly model: string;
  readonly budget: AgentBudget;
  /** Of passes before it. */
  readonly usageBefore: TokenUsage;
  readonly oneShotTokens: number;
  readonly settings: Settings;
  readonly heard: Pick<RunRecord, 'answers' | 'templates'>;
  readonly version: number;
  /** As in the manifest. */
  readonly createdAt: number;
}

/**
 * Keeps the record of a run with the version that it made (docs/decisions/0019-replay.md). It comes after the switch and before
 * the end of the job: readers wait for nothing, nothing of a run that did not publish is kept, and an erase or a reset knows that
 * somebody may still be writing. Nothing that goes wrong here reaches the run: a record that is lost is told, and the version
 * stands.
 *
 * A record that rests on a forgotten thread would quote it, so none is kept; one whose thread was forgotten, or whose memory was
 * erased, while it was written is taken back.
 */
export async function keepRun(ports: KeepPorts, run: PublishedRun): Promise<void> {
  try {
    const reason = await tryToKeep(ports, run);
    if (reason !== undefined) ports.telemetry.event('info', 'replay.not_kept', { version: run.version, reason });
  } catch (error) {
    // The version is out: whatever this is, it must not make its run look failed.
    const code = error instanceof StillroomError ? error.code : 'core.unexpected';
    const level = error instanceof StillroomError ? 'warn' : 'error';
    ports.telemetry.event(level, 'replay.lost', { version: run.version, code });
  }
}

/** @returns why none was kept; undefined where it was */
async function tryToKeep(
  ports: KeepPorts,
  run: PublishedRun,
): Promise<'forgotten' | 'too_large' | 'ended' | undefined> {
  const { userKey, lease } = run;
  const record = recordOf(run);
  const threads = threadsOf(record);
  if ((await findForgotten(ports, userKey, threads)).length > 0) return 'forgotten';
  const text = runRecordToText(record);
  if (utf8Length(text) > LIMITS.replayBytes) return 'too_large';
  if (!(await lease.keep())) return 'ended';
  const ref: ReplayRef = { epoch: record.epoch, version: record.version, createdAt: record.createdAt };
  let wanted = false;
  try {
    await ports.replays.put(userKey, ref, text);
    // Only now: who forgets, resets or erases does so first, and then removes what is kept. One of the two sees the other.
    if (!(await lease.confirm())) return 'ended';
    wanted = (await findForgotten(ports, userKey, threads)).length === 0;
    return wanted ? undefined : 'forgotten';
  } finally {
    if (!wanted) await ports.replays.remove(userKey, [ref]);
  }
}

/** Threads that were forgotten, or are gone. */
export async function findForgotten(
  { threads }: Pick<KeepPorts, 'threads'>,
  userKey: string,
  threadIds: readonly string[],
): Promise<readonly string[]> {
  const known = await threads.getMany(userKey, threadIds);
  return threadIds.filter((threadId) => {
    const thread = known.get(threadId);
    return thread === undefined || thread.forgottenAt !== null;
  });
}

function recordOf(run: PublishedRun): RunRecord {
  const { start, budget, settings, heard } = run;
  const { workspace } = start;
  const { added, retained, removed } = workspace.inputs;
  return {
    format: 1,
    epoch: start.head.epoch,
    version: run.version,
    createdAt: run.createdAt,
    base: start.base?.version ?? 0,
    baseline: start.baseline?.version ?? 0,
    model: run.model,
    budget: { maxTurns: budget.maxTurns, maxTokens: budget.maxTokens, maxWriteBytes: budget.maxWriteBytes },
    usageBefore: run.usageBefore,
    oneShotTokens: run.oneShotTokens,
    settings: {
      maxRawMemoriesForConsolidation: settings.maxRawMemoriesForConsolidation,
      maxUnusedDays: settings.maxUnusedDays,
    },
    selection: start.selection.map(({ threadId, sourceUpdatedAt, slug, project }) => ({
      threadId,
      sourceUpdatedAt,
      slug,
      project,
    })),
    inputs: { added: [...added], retained: [...retained], removed: [...removed] },
    newNotes: [...workspace.newNotes],
    files: [...workspace.files].map(([path, content]) => [path, sha256Hex(content)]),
    changes: workspace.changes.map(({ path, before }) => [path, before === null ? null : sha256Hex(before)]),
    inputsBefore: start.inputsBefore,
    diffSha256: sha256Hex(renderDiffFile(workspace.changes)),
    ...heard,
  };
}
