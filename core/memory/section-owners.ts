import type { ProjectPlace } from '../consolidation/manifest.ts';
import { parseMemoryDocument } from '../consolidation/memory-document.ts';
import { projectKey } from '../thread/scope.ts';
import { findPlace } from './project-places.ts';
import { GLOBAL_SCOPE, parseSummary } from './summary-document.ts';

/** Whose a line is: the scope key of a project; null: everybody's. */
export type OwnerOf = (line: number) => string | null;

/** What says neither that it is everybody's nor whose it is: in no scope (user case A9). */
const NOBODY = 'unknown';

/**
 * Tells whose the lines of a file of the memory are, as far as its format says: groups of MEMORY.md, topics of the summary,
 * the sections of raw memories and the rollout summaries by their directory. All else is everybody's.
 * @param places the directories that the memory knows
 * @returns by lines from 0
 */
export function findOwners(path: string, text: string, places: readonly ProjectPlace[]): OwnerOf {
  if (path === 'MEMORY.md') return ownersByStart(memoryStarts(text));
  if (path === 'memory_summary.md') return ownersByStart(summaryStarts(text));
  if (path === 'raw_memories.md') return ownersByStart(rawStarts(text, places));
  if (path.startsWith('rollout_summaries/')) {
    const owner = ownerOfCwd(
      /^(?:\w+: .*\n){0,5}?cwd: (.*)$/m.exec(text.slice(0, text.indexOf('\n\n') + 1))?.[1],
      places,
    );
    return () => owner;
  }
  return () => null;
}

interface Start {
  readonly line: number;
  readonly owner: string | null;
}

/** Each line belongs to the last start before it; those before the first are everybody's. */
function ownersByStart(starts: readonly Start[]): OwnerOf {
  return (line) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((starts[middle]?.line ?? 0) <= line) low = middle + 1;
      else high = middle;
    }
    return starts[low - 1]?.owner ?? null;
  };
}

function memoryStarts(text: string): Start[] {
  return parseMemoryDocument(text).document.groups.map(({ line, project }) => ({
    line: line - 1,
    owner: project === GLOBAL_SCOPE ? null : project || NOBODY,
  }));
}

function summaryStarts(text: string): Start[] {
  return parseSummary(text).document.blocks.map(({ line, project, older, kind }) => {
    const isOrphan = project === null && older && kind !== 'heading';
    return { line: line - 1, owner: isOrphan ? NOBODY : project === GLOBAL_SCOPE ? null : project };
  });
}

/** `## Thread …` counts only with the line that always follows it: the text of a memory may hold such a heading too. */
function rawStarts(text: string, places: readonly ProjectPlace[]): Start[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (!/^## Thread `[^`]+`$/.test(line) || !lines[at + 1]?.startsWith('updated_at: ')) return [];
    return [{ line: at, owner: ownerOfCwd(/^cwd: (.*)$/.exec(lines[at + 2] ?? '')?.[1], places) }];
  });
}

function ownerOfCwd(cwd: string | undefined, places: readonly ProjectPlace[]): string {
  if (cwd === undefined || cwd === 'unknown') return NOBODY;
  return findPlace(places, cwd) ?? projectKey({ repository: null, cwd });
}
