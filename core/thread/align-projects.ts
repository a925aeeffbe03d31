import { projectKey } from './scope.ts';
import type { Thread } from './thread.ts';

/** A thread whose repository became known from another thread. */
export interface ProjectAlignment {
  readonly threadId: string;
  readonly repository: string;
  readonly project: string;
}

/**
 * Some agents record the repository's remote and some only the directory. Where every thread of a directory that names a remote
 * names the same one, the others of that directory belong to it too, so that one repository used from two agents is one
 * project (user case B32). Where the remotes differ, the directory was reused and nothing is concluded.
 */
export function alignProjects(threads: readonly Thread[]): readonly ProjectAlignment[] {
  const remotes = new Map<string, Map<string, string>>();
  for (const { cwd, repository } of threads) {
    if (cwd === null || repository === null) continue;
    const place = projectKey({ repository: null, cwd });
    const known = remotes.get(place) ?? new Map<string, string>();
    remotes.set(place, known.set(projectKey({ repository, cwd }), repository));
  }
  return threads.flatMap(({ threadId, cwd, repository }) => {
    if (cwd === null || repository !== null) return [];
    const [only, ...others] = remotes.get(projectKey({ repository: null, cwd })) ?? [];
    return only === undefined || others.length > 0 ? [] : [{ threadId, project: only[0], repository: only[1] }];
  });
}
