import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { decompress } from '../adapters/compression/decompress.ts';
import { InvalidInputError } from '../core/errors.ts';
import { type Outcome, outcomeName } from '../core/extraction/outcome.ts';
import { findPollution, findTooShort } from '../core/extraction/session-checks.ts';
import { readRollout } from '../core/rollout/read-rollout.ts';
import { damageOf } from '../core/rollout/record-counts.ts';
import { redact } from '../core/rollout/redact.ts';
import type { EvidenceShares, RolloutCounts, RolloutFacts, RolloutReading } from '../core/rollout/rollout.ts';
import { EVIDENCE_TIERS, TIER_LABELS } from '../core/rollout/rollout.ts';
import { LIMITS, type Settings } from '../core/settings.ts';
import { estimateTokens, utf8Length } from '../core/text.ts';
import { checkEligibility } from '../core/thread/eligibility.ts';
import { registerThread } from '../core/thread/register-thread.ts';
import { NO_HINTS, type Thread } from '../core/thread/thread.ts';
import { toFileTime } from '../core/time.ts';
import { type FoundFile, findRollouts } from './discover.ts';
import { dropReason } from './drop-reasons.ts';
import { chooseId, outcomeOfFault, whyNoId } from './import-rollouts.ts';

/** What one rollout holds and what would be made of it. Texts of the rollout are redacted. */
export interface Inspection {
  readonly file: string;
  readonly bytes: number;
  /** How it would end if it were run now: `ready` when the model would be asked. */
  readonly outcome: string;
  readonly outcome_detail: string | null;
  readonly facts: InspectedFacts | null;
  readonly records: InspectedRecords | null;
  readonly evidence: InspectedEvidence | null;
  /** Secrets replaced in the evidence, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
}

export interface InspectedFacts {
  readonly agent: string;
  readonly format_version: string | null;
  readonly thread_id: string | null;
  readonly parent_thread_id: string | null;
  readonly source: string;
  readonly subagent: boolean;
  readonly ephemeral: boolean;
  readonly memory_mode: string | null;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly repository: string | null;
  readonly git_branch: string | null;
  readonly project: string;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly human_messages: number;
  readonly assistant_messages: number;
  readonly tool_calls: number;
  readonly conversation_bytes: number;
  readonly external_context: {
    readonly web_search: boolean;
    readonly tool_search: boolean;
    readonly mcp_servers: readonly string[];
  };
}

export interface InspectedRecords {
  readonly bytes: number;
  readonly total: number;
  readonly broken_lines: number;
  readonly oversized: number;
  readonly torn_tail: boolean;
  readonly kinds: readonly {
    readonly kind: string;
    readonly seen: number;
    readonly dropped: number;
    /** Why those that were dropped were; null when none was. */
    readonly why: string | null;
  }[];
}

export interface InspectedEvidence {
  readonly budget_tokens: number;
  readonly bytes: number;
  /** Estimated. */
  readonly tokens: number;
  readonly tiers: readonly {
    readonly tier: string;
    readonly items: number;
    readonly rows: number;
    readonly bytes: number;
  }[];
  readonly failed_then_passed: { readonly found: number; readonly kept: number };
  /** What was taken out of rows, by the mark that stands in its place. */
  readonly marks: Readonly<Record<string, number>>;
  /** Exactly what would be sent; null unless asked for. */
  readonly text: string | null;
}

export interface InspectRequest {
  readonly path: string;
  readonly budgetTokens: number;
  readonly withText: boolean;
  readonly settings: Settings;
  readonly now: number;
}

/**
 * Reads one file as `run` would, and stores nothing. A file that is no rollout ends with the outcome that says so.
 * @throws NotFoundError `run.path_not_found`, DeniedError `run.path_unreadable`, InvalidInputError `inspect.not_a_file`
 */
export async function inspectRollout(request: InspectRequest): Promise<Inspection> {
  const file = await findFile(request.path);
  const shown = { file: redact(file.path), bytes: file.bytes };
  const reading = await readFile(file, request);
  if (!('counts' in reading)) {
    return { ...shown, ...describeOutcome(reading), facts: null, records: null, evidence: null, redactions: {} };
  }
  const records = describeRecords(reading.counts);
  const { redactions } = reading.counts;
  if (reading.kind === 'failed') {
    const outcome: Outcome = { kind: 'failed', reason: reading.reason, detail: reading.detail };
    return { ...shown, ...describeOutcome(outcome), facts: null, records, evidence: null, redactions };
  }
  const threadId = chooseId(reading.facts, file.path) ?? null;
  const thread = seeThread(file, threadId, { facts: reading.facts, counts: reading.counts, request });
  const outcome = threadId === null ? noThreadId(reading.facts) : outcomeNow(thread, reading.facts, request);
  return {
    ...shown,
    ...describeOutcome(outcome),
    facts: describeFacts(thread, threadId, reading.facts),
    records,
    evidence: reading.shares && describeEvidence(reading.evidence, reading.shares, request),
    redactions,
  };
}

async function findFile(path: string): Promise<FoundFile> {
  const found = await findRollouts([path]);
  const file = found.find((each) => each.path === resolve(path));
  if (file !== undefined) return file;
  throw new InvalidInputError('inspect.not_a_file', 'inspect looks at one file, and this is a folder', {
    details: { field: 'file' },
  });
}

async function readFile(file: FoundFile, request: InspectRequest): Promise<RolloutReading | Outcome> {
  try {
    const chunks = decompress(createReadStream(file.path), LIMITS.rolloutBytes);
    return await readRollout(chunks, { evidenceTokens: request.budgetTokens, mode: 'tiered' });
  } catch (error) {
    return outcomeOfFault(error);
  }
}

/** The thread as the catalogue would enter it. */
function seeThread(
  file: FoundFile,
  threadId: string | null,
  read: { readonly facts: RolloutFacts; readonly counts: RolloutCounts; readonly request: InspectRequest },
): Thread {
  const { now, settings } = read.request;
  return registerThread(undefined, {
    threadId: threadId ?? '',
    facts: read.facts,
    reading: damageOf(read.counts),
    rollout: { sha256: '', bytes: file.bytes, uploadedAt: now, path: file.path, order: null },
    hints: { ...NO_HINTS, sourceUpdatedAt: file.modifiedAt },
    now,
    requestedAt: now,
    generateMemories: settings.generateMemories,
  });
}

function noThreadId(facts: RolloutFacts): Outcome {
  return { kind: 'failed', reason: 'no_thread_id', detail: whyNoId(facts.threadId) };
}

/** A file that is named is never too old; undefined: the model would be asked. */
function outcomeNow(thread: Thread, facts: RolloutFacts, { settings, now }: InspectRequest): Outcome | undefined {
  const verdict = checkEligibility(thread, { settings, now, includeActive: false, maxAgeMs: null });
  if (verdict.kind === 'skipped') return { kind: 'skipped', reason: verdict.reason, detail: verdict.detail };
  const pollution = findPollution(facts.externalContext, settings);
  if (pollution !== undefined) return { kind: 'skipped', reason: 'polluted', detail: pollution };
  const tooShort = findTooShort(facts);
  return tooShort === undefined ? undefined : { kind: 'skipped', reason: 'too_short', detail: tooShort };
}

function describeOutcome(outcome: Outcome | undefined): Pick<Inspection, 'outcome' | 'outcome_detail'> {
  if (outcome === undefined) return { outcome: 'ready', outcome_detail: null };
  return { outcome: outcomeName(outcome), outcome_detail: outcome.detail ?? null };
}

function describeFacts(thread: Thread, threadId: string | null, facts: RolloutFacts): InspectedFacts {
  const { webSearch, toolSearch, mcpServers } = facts.externalContext;
  return {
    agent: facts.agentKind,
    format_version: facts.formatVersion,
    thread_id: threadId,
    parent_thread_id: facts.parentThreadId,
    source: thread.source,
    subagent: facts.subagent,
    ephemeral: facts.ephemeral,
    memory_mode: facts.memoryMode,
    title: facts.title,
    cwd: thread.cwd,
    repository: thread.repository,
    git_branch: thread.gitBranch,
    project: thread.project,
    first_at: timeOf(facts.firstAt),
    last_at: timeOf(facts.lastAt),
    human_messages: facts.humanMessages,
    assistant_messages: facts.assistantMessages,
    tool_calls: facts.toolCalls,
    conversation_bytes: facts.conversationBytes,
    external_context: { web_search: webSearch, tool_search: toolSearch, mcp_servers: mcpServers },
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : toFileTime(ms);
}

function describeRecords(counts: RolloutCounts): InspectedRecords {
  const kinds = Object.entries(counts.byKind).sort(
    (left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1),
  );
  return {
    bytes: counts.bytes,
    total: counts.records,
    broken_lines: counts.broken,
    oversized: counts.oversized,
    torn_tail: counts.tornTail,
    kinds: kinds.map(([kind, seen]) => {
      const dropped = counts.droppedByKind[kind] ?? 0;
      return { kind, seen, dropped, why: dropped === 0 ? null : dropReason(kind) };
    }),
  };
}

const MARK =
  /\[(?:recalled memory|memory summary|records of other sessions|another rollout|instructions file|encrypted content|image|audio) omitted\]|…\d+ chars truncated…/g;

function describeEvidence(evidence: string, shares: EvidenceShares, request: InspectRequest): InspectedEvidence {
  const marks: Record<string, number> = {};
  for (const [found] of evidence.matchAll(MARK)) {
    const mark = found.startsWith('…') ? 'row cut in its middle' : found.slice(1, -1);
    marks[mark] = (marks[mark] ?? 0) + 1;
  }
  return {
    budget_tokens: request.budgetTokens,
    bytes: utf8Length(evidence),
    tokens: estimateTokens(evidence),
    tiers: EVIDENCE_TIERS.map((tier) => ({ tier: TIER_LABELS[tier], ...shares.tiers[tier] })),
    failed_then_passed: shares.pairs,
    marks,
    text: request.withText ? evidence : null,
  };
}
