import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import type { MemoryDocument, TaskGroup } from './memory-document.ts';
import { MEMORY_PATH } from './output-paths.ts';
import { readSourceHead } from './source-head.ts';
import type { SourceLine } from './source-line.ts';
import { toldProjects } from './told-projects.ts';

/** A thread that the memory may rest on, with the project that it belongs to. */
export interface KnownInput {
  readonly threadId: string;
  readonly project: string;
  /** The directory it worked in. */
  readonly cwd?: string | null;
}

/**
 * Every claim traces to a rollout summary that exists, of a thread that was selected, in the project it is filed under: the
 * thread's own, or one that its raw memory names for a task (A13).
 */
export function validateSources(
  document: MemoryDocument,
  tree: FileTree,
  inputs: readonly KnownInput[],
  standing: FileTree,
): readonly ArtifactFault[] {
  const told = toldProjects(tree);
  const projects = new Map(
    inputs.map(({ threadId, project }) => [threadId, [project, ...(told.get(threadId) ?? [])]] as const),
  );
  const hasNotes = [...tree.keys()].some(
    (path) => path.startsWith('extensions/') && !path.endsWith('/instructions.md'),
  );
  const before = decodeUtf8(standing.get(MEMORY_PATH) ?? new Uint8Array());
  return document.groups.flatMap((group) => {
    const sources = group.tasks.flatMap((task) => task.sources);
    return [
      ...sources.flatMap((source) => validateSource(source, tree, projects)),
      ...validateProject(group, sources, projects),
      ...(hasNotes ? [] : validateNotes(group, before)),
    ];
  });
}

function validateSource(
  source: SourceLine,
  tree: FileTree,
  projects: ReadonlyMap<string, readonly string[]>,
): readonly ArtifactFault[] {
  const place = `${MEMORY_PATH}:${source.line}`;
  const remove = 'cite an existing file with the values at its head, or remove the line and what rested on it alone';
  const content = tree.get(source.path);
  if (content === undefined)
    return [{ code: 'source.no_file', place, message: 'the cited rollout summary does not exist', cure: remove }];
  if (!projects.has(source.threadId))
    return [{ code: 'source.unknown_thread', place, message: 'the thread id is none of the inputs', cure: remove }];
  if (readSourceHead(content)?.threadId === source.threadId) return [];
  const message = 'the thread id is not that of the cited file';
  return [{ code: 'source.other_thread', place, message, cure: 'copy the thread_id from the head of the file' }];
}

/** A bullet that rests on a note alone needs one, unless a person wrote its words into the memory. */
function validateNotes(group: TaskGroup, before: string): readonly ArtifactFault[] {
  const bullets = Object.values(group.bullets).flat();
  return bullets
    .filter((bullet) => bullet.fromNote && bullet.tasks.length === 0)
    .filter(({ text }) => !before.includes(text) && !before.includes(withoutRemark(text)))
    .map((bullet) => ({
      code: 'source.no_note',
      place: `${MEMORY_PATH}:${bullet.line}`,
      message: 'the bullet rests on a note, and there is none',
      cure: 'end it with the `[Task <n>]` that it rests on, or remove it',
    }));
}

/** Text without what stands in brackets at its end. */
function withoutRemark(text: string): string {
  const open = text.endsWith(')') ? text.lastIndexOf(' (') : -1;
  return open < 0 ? text : text.slice(0, open);
}

function validateProject(
  group: TaskGroup,
  sources: readonly SourceLine[],
  projects: ReadonlyMap<string, readonly string[]>,
): readonly ArtifactFault[] {
  const known = new Set(sources.flatMap((source) => projects.get(source.threadId) ?? []));
  if (group.project === '' || group.project === 'global' || known.size === 0 || known.has(group.project)) return [];
  return [
    {
      code: 'memory.foreign_project',
      place: `${MEMORY_PATH}:${group.line}`,
      message: 'the group is filed under a project that none of its sources belongs to',
      cure: 'copy the project of its sources from the list of inputs, or write project=global if it rests on several and holds in all',
    },
  ];
}
