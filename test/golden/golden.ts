import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { findTooShort } from '../../core/extraction/session-checks.ts';
import { sha256Hex } from '../../core/ids.ts';
import { readRollout } from '../../core/rollout/read-rollout.ts';
import type { EvidenceShares } from '../../core/rollout/rollout.ts';
import { projectKey } from '../../core/thread/scope.ts';
import { toChunks } from '../support/rollout-builder.ts';
import { sharedRolloutsFolder } from '../support/shared-rollouts.ts';

/** Small enough that the long files of the corpus do not fit it whole. */
const BUDGET_TOKENS = 50_000;

const MAX_PROJECT = 64;

export const GOLDEN_FOLDER = join(import.meta.dirname, 'rollouts');

/** What is committed of a rollout that is not ours: ids, counts, times, its project; none of its text. */
export interface Golden {
  readonly outcome: string;
  readonly agent: string | null;
  readonly version: string | null;
  readonly thread_id: string | null;
  readonly parent_thread_id: string | null;
  readonly source: string | null;
  readonly project: string | null;
  readonly first_at: string | null;
  readonly last_at: string | null;
  readonly human_messages: number;
  readonly assistant_messages: number;
  readonly tool_calls: number;
  readonly conversation_bytes: number;
  readonly mcp_servers: number;
  readonly broken: number;
  readonly torn_tail: boolean;
  readonly kinds: Readonly<Record<string, number>>;
  readonly dropped: Readonly<Record<string, number>>;
  readonly redactions: Readonly<Record<string, number>>;
  readonly evidence: EvidenceShares | null;
}

/** Names of the shared rollouts, in order. */
export function rolloutNames(): readonly string[] {
  return readdirSync(sharedRolloutsFolder())
    .filter((name) => /^\d\d-.*\.(?:jsonl|json)(?:\.zst|\.gz)?$/.test(name))
    .sort();
}

/** `01-codex-bare-header-only.json` for a rollout with any ending. */
export function goldenName(rollout: string): string {
  return `${rollout.replace(/\.(?:jsonl|json)(?:\.zst|\.gz)?$/, '')}.json`;
}

export function loadRollout(name: string): Uint8Array {
  const bytes = readFileSync(join(sharedRolloutsFolder(), name));
  if (name.endsWith('.zst')) return zstdDecompressSync(bytes);
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

export async function goldenOf(name: string): Promise<Golden> {
  const reading = await readRollout(toChunks(loadRollout(name), 65_536), { evidenceTokens: BUDGET_TOKENS });
  const { counts } = reading;
  const facts = reading.kind === 'read' ? reading.facts : null;
  const tooShort = facts !== null && findTooShort(facts) !== undefined;
  return {
    outcome: reading.kind === 'failed' ? `failed(${reading.reason})` : tooShort ? 'skipped(too_short)' : 'ready',
    agent: facts?.agentKind ?? null,
    version: facts?.formatVersion ?? null,
    thread_id: facts?.threadId ?? null,
    parent_thread_id: facts?.parentThreadId ?? null,
    source: facts?.source ?? null,
    project: facts && shortProject(projectKey(facts)),
    first_at: timeOf(facts?.firstAt),
    last_at: timeOf(facts?.lastAt),
    human_messages: facts?.humanMessages ?? 0,
    assistant_messages: facts?.assistantMessages ?? 0,
    tool_calls: facts?.toolCalls ?? 0,
    conversation_bytes: facts?.conversationBytes ?? 0,
    mcp_servers: facts?.externalContext.mcpServers.length ?? 0,
    broken: counts.broken,
    torn_tail: counts.tornTail,
    kinds: sorted(counts.byKind),
    dropped: sorted(counts.droppedByKind),
    redactions: sorted(counts.redactions),
    evidence: reading.kind === 'read' ? reading.shares : null,
  };
}

export function goldenText(golden: Golden): string {
  return `${JSON.stringify(golden, null, 2)}\n`;
}

/** What differs, one line a leaf: `tool_calls: 3, was 2`. */
export function describeDifference(was: unknown, now: unknown, path = ''): readonly string[] {
  if (isTree(was) && isTree(now)) {
    const keys = [...new Set([...Object.keys(was), ...Object.keys(now)])];
    return keys.flatMap((key) => describeDifference(was[key], now[key], path === '' ? key : `${path} > ${key}`));
  }
  const [left, right] = [JSON.stringify(was), JSON.stringify(now)];
  return left === right ? [] : [`${path}: ${right ?? 'nothing'}, was ${left ?? 'nothing'}`];
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** A long path is text: its hash tells a change as well. */
function shortProject(project: string): string {
  return project.length <= MAX_PROJECT ? project : `sha256:${sha256Hex(project).slice(0, 16)}`;
}

function timeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}

function sorted(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).sort(([left], [right]) => (left < right ? -1 : 1)));
}
