import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { decompress } from '../adapters/compression/decompress.ts';
import { InvalidInputError } from '../core/errors.ts';
import type { Outcome } from '../core/extraction/outcome.ts';
import { isThreadId, sha256Hex } from '../core/ids.ts';
import { UNNAMED_KINDS } from '../core/rollout/formats.ts';
import { readRollout } from '../core/rollout/read-rollout.ts';
import { damageOf } from '../core/rollout/record-counts.ts';
import { redact } from '../core/rollout/redact.ts';
import type { RolloutDamage, RolloutFacts } from '../core/rollout/rollout.ts';
import { LIMITS } from '../core/settings.ts';
import { contentTime, registerThread } from '../core/thread/register-thread.ts';
import { NO_HINTS, type Thread } from '../core/thread/thread.ts';
import { errorCode, type FoundFile } from './discover.ts';
import type { Home } from './home.ts';

/** What the file system says of a file that cannot be read; it ends this file, not the run. */
const SOURCE_FAULTS = new Set(['EACCES', 'EPERM', 'EIO', 'ENOENT', 'EISDIR', 'ELOOP', 'ENXIO', 'ESTALE']);
const CANNOT_OPEN = 'cannot be opened: check its permissions';

/** What became of one file. */
export type ImportedFile =
  | { readonly kind: 'thread'; readonly path: string; readonly threadId: string; readonly isNew: boolean }
  /** No thread could be made of it, or a newer rollout of its thread is stored. */
  | { readonly kind: 'ended'; readonly path: string; readonly threadId: string | null; readonly outcome: Outcome };

export interface ImportRules {
  /** True when a person named these files: they count as asked for (selection window, no age limit). */
  readonly requested: boolean;
}

/**
 * Takes one file into the home: reads its facts, stores it, enters its thread in the catalogue. A file that was seen before and
 * has neither changed size nor time is not read again.
 */
export async function importRollout(home: Home, file: FoundFile, rules: ImportRules): Promise<ImportedFile> {
  const known = home.imports.find(file);
  if (known !== undefined) {
    if (known.outcome !== null)
      return { kind: 'ended', path: redact(file.path), threadId: known.threadId, outcome: known.outcome };
    if (known.threadId !== null)
      return { kind: 'thread', path: redact(file.path), threadId: known.threadId, isNew: false };
  }
  const imported = await importUnknown(home, file, rules);
  // A file that could not be opened may be readable next time.
  if (imported.kind === 'ended' && isUnreadable(imported.outcome)) return imported;
  home.imports.remember(file, imported.threadId, imported.kind === 'ended' ? imported.outcome : null);
  return imported;
}

async function importUnknown(home: Home, file: FoundFile, rules: ImportRules): Promise<ImportedFile> {
  const read = await readFacts(file);
  if ('kind' in read) return { kind: 'ended', path: redact(file.path), threadId: null, outcome: read };
  const { facts } = read;
  const threadId = chooseId(facts, file.path);
  if (threadId === undefined) {
    const outcome: Outcome = { kind: 'failed', reason: 'no_thread_id', detail: whyNoId(facts.threadId) };
    return { kind: 'ended', path: redact(file.path), threadId: null, outcome };
  }
  const stored = await home.threads.get(home.userKey, threadId);
  const detail = stored && (await whyNotTaken(home, stored, facts, file));
  if (detail !== undefined) {
    const outcome: Outcome = { kind: 'skipped', reason: 'unchanged', detail };
    return { kind: 'ended', path: redact(file.path), threadId, outcome };
  }
  await storeThread(home, file, { threadId, read, rules });
  return { kind: 'thread', path: redact(file.path), threadId, isNew: true };
}

interface Read {
  readonly facts: RolloutFacts;
  readonly reading: RolloutDamage;
}

async function readFacts(file: FoundFile): Promise<Read | Outcome> {
  try {
    const reading = await readRollout(decompress(createReadStream(file.path), LIMITS.rolloutBytes), {
      evidenceTokens: null,
    });
    if (reading.kind === 'read') return { facts: reading.facts, reading: damageOf(reading.counts) };
    return { kind: 'failed', reason: reading.reason, detail: reading.detail };
  } catch (error) {
    return outcomeOfFault(error);
  }
}

/**
 * How a file ends whose bytes cannot be had: locked, gone, a cut archive, over the limit.
 * @throws what is no fault of the file
 */
export function outcomeOfFault(error: unknown): Outcome {
  const code = errorCode(error);
  if (SOURCE_FAULTS.has(code)) return { kind: 'failed', reason: 'unreadable', detail: `${CANNOT_OPEN} (${code})` };
  if (!(error instanceof InvalidInputError)) throw error;
  const reason = error.code === 'rollout.too_large' ? 'too_large' : 'unreadable';
  return { kind: 'failed', reason, detail: error.message };
}

async function storeThread(
  home: Home,
  file: FoundFile,
  of: { threadId: string; read: Read; rules: ImportRules },
): Promise<void> {
  const now = home.clock.now();
  const rollout = await home.rollouts.put(home.userKey, of.threadId, createReadStream(file.path), file.path, now);
  await home.threads.update(home.userKey, of.threadId, (stored) =>
    registerThread(stored, {
      threadId: of.threadId,
      ...of.read,
      rollout,
      hints: { ...NO_HINTS, sourceUpdatedAt: file.modifiedAt },
      now,
      requestedAt: of.rules.requested ? now : null,
      generateMemories: home.settings.generateMemories,
    }),
  );
}

/**
 * The id in the records, else the one in the file's name. An id that is a secret by its looks is replaced by its hash: it would
 * travel into prompts, file names and logs. Formats that know no ids are named by their file (behaviours V-04), and by its
 * folder's hash, since names repeat.
 */
export function chooseId(facts: Pick<RolloutFacts, 'threadId' | 'agentKind'>, path: string): string | undefined {
  const { threadId: told, agentKind } = facts;
  if (told !== null && isThreadId(told)) return redact(told) === told ? told : hashedId(told);
  return idFromName(path) ?? (UNNAMED_KINDS.has(agentKind) ? traceId(path) : undefined);
}

function hashedId(secret: string): string {
  return `id-${sha256Hex(secret).slice(0, 32)}`;
}

const MAX_STEM = 80;

function traceId(path: string): string {
  const stem = basename(path).replace(/(?<=.)\..*$/, '');
  const shown = redact(stem) === stem ? stem.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, MAX_STEM) : 'file';
  return `trace_${sha256Hex(resolve(path)).slice(0, 12)}_${shown}`;
}

export function whyNoId(told: string | null): string {
  if (told === null) return 'neither the records nor the file name hold one';
  return 'the id in the records must be 1 to 128 characters of A-Z a-z 0-9 . _ -';
}

/**
 * Why another file's rollout of a stored thread is left alone: it ends before the stored one, or at the same time. Compared by
 * the time that the catalogue would believe, so that what is stored is never replaced by what the catalogue then refuses.
 * @returns undefined when it is to be taken
 */
async function whyNotTaken(
  home: Home,
  stored: Thread,
  facts: RolloutFacts,
  file: FoundFile,
): Promise<string | undefined> {
  const now = home.clock.now();
  const hints = { ...NO_HINTS, sourceUpdatedAt: file.modifiedAt };
  const updatedAt = contentTime({ facts, hints, rollout: { uploadedAt: now }, now });
  const samePath = stored.rollout.path === redact(file.path);
  if (samePath ? updatedAt >= stored.updatedAt : updatedAt > stored.updatedAt) return undefined;
  const until = new Date(stored.updatedAt).toISOString();
  if (updatedAt < stored.updatedAt) return `a later rollout of this thread, up to ${until}, is stored`;
  const isSame = (await hashFile(file.path)) === stored.rollout.sha256;
  return isSame ? 'the same rollout is stored' : `another rollout of this thread up to ${until} is stored and stays`;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Agents put the thread id at the end of the file's name. */
function idFromName(path: string): string | undefined {
  return /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\.[a-z.]+)?$/i.exec(basename(path))?.[1];
}

function isUnreadable(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.detail?.startsWith(CANNOT_OPEN) === true;
}
