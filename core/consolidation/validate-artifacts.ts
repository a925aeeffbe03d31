import { parseSummary } from '../memory/summary-document.ts';
import { redact } from '../rollout/redact.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8, decodeUtf8Strict } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { isWorkspacePath } from '../workspace/workspace-path.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import { type MemoryDocument, parseMemoryDocument, type TaskGroup } from './memory-document.ts';
import type { DocumentFault } from './memory-grammar.ts';
import type { SourceLine } from './source-line.ts';
import { findSummaryFaults } from './summary-grammar.ts';
import { findTextFaults } from './text-gate.ts';
import { toldProjects } from './told-projects.ts';
import { validateSkills } from './validate-skills.ts';

export const MEMORY_PATH = 'MEMORY.md';
export const SUMMARY_PATH = 'memory_summary.md';

/** A thread that the memory may rest on, with the project that it belongs to. */
export interface KnownInput {
  readonly threadId: string;
  readonly project: string;
  /** The directory it worked in. */
  readonly cwd?: string | null;
}

/**
 * The gates that a memory passes before it is published (behaviours 1.J, DV-20): grammar and first lines, citations that
 * exist, nothing secret, no text that commands its reader, sizes, paths. The inputs are taken as they are; only the outputs
 * are judged.
 *
 * @param inputs the threads of the selection; without any, MEMORY.md may hold no task group
 * @param standing the files of the current version: their lines passed when they came, or a person wrote them, and are not
 *   judged again as text
 * @returns every fault, in the order of the files; empty: fit to publish
 */
export function validateArtifacts(
  tree: FileTree,
  inputs: readonly KnownInput[],
  standing: FileTree = new Map(),
): readonly ArtifactFault[] {
  return [
    ...validatePaths(tree),
    ...validateMemory(tree, inputs),
    ...validateSummary(tree),
    ...validateSkills(tree),
    ...findSecrets(tree),
    ...validateTexts(tree, inputs, standing),
  ];
}

/** True for a file that the agent makes. */
export function isOutput(path: string): boolean {
  return path === MEMORY_PATH || path === SUMMARY_PATH || path.startsWith('skills/');
}

function validatePaths(tree: FileTree): readonly ArtifactFault[] {
  return [...tree.keys()]
    .filter((path) => !isWorkspacePath(path))
    .map((place) => ({
      code: 'path.invalid',
      place,
      message: 'the path may not be published',
      cure: 'delete the file',
    }));
}

function validateMemory(tree: FileTree, inputs: readonly KnownInput[]): readonly ArtifactFault[] {
  const read = readOutput(tree, MEMORY_PATH, LIMITS.memoryFileBytes);
  if (read.text === undefined) return read.faults;
  const { document, faults } = parseMemoryDocument(read.text);
  const grammar = faults
    .filter((fault) => inputs.length > 0 || fault.code !== 'memory.no_group')
    .map((fault) => at(MEMORY_PATH, fault));
  return [...read.faults, ...grammar, ...validateSources(document, tree, inputs)];
}

/**
 * Every claim traces to a rollout summary that exists, of a thread that was selected, in the project it is filed under: the
 * thread's own, or one that its raw memory names for a task (A13).
 */
function validateSources(
  document: MemoryDocument,
  tree: FileTree,
  inputs: readonly KnownInput[],
): readonly ArtifactFault[] {
  const told = toldProjects(tree);
  const projects = new Map(
    inputs.map(({ threadId, project }) => [threadId, [project, ...(told.get(threadId) ?? [])]] as const),
  );
  return document.groups.flatMap((group) => {
    const sources = group.tasks.flatMap((task) => task.sources);
    return [
      ...sources.flatMap((source) => validateSource(source, tree, projects)),
      ...validateProject(group, sources, projects),
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
  const head = /^thread_id: (.*)$/m.exec(decodeUtf8Strict(content) ?? '')?.[1];
  if (head === source.threadId) return [];
  const message = 'the thread id is not that of the cited file';
  return [{ code: 'source.other_thread', place, message, cure: 'copy the thread_id from the head of the file' }];
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

function validateSummary(tree: FileTree): readonly ArtifactFault[] {
  const read = readOutput(tree, SUMMARY_PATH, LIMITS.summaryFileBytes);
  if (read.text === undefined) return read.faults;
  const faults = findSummaryFaults(parseSummary(read.text)).map((fault) => at(SUMMARY_PATH, fault));
  return [...read.faults, ...faults];
}

function at(path: string, { code, line, message, cure }: DocumentFault): ArtifactFault {
  return { code, place: `${path}:${line}`, message, cure };
}

function findSecrets(tree: FileTree): readonly ArtifactFault[] {
  return [...tree].flatMap(([path, content]) => {
    const text = isOutput(path) ? decodeUtf8Strict(content) : undefined;
    if (text === undefined) return [];
    const clean = redact(text);
    if (clean === text) return [];
    const cleanLines = clean.split('\n');
    const line = 1 + text.split('\n').findIndex((content, at) => content !== cleanLines[at]);
    const message = 'something that looks like a secret';
    return [{ code: 'file.secret', place: `${path}:${line}`, message, cure: 'write `[REDACTED_SECRET]` in its place' }];
  });
}

function validateTexts(tree: FileTree, inputs: readonly KnownInput[], standing: FileTree): readonly ArtifactFault[] {
  const known = new Set(inputs.flatMap((input) => [input.project, input.cwd ?? '']));
  return [...tree].flatMap(([path, content]) => {
    const text = isOutput(path) ? decodeUtf8Strict(content) : undefined;
    if (text === undefined) return [];
    const before = standing.get(path);
    const lines = before === undefined ? [] : decodeUtf8(before).split('\n');
    return findTextFaults(path, text, { standing: new Set(lines.map((line) => line.trim())), known });
  });
}

function readOutput(
  tree: FileTree,
  path: string,
  limit: number,
): { readonly text: string | undefined; readonly faults: readonly ArtifactFault[] } {
  const content = tree.get(path);
  const fault = (code: string, message: string, cure: string): ArtifactFault => ({ code, place: path, message, cure });
  if (content === undefined)
    return { text: undefined, faults: [fault('file.missing', 'the file is missing', 'write it')] };
  const text = decodeUtf8Strict(content);
  if (text === undefined)
    return { text, faults: [fault('file.not_text', 'the file is not UTF-8 text', 'write it anew')] };
  if (content.length <= limit) return { text, faults: [] };
  const size = `the file has ${content.length} bytes, ${limit} are allowed`;
  return { text, faults: [fault('file.too_large', size, 'shorten it: what is least used goes first')] };
}
