import type { ProjectPlace } from '../consolidation/manifest.ts';
import { parseMemoryDocument } from '../consolidation/memory-document.ts';
import { compareBytes } from '../text.ts';
import { projectKey } from '../thread/scope.ts';
import { GLOBAL_SCOPE } from './summary-document.ts';

/**
 * The directories that a MEMORY.md knows of and the project each belongs to, in byte order. An agent knows its directory, the
 * memory is filed by repository; this leads from one to the other. A directory that served two projects tells nothing.
 */
export function listPlaces(memoryText: string): readonly ProjectPlace[] {
  const found = new Map<string, Set<string>>();
  for (const group of parseMemoryDocument(memoryText).document.groups) {
    if (group.project === GLOBAL_SCOPE) continue;
    const sources = group.tasks.flatMap((task) => task.sources.map((source) => source.cwd));
    for (const cwd of [group.cwd, ...sources]) {
      const directory = projectKey({ repository: null, cwd });
      if (cwd === '*' || directory === 'unknown') continue;
      found.set(directory, (found.get(directory) ?? new Set()).add(group.project));
    }
  }
  return [...found]
    .flatMap(([directory, projects]) => {
      const [project, other] = projects;
      return project === undefined || other !== undefined ? [] : [{ directory, project }];
    })
    .sort((a, b) => compareBytes(a.directory, b.directory));
}

/** The project of the innermost known directory that is `cwd` or holds it; null where none does. */
export function findPlace(places: readonly ProjectPlace[], cwd: string): string | null {
  const wanted = projectKey({ repository: null, cwd });
  let best: ProjectPlace | undefined;
  for (const place of places) {
    const holds = wanted === place.directory || wanted.startsWith(`${place.directory.replace(/\/$/, '')}/`);
    if (holds && place.directory.length > (best?.directory.length ?? -1)) best = place;
  }
  return best?.project ?? null;
}

/**
 * The scope key of the project that a request names. A directory leads to its project where the memory knows it (`findPlace`). Null where the request names neither repository
 * nor directory, or nothing that can be told apart.
 */
export function findRequestedProject(
  request: { readonly cwd?: string | null | undefined; readonly repository?: string | null | undefined },
  places: readonly ProjectPlace[],
): string | null {
  if (!request.repository && request.cwd) {
    const known = findPlace(places, request.cwd);
    if (known !== null) return known;
  }
  const key = projectKey({ repository: request.repository ?? null, cwd: request.cwd ?? null });
  return key === 'unknown' ? null : key;
}
