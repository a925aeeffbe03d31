import { type AgentBudget, DEFAULT_AGENT_BUDGET } from '../agent/agent.ts';
import { addUsage, NO_USAGE, type TokenUsage } from '../agent/token-usage.ts';
import { StillroomError, UnavailableError } from '../errors.ts';
import { LIMITS } from '../settings.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { ConsolidationPorts, ConsolidationRequest, ConsolidationResult } from './consolidation-ports.ts';
import { emitConsolidation } from './consolidation-report.ts';
import {
  OWNERSHIP_LOST,
  type Setback,
  setbackForError,
  setbackForFaults,
  setbackForMoved,
  setbackForStop,
} from './consolidation-setback.ts';
import { editMemory } from './edit-memory.ts';
import { keepRun, type PublishedRun, RunLog } from './keep-run.ts';
import { Lease } from './lease.ts';
import { findWithdrawn, type SelectedInput } from './load-selection.ts';
import { loadStart, type Start } from './load-start.ts';
import type { ConsolidationWay, Head } from './manifest.ts';
import { removeOrphanVersions } from './orphan-versions.ts';
import { type PublishResult, publishVersion } from './publish.ts';
import { tidyReplays } from './replay-shelf.ts';
import type { AgentRunEnd } from './run-agent.ts';
import { listStale } from './stale-lines.ts';
import { validateArtifacts } from './validate-artifacts.ts';
import { requestConsolidated } from './version-request.ts';

const KEY = { kind: 'consolidation' } as const;
/** A head that moved in a way that cannot be merged starts the run over, this often. */
const MAX_RESTARTS = 1;

/**
 * Consolidates one user's memory once (behaviours 1.F, 1.G; storage.md). One at a time for a user, by the job's lease; the
 * workspace is in memory and nothing of a run that fails is published (DV-10). A run that finds nothing to do makes neither
 * a model call nor a version (DV-11).
 *
 * @returns how it ended; what failed is in the job's last error too
 * @throws what is no StillroomError, after the job was marked failed: a fault of ours
 */
export async function consolidate(
  ports: ConsolidationPorts,
  request: ConsolidationRequest,
): Promise<ConsolidationResult> {
  const startedAt = ports.clock.now();
  const claim = await ports.jobs.claim(request.userKey, KEY, {
    token: ports.tokens.next(),
    now: startedAt,
    leaseMs: LIMITS.consolidationLeaseMs,
    immediate: request.immediate === true,
  });
  let result: ConsolidationResult;
  if (claim.kind === 'refused') result = { kind: 'refused', reason: claim.reason, retryAt: claim.retryAt };
  else {
    const lease = new Lease(ports, request.userKey, claim.token);
    result = await new Consolidation(ports, request, lease, claim.inputWatermark).run();
  }
  emitConsolidation(ports.telemetry, result, ports.clock.now() - startedAt);
  return result;
}

type Moved = Extract<PublishResult, { kind: 'moved' }>;
type Passed = Extract<AgentRunEnd, { kind: 'passed' }> & { readonly way: ConsolidationWay };

/** What a version, and the record of its run, say about its making. */
interface Made extends Pick<PublishedRun, 'model' | 'budget' | 'usageBefore' | 'heard' | 'oneShotTokens'> {
  readonly promptVersion: string;
  readonly way: ConsolidationWay;
}

/** One claimed run, from the fence to the end of the job. */
class Consolidation {
  readonly #ports: ConsolidationPorts;
  readonly #request: ConsolidationRequest;
  readonly #lease: Lease;
  readonly #claimedWatermark: number;
  #turns = 0;
  #usage: TokenUsage = NO_USAGE;

  constructor(ports: ConsolidationPorts, request: ConsolidationRequest, lease: Lease, claimedWatermark: number) {
    this.#ports = ports;
    this.#request = request;
    this.#lease = lease;
    this.#claimedWatermark = claimedWatermark;
  }

  async run(): Promise<ConsolidationResult> {
    try {
      let head = await this.#ports.heads.setFence(this.#request.userKey, this.#lease.token);
      await this.#tolerate('consolidation.orphans_kept', this.#cleanUp());
      await this.#tolerate(
        'consolidation.replays_kept',
        tidyReplays(this.#ports, this.#request.userKey, { head, now: this.#ports.clock.now() }),
      );
      for (let restarts = 0; ; restarts++) {
        const end = await this.#runOnce(head);
        if (end.kind !== 'moved') return end;
        if (restarts >= MAX_RESTARTS) return await this.#fail(setbackForMoved(end.version));
        head = await this.#fenceAgain();
      }
    } catch (error) {
      const failed = await this.#fail(setbackForError(error));
      if (error instanceof StillroomError) return failed;
      throw error;
    }
  }

  #cleanUp(): Promise<unknown> {
    const holdsLock = (): Promise<boolean> => this.#lease.keep();
    return removeOrphanVersions(this.#ports, this.#request.userKey, { now: this.#ports.clock.now(), holdsLock });
  }

  /** Whoever forgot a thread meanwhile took the fence; what is read from here on knows of it. */
  async #fenceAgain(): Promise<Head> {
    const { userKey } = this.#request;
    const held = await this.#lease.confirm();
    return held ? this.#ports.heads.setFence(userKey, this.#lease.token) : this.#ports.heads.read(userKey);
  }

  async #runOnce(head: Head): Promise<ConsolidationResult | Moved> {
    const start = await loadStart(this.#ports, this.#request, head, () => this.#lease.keep());
    if (start.selection.length === 0 && start.workspace.files.size === 0) {
      return (await this.#completeIdle(start)) ?? { kind: 'nothing' };
    }
    const { files } = start.workspace;
    const clean = start.workspace.changes.length === 0 && listStale(files).length === 0;
    if (clean && validateArtifacts(files, start.selection, files).length === 0) {
      return (await this.#completeIdle(start)) ?? this.#unchanged(head.version);
    }
    return this.#consolidate(start);
  }

  async #consolidate(start: Start): Promise<ConsolidationResult | Moved> {
    const { userKey, settings } = this.#request;
    const run = new RunLog(this.#ports);
    const model = settings.consolidationModel ?? this.#request.model;
    const oneShotTokens = this.#request.oneShotTokens ?? 0;
    const setup = { model, budget: this.#remainingBudget(), usageBefore: this.#usage, oneShotTokens };
    const { end, runId, promptVersion, way } = await editMemory(run.ports, {
      userKey,
      dailyTokenBudget: settings.dailyTokenBudget,
      ...setup,
      start,
      confirmOwnership: () => this.#lease.confirm(), // every time: an erase or a reset must not be paid for a minute longer
    });
    this.#turns += end.turns;
    this.#usage = addUsage(this.#usage, end.usage);
    const result = await this.#endAgent(start, end, { promptVersion, way, ...setup, heard: run.heard });
    await this.#tolerate('consolidation.steps_kept', this.#endSteps(runId, end, result));
    return result;
  }

  async #endAgent(start: Start, end: AgentRunEnd, made: Made): Promise<ConsolidationResult | Moved> {
    switch (end.kind) {
      case 'stopped':
        return this.#fail(setbackForStop(end.end, this.#ports.clock.now()));
      case 'invalid':
        return this.#fail(setbackForFaults(end.faults));
      case 'passed': {
        const createdAt = this.#ports.clock.now();
        const published = await this.#publish(start, end.files, { ...made, createdAt });
        if (published.kind === 'published') await this.#keep(start, { ...made, createdAt }, published.version);
        return this.#endPublished(start, { ...end, way: made.way }, published);
      }
    }
  }

  /**
   * Forgets the run's turns unless another pass can go on from them. Where the job is gone (erased, reset), or its run was told
   * to stop, nobody will; where somebody else took over, they are at work on them.
   */
  async #endSteps(runId: string, end: AgentRunEnd, result: ConsolidationResult | Moved): Promise<void> {
    if (isResumable(end, result)) {
      const holder = (await this.#ports.jobs.get(this.#request.userKey, KEY))?.token ?? null;
      const isOurs = holder === this.#lease.token;
      if (holder !== null && !(isOurs && isOwnershipLost(result))) return;
    }
    await this.#ports.steps.finish(runId);
  }

  /** A run that starts over has what its first pass left. */
  #remainingBudget(): AgentBudget {
    const { maxTurns, maxTokens, maxWriteBytes } = DEFAULT_AGENT_BUDGET;
    return {
      maxTurns: maxTurns - this.#turns,
      maxTokens: maxTokens - this.#usage.totalTokens,
      maxWriteBytes,
      deadline: this.#request.deadline ?? null,
    };
  }

  #keep(start: Start, made: Made & { readonly createdAt: number }, version: number): Promise<void> {
    const { userKey, settings } = this.#request;
    return keepRun(this.#ports, { ...made, userKey, settings, lease: this.#lease, start, version });
  }

  async #publish(start: Start, files: FileTree, made: Made & { readonly createdAt: number }): Promise<PublishResult> {
    if (!(await this.#lease.confirm())) return { kind: 'lost', reason: 'fence' };
    const withdrawn = await findWithdrawn(this.#ports, this.#request.userKey, start.selection);
    if (withdrawn.length > 0) return { kind: 'moved', version: start.head.version };
    return publishVersion(this.#ports, {
      userKey: this.#request.userKey,
      base: { manifest: start.base, epoch: start.head.epoch },
      fence: this.#lease.token,
      ...requestConsolidated(start, {
        files,
        model: made.model,
        promptVersion: made.promptVersion,
        tokenUsage: this.#usage,
        turns: this.#turns,
        way: made.way,
        now: made.createdAt,
      }),
    });
  }

  async #endPublished(start: Start, end: Passed, published: PublishResult): Promise<ConsolidationResult | Moved> {
    switch (published.kind) {
      case 'moved':
        return published;
      case 'lost':
        // Where the job is still ours, a thread was forgotten meanwhile: what rests on it must go, not wait (user case B29).
        return this.#fail({
          code: OWNERSHIP_LOST,
          detail: `lost by ${published.reason}`,
          retryMs: 0,
          spendsRetry: false,
        });
      case 'unchanged':
        await this.#complete(start.selection);
        return this.#unchanged(published.version);
      case 'published':
        await this.#complete(start.selection);
        return {
          kind: 'published',
          version: published.version,
          ...start.workspace.inputs,
          way: end.way,
          turns: this.#turns,
          usage: this.#usage,
          report: end.report,
        };
    }
  }

  #unchanged(version: number): ConsolidationResult {
    return { kind: 'unchanged', version, turns: this.#turns, usage: this.#usage };
  }

  /**
   * Ends a run that had nothing to do. A holder that stalled until it was overtaken marks nothing; and what was published since
   * it looked was made due before, so it is still this run's to see.
   */
  async #completeIdle({ head, selection }: Start): Promise<ConsolidationResult | Moved | undefined> {
    if (!(await this.#lease.keep())) return this.#fail({ code: OWNERSHIP_LOST, detail: 'lost before the end' });
    const { version } = await this.#ports.heads.read(this.#request.userKey);
    if (version !== head.version) return { kind: 'moved', version };
    await this.#complete(selection);
    return undefined;
  }

  /** Marks what was taken in, then ends the job (behaviours F-13, F-16). Ownership lost by now costs nothing: it is published. */
  async #complete(selection: readonly SelectedInput[]): Promise<void> {
    const { userKey } = this.#request;
    await this.#ports.outputs.markSelected(userKey, selection);
    const completedWatermark = completionWatermark(this.#claimedWatermark, selection);
    const now = this.#ports.clock.now();
    const done = { kind: 'consolidation', completedWatermark } as const;
    if (!(await this.#ports.jobs.complete(userKey, this.#lease.token, now, done)))
      this.#ports.telemetry.event('warn', 'consolidation.completed_without_ownership');
  }

  /** Ends the job badly; the version stays as it was. A run that lost the job marks nothing (behaviours G-09). */
  async #fail(setback: Setback): Promise<ConsolidationResult> {
    const { code, detail, told = code, retryMs = LIMITS.retryDelayMs, spendsRetry = true } = setback;
    if (!this.#lease.lost) {
      const failure = { now: this.#ports.clock.now(), reason: told, outcome: null, retry: retryMs, spendsRetry };
      await this.#ports.jobs.fail(this.#request.userKey, KEY, this.#lease.token, failure);
    }
    return { kind: 'failed', code, detail, turns: this.#turns, usage: this.#usage };
  }

  /** For cleaning up: what could not be removed now is removed by a later run, or costs only space. */
  async #tolerate(event: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.#ports.telemetry.event('warn', event, { code: error.code });
    }
  }
}

/** Whether a pass that begins again could go on from the turns of this one; others would only end the same way again. */
function isResumable(end: AgentRunEnd, result: ConsolidationResult | Moved): boolean {
  return end.kind === 'stopped' ? end.end.resumable : isOwnershipLost(result);
}

function isOwnershipLost(result: ConsolidationResult | Moved): boolean {
  return result.kind === 'failed' && result.code === OWNERSHIP_LOST;
}

/** The watermark that a run has dealt with: the claimed one, or that of its newest input (behaviours F-16). */
export function completionWatermark(
  claimed: number,
  selection: readonly { readonly sourceUpdatedAt: number }[],
): number {
  return selection.reduce((newest, input) => Math.max(newest, input.sourceUpdatedAt), claimed);
}
