import type { TokenUsage } from '../agent/token-usage.ts';
import { NotFoundError, StillroomError } from '../errors.ts';
import type { Claim, JobKey } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { ModelClient } from '../ports/model-client.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { TokenSource } from '../ports/token-source.ts';
import type { UsageLedger } from '../ports/usage-ledger.ts';
import { damageOf, isSameDamage } from '../rollout/record-counts.ts';
import type { RolloutDamage } from '../rollout/rollout.ts';
import { LIMITS, type Settings } from '../settings.ts';
import { estimateTokens } from '../text.ts';
import type { Thread } from '../thread/thread.ts';
import { askModel, type ExtractionEnd } from './ask-model.ts';
import { commitExtraction } from './commit-extraction.ts';
import { type ExtractionReport, emitRedactions, emitReport } from './extraction-report.ts';
import { findSkip } from './find-skip.ts';
import { type Insist, insistWithin } from './insist.ts';
import { mapRefusal } from './map-refusal.ts';
import type { Outcome } from './outcome.ts';
import { readEvidenceAgain, readSession } from './read-session.ts';
import { findPollution, findTooShort } from './session-checks.ts';
import {
  buildStageOneRequest,
  evidenceTokenLimit,
  type ModelWindow,
  promptVersion,
  type StageOneTemplates,
} from './stage-one-prompt.ts';

export interface ExtractionPorts {
  readonly threads: ThreadStore;
  readonly rollouts: RolloutStore;
  readonly outputs: StageOneStore;
  readonly jobs: JobStore;
  readonly ledger: UsageLedger;
  readonly model: ModelClient;
  readonly templates: TemplateStore;
  readonly clock: Clock;
  readonly tokens: TokenSource;
  readonly telemetry: Telemetry;
}

export interface ExtractionRequest {
  readonly userKey: string;
  readonly threadId: string;
  readonly settings: Settings;
  /** Resolved: the user's choice, else the deployment's. */
  readonly model: string;
  readonly window?: ModelWindow;
  /** What `rememberedEvidenceTokens` found for this user and model. */
  readonly rememberedEvidenceTokens?: number | undefined;
  /** True: without the idle wait. */
  readonly includeActive: boolean;
  /** Oldest last record that is taken, as an age; null = any. */
  readonly maxAgeMs: number | null;
  /** The live conversation, which is never extracted. */
  readonly currentThreadId?: string;
}

/** One run over one thread, as the steps hand it on. */
interface Run {
  readonly request: ExtractionRequest;
  readonly thread: Thread;
  readonly templates: StageOneTemplates;
  /** The ownership token of the claim. */
  readonly token: string;
  readonly insist: Insist;
}

/**
 * Phase 1 for one thread: eligible → claimed → rollout read → model asked → output committed → consolidation due
 * (behaviours 1.C, storage.md "No transactions"). Every expected end is an outcome, recorded with the job; the same thread at
 * the same watermark is not paid for twice. No heartbeat while the model
 * thinks: the time limits of the calls stay within the lease.
 * @throws NotFoundError `thread.not_found`; UnavailableError and DefectError of the ports, after the job was given back
 */
export async function extractThread(ports: ExtractionPorts, request: ExtractionRequest): Promise<Outcome> {
  const startedAt = ports.clock.now();
  const report = await runExtraction(ports, request);
  emitReport(ports.telemetry, report, { threadId: request.threadId, ms: ports.clock.now() - startedAt });
  return report.outcome;
}

async function runExtraction(ports: ExtractionPorts, request: ExtractionRequest): Promise<ExtractionReport> {
  const thread = await ports.threads.get(request.userKey, request.threadId);
  if (thread === undefined) throw new NotFoundError('thread.not_found', 'no such thread');
  const skipped = await findSkip(ports, { userKey: request.userKey, thread }, request);
  if (skipped !== undefined) return { claimed: false, outcome: skipped, usage: null };

  const templates = {
    system: await ports.templates.get('stage_one_system'),
    input: await ports.templates.get('stage_one_input'),
  };
  const claim = await claimThread(ports, request, thread);
  if (claim.kind === 'refused') {
    return { claimed: false, outcome: await mapRefusal(ports, request, claim), usage: null };
  }
  const run: Run = { request, thread, templates, token: claim.token, insist: insistWithin(ports.clock) };
  try {
    const { end, usage } = await distil(ports, run);
    const commit = { ...request, thread, token: claim.token, promptVersion: promptVersion(templates) };
    return { claimed: true, outcome: await commitExtraction({ ...ports, insist: run.insist }, commit, end), usage };
  } catch (error) {
    await giveBack(ports, run, error);
    throw error;
  }
}

function claimThread(ports: ExtractionPorts, request: ExtractionRequest, thread: Thread): Promise<Claim> {
  return ports.jobs.claim(request.userKey, keyOf(request.threadId), {
    token: ports.tokens.next(),
    now: ports.clock.now(),
    leaseMs: LIMITS.extractionLeaseMs,
    watermark: thread.updatedAt,
  });
}

/** From the claimed thread to how its extraction ends; writes nothing but the ledger, and the mode of a polluted thread. */
async function distil(ports: ExtractionPorts, run: Run): Promise<{ end: ExtractionEnd; usage: TokenUsage | null }> {
  const { request, thread } = run;
  const { settings } = request;
  const reading = await readSession(ports.rollouts, request, evidenceBudget(request));
  if (reading.counts !== null) {
    emitRedactions(ports.telemetry, reading.counts.redactions);
    await noteDamage(ports, run, damageOf(reading.counts));
  }
  if (reading.kind === 'failed') {
    const { reason, detail } = reading;
    return {
      end: { kind: 'failed', outcome: { kind: 'failed', reason, detail }, retry: 'never', spendsRetry: true },
      usage: null,
    };
  }
  const { facts } = reading;
  const pollution = findPollution(facts.externalContext, settings);
  if (pollution !== undefined) return { end: await pollute(ports, request, pollution), usage: null };
  const tooShort = findTooShort(facts);
  if (tooShort !== undefined) {
    const outcome: Outcome = { kind: 'skipped', reason: 'too_short', detail: tooShort };
    return { end: { kind: 'done', outcome, texts: null }, usage: null };
  }

  return askModel(
    { model: ports.model, ledger: ports.ledger, now: () => ports.clock.now(), insist: run.insist },
    {
      userKey: request.userKey,
      threadId: request.threadId,
      runId: `${request.threadId}:${thread.updatedAt}:${run.token}`,
      model: request.model,
      dailyTokenBudget: settings.dailyTokenBudget,
      maxOutputTokens: Math.min(LIMITS.extractionOutputTokens, Math.max(1, Math.trunc(settings.dailyTokenBudget / 4))),
      evidenceTokens: estimateTokens(reading.evidence),
      build: async (evidenceTokens, maxOutputTokens) => {
        const evidence =
          evidenceTokens === null ? reading.evidence : await readEvidenceAgain(ports.rollouts, request, evidenceTokens);
        return buildStageOneRequest(
          run.templates,
          { thread, facts, evidence },
          { model: request.model, maxOutputTokens },
        );
      },
    },
  );
}

/** Keeps what was met in the rollout, redactions too, where it is more than the catalogue knows. */
async function noteDamage(ports: ExtractionPorts, run: Run, reading: RolloutDamage): Promise<void> {
  const { thread, request } = run;
  if (thread.reading !== null && isSameDamage(thread.reading, reading)) return;
  const { sha256 } = thread.rollout;
  await ports.threads.update(request.userKey, thread.threadId, (stored) =>
    stored?.rollout.sha256 === sha256 && stored.forgottenAt === null ? { ...stored, reading } : undefined,
  );
}

/** Within the window, what the model took before, and half the day's budget: else a long session would wait for ever. */
function evidenceBudget(request: ExtractionRequest): number {
  const { window, rememberedEvidenceTokens: remembered, settings } = request;
  const affordable = Math.max(1, Math.trunc(settings.dailyTokenBudget / 2));
  return Math.min(evidenceTokenLimit(window), remembered ?? Number.POSITIVE_INFINITY, affordable);
}

/** Marks the thread; its output, if one was consolidated, is forgotten by the next consolidation (behaviours ). */
async function pollute(ports: ExtractionPorts, request: ExtractionRequest, detail: string): Promise<ExtractionEnd> {
  const { userKey, threadId } = request;
  await ports.threads.setMemoryMode(userKey, threadId, 'polluted');
  const head = await ports.outputs.head(userKey, threadId);
  if (head !== undefined && head.selectedSnapshot !== null) {
    await ports.jobs.enqueueConsolidation(userKey, ports.clock.now());
  }
  // Due again at once: the mode keeps the thread out, and whoever enables it again wants it extracted.
  return { kind: 'failed', outcome: { kind: 'skipped', reason: 'polluted', detail }, retry: 0, spendsRetry: false };
}

/** After an unexpected failure: the job waits for its retry instead of for the end of its lease. */
async function giveBack(ports: ExtractionPorts, run: Run, error: unknown): Promise<void> {
  const reason = error instanceof StillroomError ? error.code : 'extraction.defect';
  const { userKey, threadId } = run.request;
  try {
    const now = ports.clock.now();
    const failure = { now, reason, outcome: null, retry: LIMITS.retryDelayMs, spendsRetry: true };
    await ports.jobs.fail(userKey, keyOf(threadId), run.token, failure);
  } catch (second) {
    const code = second instanceof StillroomError ? second.code : 'extraction.defect';
    ports.telemetry.event('warn', 'extraction.not_given_back', { thread_id: threadId, code });
  }
}

function keyOf(threadId: string): JobKey {
  return { kind: 'extraction', threadId };
}
