import { Agent, type AgentBudget, type AgentEnd } from '../agent/agent.ts';
import { AgentWorkspace } from '../agent/agent-workspace.ts';
import type { ModelAccount, ModelPorts } from '../agent/ask-model.ts';
import { OnceEditor } from '../agent/once-editor.ts';
import type { TokenUsage } from '../agent/token-usage.ts';
import { renderTemplate } from '../extraction/render-template.ts';
import type { Template } from '../ports/template-store.ts';
import { LIMITS } from '../settings.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { type ArtifactFault, renderFaults } from './artifact-fault.ts';
import type { ConsolidationPrompt } from './consolidation-prompt.ts';
import type { RunInput } from './load-selection.ts';
import type { ConsolidationWay } from './manifest.ts';
import { normaliseArtifacts } from './normalise-artifacts.ts';
import { agentTree, publishedFiles, type Workspace } from './prepare-workspace.ts';
import { findShrinkage } from './shrink-faults.ts';
import { findStale } from './stale-lines.ts';
import { validateArtifacts } from './validate-artifacts.ts';

/** A shrunk result goes back once (DV-19), other faults twice (DV-20). */
const MAX_SHRINK_REPAIRS = 1;

export interface AgentRun {
  readonly way: ConsolidationWay;
  readonly account: ModelAccount;
  readonly model: string;
  readonly prompt: ConsolidationPrompt;
  readonly repair: Template;
  readonly workspace: Workspace;
  readonly selection: readonly RunInput[];
  /** MEMORY.md of the current version, hand edits included; undefined before the first. */
  readonly memoryBefore: Uint8Array | undefined;
  /** Threads that the last consolidation rested on. */
  readonly inputsBefore: number;
  readonly budget: AgentBudget;
  readonly confirmOwnership: () => Promise<boolean>;
}

export type AgentRunEnd = { readonly turns: number; readonly usage: TokenUsage } & (
  | { readonly kind: 'passed'; readonly files: FileTree; readonly report: string }
  | { readonly kind: 'invalid'; readonly faults: readonly ArtifactFault[] }
  | { readonly kind: 'stopped'; readonly end: Extract<AgentEnd, { kind: 'stopped' }> }
);

/**
 * Lets the agent work until its files pass the gates (behaviours 1.J; DV-19, DV-20). Faults go back to it as a message, at
 * most twice. Nothing of a run that does not pass leaves this function.
 */
export async function runConsolidationAgent(ports: ModelPorts, run: AgentRun): Promise<AgentRunEnd> {
  const workspace = new AgentWorkspace(agentTree(run.workspace));
  const task = { ...run, ...run.prompt, workspace };
  const agent = run.way === 'once' ? new OnceEditor(ports, task) : new Agent(ports, task);
  let shrinkRepairs = 0;
  for (let repairs = 0; ; repairs++) {
    const end = await agent.run();
    const spent = { turns: agent.turns, usage: agent.usage };
    if (end.kind === 'stopped') return { kind: 'stopped', end, ...spent };
    const { files, invalid } = judge(run, publishedFiles(workspace.files));
    const shrunk = findShrinkage(run, files, invalid.length === 0);
    const faults = [...invalid, ...shrunk];
    if (faults.length === 0) return { kind: 'passed', files, report: end.report, ...spent };
    const beyondRepair = repairs >= LIMITS.maxRepairs || (shrunk.length > 0 && shrinkRepairs >= MAX_SHRINK_REPAIRS);
    if (beyondRepair) return { kind: 'invalid', faults, ...spent };
    if (shrunk.length > 0) shrinkRepairs++;
    agent.say(renderTemplate(run.repair, { faults: renderFaults(faults) }));
  }
}

/** Faults are told of the files as the agent wrote them; only what has none is brought into its form, and judged once more. */
function judge(run: AgentRun, written: FileTree): { files: FileTree; invalid: readonly ArtifactFault[] } {
  const standing = run.workspace.files;
  const invalid = [...validateArtifacts(written, run.selection, standing), ...findStale(written)];
  if (invalid.length > 0) return { files: written, invalid };
  const files = normaliseArtifacts(written);
  return { files, invalid: validateArtifacts(files, run.selection, standing) };
}
