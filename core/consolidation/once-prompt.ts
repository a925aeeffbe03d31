import { chooseFence, renderTemplate, templateParts } from '../extraction/render-template.ts';
import type { Template } from '../ports/template-store.ts';
import { compareBytes, decodeUtf8, estimateTokens } from '../text.ts';
import { RAW_MEMORIES_PATH, ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';
import { DIFF_PATH, renderDiffFile } from '../workspace/workspace-diff.ts';
import { type ConsolidationPrompt, consolidationRules, describeInputs, listLines } from './consolidation-prompt.ts';
import type { RunInput } from './load-selection.ts';
import { MEMORY_PATH } from './output-paths.ts';
import { agentTree, type Workspace } from './prepare-workspace.ts';
import { listStale } from './stale-lines.ts';

export interface OnceTemplates {
  readonly once: Template;
  readonly consolidation: Template;
}

/**
 * Renders the one call that takes little new material into a memory (docs/decisions/0017-fast-path.md): all files that it needs
 * stand in the message. Where the sessions that were taken in before do not fit, they are left out, but only if nothing is to be
 * forgotten or changed: what other sessions bear out can then be judged without them.
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
  for (const paths of [everyPath(workspace), fewPaths(workspace)]) {
    if (paths === undefined || bytesOf(workspace, paths) / 4 > maxTokens) continue;
    const firstMessage = renderTemplate(message, valuesOf(workspace, selection, paths));
    if (estimateTokens(instructions) + estimateTokens(firstMessage) <= maxTokens) return { instructions, firstMessage };
  }
  return undefined;
}

/** Says which texts a run was told with. */
export function oncePromptVersion({ once, consolidation }: OnceTemplates): string {
  return `once-${once.version}+${consolidation.version}`;
}

/** All that the loop could read, but for raw memories: rollout summaries tell more, and the diff holds what is new of them. */
function everyPath(workspace: Workspace): readonly string[] {
  return [...agentTree(workspace).keys()].filter((path) => path !== RAW_MEMORIES_PATH && path !== DIFF_PATH);
}

/** Without the sessions that were taken in before. Undefined where something is to be forgotten or was changed. */
function fewPaths(workspace: Workspace): readonly string[] | undefined {
  const added = new Set<string>();
  for (const { status, path } of workspace.changes) {
    if (status === 'D') return undefined;
    if (!path.startsWith(ROLLOUT_SUMMARIES_FOLDER)) continue;
    if (status !== 'A') return undefined;
    added.add(path);
  }
  if (workspace.inputs.removed.length > 0 || listStale(workspace.files).length > 0) return undefined;
  return everyPath(workspace).filter((path) => !path.startsWith(ROLLOUT_SUMMARIES_FOLDER) || added.has(path));
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
