import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { decompress } from '../adapters/compression/decompress.ts';
import { InvalidInputError } from '../core/errors.ts';
import type { Outcome } from '../core/extraction/outcome.ts';
import { isThreadId } from '../core/ids.ts';
import { readRollout } from '../core/rollout/read-rollout.ts';
import { redact } from '../core/rollout/redact.ts';
import type { RolloutFacts } from '../core/rollout/rollout.ts';
import { LIMITS } from '../core/settings.ts';
import { registerThread } from '../core/thread/register-thread.ts';
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
  const facts = await readFacts(file);
  if (!('agentKind' in facts)) return { kind: 'ended', path: redact(file.path), threadId: null, outcome: facts };
  const threadId = facts.threadId !== null && isThreadId(facts.threadId) ? facts.threadId : idFromName(file.path);
  if (threadId === undefined) {
    return {
      kind: 'ended',
      path: redact(file.path),
      threadId: null,
      outcome: { kind: 'failed', reason: 'no_thread_id' },
    };
  }
  const stored = await home.threads.get(home.userKey, threadId);
  if (stored !== undefined && isOlder(stored, facts, file)) {
    const detail = `a rollout of this thread up to ${new Date(stored.updatedAt).toISOString()} is stored`;
    return {
      kind: 'ended',
      path: redact(file.path),
      threadId,
      outcome: { kind: 'skipped', reason: 'unchanged', detail },
    };
  }
  await storeThread(home, file, { threadId, facts, rules, stored });
  return { kind: 'thread', path: redact(file.path), threadId, isNew: true };
}

async function readFacts(file: FoundFile): Promise<RolloutFacts | Outcome> {
  try {
    const reading = await readRollout(decompress(createReadStream(file.path), LIMITS.rolloutBytes), {
      evidenceTokens: null,
    });
    return reading.kind === 'read' ? reading.facts : { kind: 'failed', reason: reading.reason, detail: reading.detail };
  } catch (error) {
    const code = errorCode(error);
    if (SOURCE_FAULTS.has(code)) return { kind: 'failed', reason: 'unreadable', detail: `${CANNOT_OPEN} (${code})` };
    if (!(error instanceof InvalidInputError)) throw error;
    const reason = error.code === 'rollout.too_large' ? 'too_large' : 'unreadable';
    return { kind: 'failed', reason, detail: error.message };
  }
}

async function storeThread(
  home: Home,
  file: FoundFile,
  of: { threadId: string; facts: RolloutFacts; rules: ImportRules; stored: Thread | undefined },
): Promise<void> {
  const now = home.clock.now();
  const rollout = await home.rollouts.put(home.userKey, of.threadId, createReadStream(file.path), file.path, now);
  await home.threads.update(home.userKey, of.threadId, (stored) =>
    registerThread(stored, {
      threadId: of.threadId,
      facts: of.facts,
      rollout,
      hints: { ...NO_HINTS, sourceUpdatedAt: file.modifiedAt },
      now,
      requestedAt: of.rules.requested ? now : null,
      generateMemories: home.settings.generateMemories,
    }),
  );
}

function isOlder(stored: Thread, facts: RolloutFacts, file: FoundFile): boolean {
  if (stored.rollout.path === redact(file.path)) return false;
  return (facts.lastAt ?? file.modifiedAt) <= stored.updatedAt;
}

/** Agents put the thread id at the end of the file's name. */
function idFromName(path: string): string | undefined {
  return /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\.[a-z.]+)?$/i.exec(basename(path))?.[1];
}

function isUnreadable(outcome: Outcome): boolean {
  return outcome.kind === 'failed' && outcome.detail?.startsWith(CANNOT_OPEN) === true;
}
