import { parseSummary } from '../memory/summary-document.ts';
import { redact } from '../rollout/redact.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8, decodeUtf8Strict } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { isWorkspacePath } from '../workspace/workspace-path.ts';
import type { ArtifactFault } from './artifact-fault.ts';
import { parseMemoryDocument } from './memory-document.ts';
import type { DocumentFault } from './memory-grammar.ts';
import { isOutput, MEMORY_PATH, SUMMARY_PATH } from './output-paths.ts';
import { findUnreachable } from './reachability.ts';
import { findSummaryFaults } from './summary-grammar.ts';
import { findTextFaults } from './text-gate.ts';
import { toldProjects } from './told-projects.ts';
import { validateSkills } from './validate-skills.ts';
import { type KnownInput, validateSources } from './validate-sources.ts';

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
  const faults = [
    ...validatePaths(tree),
    ...validateMemory(tree, inputs, standing),
    ...validateSummary(tree),
    ...validateReach(tree, inputs),
    ...validateSkills(tree),
    ...findSecrets(tree),
    ...validateTexts(tree, inputs, standing),
  ];
  return faults.map((fault) => ({ ...fault, place: redact(fault.place) })); // names of files are the agent's words, too
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

function validateMemory(tree: FileTree, inputs: readonly KnownInput[], standing: FileTree): readonly ArtifactFault[] {
  const read = readOutput(tree, MEMORY_PATH, LIMITS.memoryFileBytes);
  if (read.text === undefined) return read.faults;
  const { document, faults } = parseMemoryDocument(read.text);
  const grammar = faults
    .filter((fault) => inputs.length > 0 || fault.code !== 'memory.no_group')
    .map((fault) => at(MEMORY_PATH, fault));
  return [...read.faults, ...grammar, ...validateSources(document, tree, inputs, standing)];
}

function validateSummary(tree: FileTree): readonly ArtifactFault[] {
  const read = readOutput(tree, SUMMARY_PATH, LIMITS.summaryFileBytes);
  if (read.text === undefined) return read.faults;
  const faults = findSummaryFaults(parseSummary(read.text)).map((fault) => at(SUMMARY_PATH, fault));
  return [...read.faults, ...faults];
}

/** Where a file cannot be read as what it is, its own faults come first. */
function validateReach(tree: FileTree, inputs: readonly KnownInput[]): readonly ArtifactFault[] {
  const memory = parseMemoryDocument(decodeUtf8(tree.get(MEMORY_PATH) ?? new Uint8Array()));
  const summary = parseSummary(decodeUtf8(tree.get(SUMMARY_PATH) ?? new Uint8Array()));
  if (memory.faults.length > 0 || findSummaryFaults(summary).length > 0) return [];
  const projects = new Set([...inputs.map((input) => input.project), ...[...toldProjects(tree).values()].flat()]);
  return findUnreachable(tree, memory.document, summary.document, projects);
}

function at(path: string, { code, line, message, cure }: DocumentFault): ArtifactFault {
  return { code, place: `${path}:${line}`, message, cure };
}

function findSecrets(tree: FileTree): readonly ArtifactFault[] {
  const message = 'something that looks like a secret';
  const cure = 'write `[REDACTED_SECRET]` in its place';
  return [...tree].flatMap(([path, content]) => {
    const text = isOutput(path) ? decodeUtf8Strict(content) : undefined;
    if (text === undefined) return [];
    if (redact(path) !== path)
      return [
        {
          code: 'file.secret',
          place: redact(path),
          message: 'a name that looks like a secret',
          cure: 'delete the file',
        },
      ];
    const clean = redact(text);
    if (clean === text) return [];
    const cleanLines = clean.split('\n');
    const line = 1 + text.split('\n').findIndex((content, at) => content !== cleanLines[at]);
    return [{ code: 'file.secret', place: `${path}:${line}`, message, cure }];
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
