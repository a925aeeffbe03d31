import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { RAW_MEMORIES_PATH } from '../workspace/input-files.ts';

const THREAD = /^## Thread `(.+)`$/;
const PROJECT = /^project: (.+)$/;

/**
 * The projects that raw memories name beside their thread's own: a task block with a `project:` line was done there, since
 * its session moved between repositories (user case A13).
 * @returns by thread id
 */
export function toldProjects(tree: FileTree): ReadonlyMap<string, readonly string[]> {
  const told = new Map<string, string[]>();
  let projects: string[] = [];
  for (const line of decodeUtf8(tree.get(RAW_MEMORIES_PATH) ?? new Uint8Array()).split('\n')) {
    const threadId = THREAD.exec(line)?.[1];
    if (threadId !== undefined) {
      projects = told.get(threadId) ?? [];
      told.set(threadId, projects);
    }
    const project = PROJECT.exec(line)?.[1]?.trim();
    if (project !== undefined && project !== '') projects.push(project);
  }
  return told;
}
