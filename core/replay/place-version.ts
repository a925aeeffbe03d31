import { addUsage, type TokenUsage } from '../agent/token-usage.ts';
import type { RunStart } from '../consolidation/load-start.ts';
import type { ConsolidationWay, FileEntry, Manifest } from '../consolidation/manifest.ts';
import { type Draft, draftOf } from '../consolidation/publish.ts';
import { rebaseManifest } from '../consolidation/rebase.ts';
import { loadVersionChain } from '../consolidation/version-chain.ts';
import { requestConsolidated } from '../consolidation/version-request.ts';
import { sha256Hex } from '../ids.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { LIMITS } from '../settings.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { KeptRun } from './open-run.ts';

/** What a replayed or shadow run made. */
export interface RunFiles {
  readonly files: FileTree;
  readonly usage: TokenUsage;
  readonly turns: number;
  readonly way: ConsolidationWay;
  readonly promptVersion: string;
  readonly model: string;
}

/**
 * The version that publishing would have made of these files in the place of the run's own: over the same parent, rebased over
 * whatever came in between then. Nothing is stored; entries have no name in the store.
 * @returns undefined where these files cannot be merged over what came in between
 */
export async function placeVersion(
  memories: Pick<MemoryStore, 'manifest'>,
  run: KeptRun,
  start: RunStart,
  made: RunFiles,
): Promise<Draft | undefined> {
  const { userKey, record, manifest } = run;
  const request = requestConsolidated(start, {
    files: made.files,
    model: made.model,
    promptVersion: made.promptVersion,
    tokenUsage: addUsage(record.usageBefore, made.usage),
    // What was left of the limit tells how many turns passes before it took.
    turns: LIMITS.agentMaxTurns - record.budget.maxTurns + made.turns,
    way: made.way,
    now: manifest.createdAt,
  });
  const base = { manifest: start.base, epoch: record.epoch };
  const draft = draftOf({ ...request, userKey, base, fence: null }, entriesOf(made.files));
  if (manifest.parent === record.base) return draft;
  const chain = await loadVersionChain(memories, userKey, manifest.parent, isBuiltOn(record.base));
  return rebaseManifest(draft, start.base, chain);
}

function entriesOf(files: FileTree): Readonly<Record<string, FileEntry>> {
  const entry = (content: Uint8Array): FileEntry => ({
    versionId: '',
    sha256: sha256Hex(content),
    bytes: content.length,
  });
  return Object.fromEntries([...files].map(([path, content]) => [path, entry(content)]));
}

function isBuiltOn(version: number): (manifest: Manifest) => boolean {
  return (manifest) => manifest.parent <= version;
}
