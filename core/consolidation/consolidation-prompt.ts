import type { AgentBudget } from '../agent/agent.ts';
import { renderTemplate, templateParts } from '../extraction/render-template.ts';
import { sha256Hex } from '../ids.ts';
import type { Template } from '../ports/template-store.ts';
import { decodeUtf8 } from '../text.ts';
import { assignStems } from '../workspace/file-stem.ts';
import { ROLLOUT_SUMMARIES_FOLDER } from '../workspace/input-files.ts';
import type { RunInput } from './load-selection.ts';
import type { Manifest } from './manifest.ts';
import { MEMORY_PATH } from './output-paths.ts';
import { REMOVED_FOLDER, type Workspace } from './prepare-workspace.ts';
import { listStale } from './stale-lines.ts';

export interface ConsolidationPrompt {
  /** Equal for every run of one template version, so that the provider's prompt cache hits. */
  readonly instructions: string;
  readonly firstMessage: string;
}

/** Renders the `consolidation` template for a run (prompts.md): what is stable first, what varies as the first message. */
export function renderPrompt(
  template: Template,
  workspace: Workspace,
  selection: readonly RunInput[],
  budget: AgentBudget,
): ConsolidationPrompt {
  const { instructions, message } = splitConsolidation(template);
  const values = {
    mode: workspace.files.has(MEMORY_PATH) ? 'incremental update' : 'first build',
    budget: `${budget.maxTurns} turns, ${budget.maxTokens} tokens in all, ${budget.maxWriteBytes} bytes written`,
    ...describeInputs(workspace, selection),
    stale: listLines(listStale(workspace.files)),
    notes: listLines(workspace.newNotes),
    extensions: listLines(extensionsOf(workspace)),
  };
  return { instructions, firstMessage: renderTemplate({ ...template, text: message }, values) };
}

/** What is needed of the template by who has no tools: how to judge, and the formats. */
export function consolidationRules(template: Template): string {
  return splitConsolidation(template).rules;
}

/** A prompt of somebody else's may have no part for the rules of its own: it then has them among its instructions. */
function splitConsolidation(template: Template): {
  readonly instructions: string;
  readonly rules: string;
  readonly message: string;
} {
  const parts = templateParts(template).map((part) => part.text);
  const [head = '', ...rest] = parts;
  const rules = rest.length > 1 ? (rest[0] ?? '') : '';
  return {
    instructions: rules === '' ? head : `${head}\n${rules}`,
    rules,
    message: (rules === '' ? rest : rest.slice(1)).join('\n'),
  };
}

/**
 * Names a run by all that it starts from, so that a run killed in the middle finds its turns again, and one that starts from
 * anything else does not.
 */
export function nameRun(
  userKey: string,
  base: Manifest | undefined,
  workspace: Workspace,
  setup: { readonly selection: readonly RunInput[]; readonly promptVersion: string; readonly model: string },
): string {
  const inputs = setup.selection.map((input) => [input.threadId, input.sourceUpdatedAt]);
  const start = [userKey, base?.version ?? 0, inputs, workspace.newNotes, setup.promptVersion, setup.model];
  const changes = workspace.changes.map(({ path, before, after }) => [path, hashOf(before), hashOf(after)]);
  return sha256Hex(JSON.stringify([...start, changes]));
}

function hashOf(content: Uint8Array | null): string | null {
  return content === null ? null : sha256Hex(content);
}

export function describeInputs(
  workspace: Workspace,
  selection: readonly RunInput[],
): Record<'added' | 'retained' | 'removed', string> {
  const stems = assignStems(selection);
  const known = new Map(selection.map((input) => [input.threadId, input]));
  const line = (threadId: string): string => {
    const input = known.get(threadId);
    return `rollout_summaries/${stems.get(threadId)}.md (thread_id=${threadId}, project=${input?.project ?? 'unknown'})`;
  };
  return {
    added: listLines(workspace.inputs.added.map(line)),
    retained: listLines(workspace.inputs.retained.map(line)),
    removed: listLines(describeRemoved(workspace)),
  };
}

/** With the file to read where the run has it; one that a person had removed before is named by its thread alone. */
function describeRemoved(workspace: Workspace): readonly string[] {
  const files = new Map<string, string>();
  for (const { status, path, before } of workspace.changes) {
    if (status !== 'D' || !path.startsWith(ROLLOUT_SUMMARIES_FOLDER)) continue;
    const threadId = /^thread_id: (.*)$/m.exec(decodeUtf8(before))?.[1];
    if (threadId !== undefined) files.set(threadId, `${REMOVED_FOLDER}${path}`);
  }
  return workspace.inputs.removed.map((threadId) => {
    const file = files.get(threadId);
    return file === undefined ? `thread_id=${threadId}` : `${file} (thread_id=${threadId})`;
  });
}

function extensionsOf(workspace: Workspace): readonly string[] {
  const folders = [...workspace.files.keys()].flatMap((path) => /^extensions\/[^/]+\//.exec(path)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** One line an item, so that no value can add lines of its own. */
export function listLines(items: readonly string[]): string {
  if (items.length === 0) return '- none';
  return items.map((item) => `- ${item.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')}`).join('\n');
}
