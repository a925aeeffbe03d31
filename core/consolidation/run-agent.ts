import { Agent, type AgentBudget, type AgentEnd } from '../agent/agent.ts';
import { AgentWorkspace } from '../agent/agent-workspace.ts';
import type { ModelAccount, ModelPorts } from '../agent/ask-model.ts';
import type { TokenUsage } from '../agent/token-usage.ts';
import { renderTemplate } from '../extraction/render-template.ts';
import { citedThreads } from '../memory/find-forgotten.ts';
import type { Template } from '../ports/template-store.ts';
import { LIMITS } from '../settings.ts';
import { decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { type ArtifactFault, renderFaults } from './artifact-fault.ts';
import type { ConsolidationPrompt } from './consolidation-prompt.ts';
import type { RunInput } from './load-selection.ts';
import { agentTree, publishedFiles, type Workspace } from './prepare-workspace.ts';
import { checkShrink } from './shrink-guard.ts';
import { MEMORY_PATH, validateArtifacts } from './validate-artifacts.ts';

/** A shrunk result goes back once (DV-19), other faults twice (DV-20). */
const MAX_SHRINK_REPAIRS = 1;

export interface AgentRun {
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
  const agent = new Agent(ports, { ...run, ...run.prompt, workspace });
  let shrinkRepairs = 0;
  for (let repairs = 0; ; repairs++) {
    const end = await agent.run();
    const spent = { turns: agent.turns, usage: agent.usage };
    if (end.kind === 'stopped') return { kind: 'stopped', end, ...spent };
    const files = publishedFiles(workspace.files);
    const invalid = validateArtifacts(files, run.selection, run.workspace.files);
    const shrunk = findShrinkage(run, files, invalid.length === 0);
    const faults = [...invalid, ...shrunk];
    if (faults.length === 0) return { kind: 'passed', files, report: end.report, ...spent };
    const beyondRepair = repairs >= LIMITS.maxRepairs || (shrunk.length > 0 && shrinkRepairs >= MAX_SHRINK_REPAIRS);
    if (beyondRepair) return { kind: 'invalid', faults, ...spent };
    if (shrunk.length > 0) shrinkRepairs++;
    agent.say(renderTemplate(run.repair, { faults: renderFaults(faults) }));
  }
}

/** @param valid where the grammar is broken, citations cannot be counted */
function findShrinkage(run: AgentRun, files: FileTree, valid: boolean): readonly ArtifactFault[] {
  const selected = new Set(run.selection.map((input) => input.threadId));
  const citedBefore = citedThreads(decodeUtf8(run.memoryBefore ?? new Uint8Array())).filter((threadId) =>
    selected.has(threadId),
  );
  const citedAfter = new Set(citedThreads(decodeUtf8(files.get(MEMORY_PATH) ?? new Uint8Array())));
  const verdict = checkShrink({
    bytesBefore: run.memoryBefore?.length ?? 0,
    bytesAfter: files.get(MEMORY_PATH)?.length ?? 0,
    inputsBefore: run.inputsBefore,
    inputsRemoved: run.workspace.inputs.removed.length,
    citedBefore: citedBefore.length,
    citationsLost: valid ? citedBefore.filter((threadId) => !citedAfter.has(threadId)).length : 0,
  });
  if (verdict.kind === 'allowed') return [];
  const of = verdict.measure === 'size' ? 'its length' : 'its sources among the retained inputs';
  return [
    {
      code: 'memory.shrunk',
      place: MEMORY_PATH,
      message: `the file lost ${Math.ceil(verdict.lostPercent)} % of ${of}, at most ${Math.floor(verdict.allowedPercent)} % may go`,
      cure: 'put back what did not rest on removed inputs alone',
    },
  ];
}
