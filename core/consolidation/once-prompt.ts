import { chooseFence, renderTemplate, templateParts } from '../extraction/render-template.ts';
import type { Template } from '../ports/template-store.ts';
import { compareBytes, decodeUtf8, estimateTokens } from '../text.ts';
import { RAW_MEMORIES_PATH, ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';
import { DIFF_PATH, renderDiffFile } from '../workspace/workspace-diff.ts';
import { type ConsolidationPrompt, consolidationRules, describeInputs, listLines } from './consolidation-prompt.ts';
import type { RunInput } from './load-selection.ts';
import { parseMemoryDocument } from './memory-document.ts';
import { MEMORY_PATH } from './output-paths.ts';
import { agentTree, type Workspace } from './prepare-workspace.ts';
import { listStale } from './stale-lines.ts';

export interface OnceTemplates {
  readonly once: Template;
  readonly consolidation: Template;
}

/**
 * Renders the one call that takes little new material into a memory (docs/decisions/0017-fast-path.md): all files that it needs
 * stand in the message, and no others.
 * @param maxTokens of instructions and message together
 * @returns undefined where the material does not fit: it is work for the loop
 */
export function renderOncePrompt(
  templates: OnceTemplates,
  workspace: Workspace,
  selection: readonly RunInput[],
  maxTokens: number,
): ConsolidationPrompt | undefined {
  const [head, ...rest] = templateParts(templates.once);
  const instructions = `${head.text}\n${consolidationRules(templates.consolidation)}`;
  const message = { ...templates.once, text: rest.map((part) => part.text).join('\n') };
  const paths = pathsOf(workspace);
  if (bytesOf(workspace, paths) / 4 > maxTokens) return undefined;
  const firstMessage = renderTemplate(message, valuesOf(workspace, selection, paths));
  const fits = estimateTokens(instructions) + estimateTokens(firstMessage) <= maxTokens;
  return fits ? { instructions, firstMessage } : undefined;
}

/** Says which texts a run was told with. */
export function oncePromptVersion({ once, consolidation }: OnceTemplates): string {
  return `once-${once.version}+${consolidation.version}`;
}

/** All that the loop could read, but for raw memories: rollout summaries tell more, and the diff holds what is new of them. */
function everyPath(workspace: Workspace): readonly string[] {
  return [...agentTree(workspace).keys()].filter((path) => path !== RAW_MEMORIES_PATH && path !== DIFF_PATH);
}

/**
 * Of the sessions taken in before only those that stand in one task group with something that goes or was changed: to judge what
 * else bears out a statement that loses a source, one has to see the others of its group, and no more than these. Where there is
 * no MEMORY.md that can be read, or lines of it are marked stale, all of them are needed.
 */
function pathsOf(workspace: Workspace): readonly string[] {
  const memory = workspace.files.get(MEMORY_PATH);
  const { document, faults } = parseMemoryDocument(decodeUtf8(memory ?? new Uint8Array()));
  const isWhole = memory !== undefined && faults.length === 0 && listStale(workspace.files).length === 0;
  if (!isWhole) return everyPath(workspace);
  const shown = new Set(workspace.changes.map((change) => change.path));
  const gone = new Set([...workspace.inputs.added, ...workspace.inputs.removed]);
  for (const group of document.groups) {
    const sources = group.tasks.flatMap((task) => task.sources);
    if (sources.some((source) => gone.has(source.threadId))) for (const source of sources) shown.add(source.path);
  }
  return everyPath(workspace).filter((path) => !path.startsWith(ROLLOUT_SUMMARIES_FOLDER) || shown.has(path));
}

function bytesOf(workspace: Workspace, paths: readonly string[]): number {
  const tree = agentTree(workspace);
  return paths.reduce((sum, path) => sum + (tree.get(path)?.length ?? 0), 0);
}

function valuesOf(
  workspace: Workspace,
  selection: readonly RunInput[],
  paths: readonly string[],
): Readonly<Record<string, string>> {
  const tree = agentTree(workspace);
  const shown = new Set(paths);
  const isOutput = (path: string): boolean =>
    !path.startsWith(ROLLOUT_SUMMARIES_FOLDER) && !path.startsWith('extensions/');
  const rest = workspace.changes.filter(({ path, status }) => status === 'D' || isOutput(path) || !shown.has(path));
  const texts = [
    { path: DIFF_PATH, text: renderDiffFile(rest) },
    ...[...paths].sort(byPlace).map((path) => ({ path, text: decodeUtf8(tree.get(path) ?? new Uint8Array()) })),
  ];
  const fence = chooseFence(texts.flatMap(({ path, text }) => [path, text]));
  return {
    mode: workspace.files.has(MEMORY_PATH) ? 'incremental update' : 'first build',
    ...describeInputs(workspace, selection),
    stale: listLines(listStale(workspace.files)),
    notes: listLines(workspace.newNotes),
    fence,
    files: texts
      .map(({ path, text }) => `===== ${fence} file: ${path} =====\n${text}\n===== ${fence} end =====`)
      .join('\n\n'),
  };
}

/** What changes least from run to run first. */
function byPlace(left: string, right: string): number {
  return placeOf(left) - placeOf(right) || compareBytes(left, right);
}

function placeOf(path: string): number {
  const places = ['extensions/', 'skills/', MEMORY_PATH, 'memory_summary.md'];
  const at = places.findIndex((start) => path.startsWith(start));
  return at < 0 ? places.length : at;
}
