import type { ConsolidationResult } from '../core/consolidation/consolidation-ports.ts';
import { pruneOutputs } from '../core/consolidation/prune-outputs.ts';
import { InvalidInputError } from '../core/errors.ts';
import { alignProjects } from '../core/thread/align-projects.ts';
import { consolidateHome } from './consolidate.ts';
import { existingFolders, type FoundFile, findRollouts } from './discover.ts';
import type { LocalEnv } from './env.ts';
import { extractDue } from './extract-due.ts';
import type { Home } from './home.ts';
import { type ImportedFile, importRollout } from './import-rollouts.ts';
import { listAllThreads } from './look.ts';
import type { ModelSetup } from './model.ts';
import type { RunObserver, RunRequest } from './run-request.ts';
import { refreshWorkingCopy, type TakenEdits, takeEdits } from './sync-working-copy.ts';

export interface RunResult {
  readonly files: readonly ImportedFile[];
  /** Threads that were due in this run. */
  readonly due: readonly string[];
  /** Due threads that `max` left for the next run. */
  readonly leftOver: number;
  /** `skipped`: the model cannot be used, so it was not asked. */
  readonly consolidation: ConsolidationResult | { readonly kind: 'skipped'; readonly code: string };
  readonly edits: TakenEdits;
  /** Why every session that was to be extracted failed: the model could not be reached. Null where that is not so. */
  readonly unreachable: string | null;
}

/**
 * The main job: takes rollouts in, extracts what is due, consolidates, brings the working copy up to date. Safe to kill at any
 * moment and to run twice at once: every step is claimed, and what is done is not done again.
 * @throws NotFoundError, InvalidInputError, DeniedError for paths (see `findRollouts`), InvalidInputError `run.no_default_folder`
 */
export async function run(
  home: Home,
  model: ModelSetup,
  request: RunRequest,
  surroundings: { readonly env: LocalEnv; readonly observer: RunObserver },
): Promise<RunResult> {
  const { env, observer } = surroundings;
  const found = await findRollouts(await choosePaths(request, env));
  home.recoverDeadRuns();
  const edits = await takeEdits(home);
  const files = await importFiles(home, found, request, observer);
  await nameProjects(home);
  await pruneOutputs(home, home.userKey, { now: home.clock.now(), maxUnusedDays: home.settings.maxUnusedDays });
  const extraction = await extractDue(home, model, request, observer);
  const unreachable = model.silence();
  observer.progress('consolidate', 0, 1);
  const { misconfigured } = extraction;
  const consolidation =
    misconfigured === null
      ? await consolidateHome(home, model, true)
      : ({ kind: 'skipped', code: misconfigured } as const);
  await home.outputs.removeOrphanBodies(home.userKey);
  observer.progress('consolidate', 1, 1);
  await refreshWorkingCopy(home);
  return { files, due: extraction.due, leftOver: extraction.leftOver, consolidation, edits, unreachable };
}

async function choosePaths(request: RunRequest, env: LocalEnv): Promise<readonly string[]> {
  if (request.paths.length > 0) return request.paths;
  const folders = await existingFolders([env.codexSessions, env.claudeProjects]);
  if (folders.length > 0) return folders;
  throw new InvalidInputError(
    'run.no_default_folder',
    `neither ${env.codexSessions} nor ${env.claudeProjects} exists: name a folder, as in "stillroom run PATH"`,
    { details: { field: 'path' } },
  );
}

async function importFiles(
  home: Home,
  found: readonly FoundFile[],
  request: RunRequest,
  observer: RunObserver,
): Promise<readonly ImportedFile[]> {
  const requested = request.paths.length > 0 && request.sinceMs === null;
  const imported: ImportedFile[] = [];
  observer.progress('import', 0, found.length);
  for (const file of found) {
    imported.push(await importRollout(home, file, { requested }));
    observer.progress('import', imported.length, found.length);
  }
  return imported;
}

/** Before anything is extracted, so that a memory is filed under one project whichever agent it came from. */
async function nameProjects(home: Home): Promise<void> {
  for (const { threadId, repository, project } of alignProjects(await listAllThreads(home))) {
    await home.threads.update(home.userKey, threadId, (stored) => stored && { ...stored, repository, project });
  }
}
