import { redact } from '../rollout/redact.ts';
import type { RolloutDamage, RolloutFacts } from '../rollout/rollout.ts';
import { NEVER_SOURCES } from '../settings.ts';
import { DAY_MS, parseStemTime } from '../time.ts';
import { projectKey } from './scope.ts';
import type { MemoryMode, StoredRollout, Thread, UploadHints } from './thread.ts';

/** Times before this are no times of a session: a missing one, or seconds taken for milliseconds. 2000-01-01. */
const EARLIEST_MS = 946_684_800_000;
/** The agent kind of a rollout of which nothing could be read. */
const UNREAD_KIND = 'unknown';
/** A source that nobody named counts as a person's (user case D20). */
const UNNAMED_SOURCE = 'custom';

export interface Sighting {
  readonly threadId: string;
  readonly facts: RolloutFacts;
  /** What was met while reading; null = it could not be read. */
  readonly reading: RolloutDamage | null;
  readonly rollout: StoredRollout;
  readonly hints: UploadHints;
  readonly now: number;
  /** When a person asked for this thread by name, ms; null = nobody did. */
  readonly requestedAt: number | null;
  /** The setting: false makes new threads `disabled` (behaviours A-16). */
  readonly generateMemories: boolean;
}

/**
 * Merges a rollout that was seen into the catalogue. Pure, so that a store may call it again.
 *
 * Kept: tombstone, memory mode, creation time. A forgotten thread is answered as it is: nothing of the rollout enters the
 * catalogue (DV-18). A rollout whose content is older than the stored one does not replace it (user case D22), and the same
 * bytes again change nothing but what was asked or declared about them. What could not be read has no time to compare: it
 * goes a millisecond behind what is stored, enough for its owner to see the reason, and whatever is read then goes before it
 * (a repaired upload has an older last record than its broken one has an upload time). Times are never 1970: the rollout's
 * record, else the uploader's hint, else the name of the file, else the time of the upload.
 */
export function registerThread(stored: Thread | undefined, sighting: Sighting): Thread {
  if (stored !== undefined && stored.forgottenAt !== null) return stored;
  const contentAt = contentTime(sighting);
  const requestedAt = latest(stored?.requestedAt ?? null, sighting.requestedAt);
  if (stored === undefined) return describe(undefined, sighting, { updatedAt: contentAt, requestedAt });
  if (stored.rollout.sha256 === sighting.rollout.sha256) {
    const rollout = { ...stored.rollout, order: sighting.rollout.order ?? stored.rollout.order };
    return { ...stored, requestedAt, ended: sighting.hints.ended ?? stored.ended, rollout };
  }
  const updatedAt = timeAfter(stored, sighting.facts, contentAt);
  if (updatedAt < stored.updatedAt) return { ...stored, requestedAt };
  return describe(stored, sighting, { updatedAt, requestedAt });
}

/** A later watermark than the stored one where either was never read: a failed extraction is tried again only at a later one. */
function timeAfter(stored: Thread, facts: RolloutFacts, contentAt: number): number {
  const next = stored.updatedAt + 1;
  if (stored.agentKind === UNREAD_KIND) return Math.max(contentAt, next);
  return facts.agentKind === UNREAD_KIND ? next : contentAt;
}

function describe(
  stored: Thread | undefined,
  sighting: Sighting,
  times: { readonly updatedAt: number; readonly requestedAt: number | null },
): Thread {
  const { threadId, facts, hints, rollout } = sighting;
  const cwd = clean(facts.cwd ?? hints.cwd) ?? stored?.cwd ?? null;
  const repository = clean(facts.repository ?? hints.repository) ?? stored?.repository ?? null;
  const { updatedAt, requestedAt } = times;
  return {
    threadId,
    memoryMode: chooseMode(stored?.memoryMode, facts.memoryMode, sighting.generateMemories),
    source: clean(chooseSource(facts.source, hints.source)) ?? stored?.source ?? UNNAMED_SOURCE,
    subagent: facts.subagent,
    ephemeral: facts.ephemeral,
    parentThreadId: facts.parentThreadId ?? stored?.parentThreadId ?? null,
    agentKind: facts.agentKind,
    cwd,
    repository,
    project: projectKey({ repository, cwd }),
    gitBranch: clean(facts.gitBranch ?? hints.gitBranch) ?? stored?.gitBranch ?? null,
    title: facts.title ?? stored?.title ?? null,
    createdAt: stored?.createdAt ?? Math.min(plausible(facts.firstAt, sighting.now) ?? updatedAt, updatedAt),
    updatedAt,
    ended: hints.ended ?? false,
    forgottenAt: null,
    requestedAt,
    rollout: { ...rollout, path: redact(rollout.path) },
    reading: sighting.reading,
  };
}

/** Remotes carry passwords, and names of folders, branches and files can be secrets too: none enters the catalogue (DV-6). */
function clean(text: string | null): string | null {
  return text === null ? null : redact(text);
}

/** The watermark of a rollout: when its content ends, as far as that can be believed. ms since the epoch. */
export function contentTime(
  sighting: Pick<Sighting, 'facts' | 'hints' | 'now'> & {
    readonly rollout: Pick<StoredRollout, 'uploadedAt'> & Partial<Pick<StoredRollout, 'path'>>;
  },
): number {
  const { facts, hints, rollout, now } = sighting;
  const told = [facts.lastAt, hints.sourceUpdatedAt, timeOfName(rollout.path ?? ''), rollout.uploadedAt];
  for (const ms of told) {
    const believed = plausible(ms, now);
    if (believed !== undefined) return believed;
  }
  return now;
}

/**
 * The time in a file's name, `rollout-YYYY-MM-DDThh-mm-ss-ID`: when its session began. It is a local time, taken as UTC since
 * nothing says which; so it can be half a day off.
 */
function timeOfName(path: string): number | null {
  const time = /(?:^|[\\/])rollout-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})[^\\/]*$/.exec(path)?.[1];
  return time === undefined ? null : (parseStemTime(time) ?? null);
}

/** A clock that runs a day ahead is wrong, and would lock out every later upload. */
function plausible(ms: number | null, now: number): number | undefined {
  return ms !== null && Number.isFinite(ms) && ms >= EARLIEST_MS && ms <= now + DAY_MS ? Math.trunc(ms) : undefined;
}

/**
 * The mode a thread has after new content. What is disabled or polluted stays so; an enabled thread follows its rollout when
 * that says otherwise, since the session's own wish not to be remembered is never overridden by a default.
 */
function chooseMode(stored: MemoryMode | undefined, declared: string | null, generateMemories: boolean): MemoryMode {
  const known = stored ?? (generateMemories ? 'enabled' : 'disabled');
  if (known !== 'enabled' || declared === null || declared === 'enabled') return known;
  return declared === 'polluted' ? 'polluted' : 'disabled';
}

/** A source that is never extracted cannot be hidden by the other one (user case A16). */
function chooseSource(recorded: string | null, hinted: string | null): string | null {
  const never = [recorded, hinted].find((source) => source !== null && NEVER_SOURCES.includes(source));
  return never ?? recorded ?? hinted;
}

function latest(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.max(left, right);
}
