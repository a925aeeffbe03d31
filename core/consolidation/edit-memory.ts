import type { AgentBudget } from '../agent/agent.ts';
import type { ModelPorts } from '../agent/ask-model.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import { nameRun, renderPrompt } from './consolidation-prompt.ts';
import type { RunStart } from './load-start.ts';
import { type AgentRunEnd, runConsolidationAgent } from './run-agent.ts';

export interface MemoryEdit {
  readonly userKey: string;
  /** Tokens of the user's day (DV-21). */
  readonly dailyTokenBudget: number;
  readonly model: string;
  readonly start: RunStart;
  readonly budget: AgentBudget;
  readonly confirmOwnership: () => Promise<boolean>;
}

export interface EditedMemory {
  readonly end: AgentRunEnd;
  /** Names the steps of the run. */
  readonly runId: string;
  readonly promptVersion: string;
}

/**
 * Has a model work what changed into the memory, until it passes the gates or gives up. All that comes of it follows from the
 * start, the templates and the answers that its steps give: a replay calls this very function with answers that were kept.
 */
export async function editMemory(
  ports: ModelPorts & { readonly templates: TemplateStore },
  edit: MemoryEdit,
): Promise<EditedMemory> {
  const { userKey, dailyTokenBudget, model, start, budget, confirmOwnership } = edit;
  const template = await ports.templates.get('consolidation');
  const { selection } = start;
  const runId = nameRun(userKey, start.base, start.workspace, { selection, promptVersion: template.version, model });
  const end = await runConsolidationAgent(ports, {
    account: { userKey, runId, dailyTokenBudget },
    model,
    prompt: renderPrompt(template, start.workspace, selection, budget),
    repair: await ports.templates.get('repair'),
    ...start,
    budget,
    confirmOwnership,
  });
  return { end, runId, promptVersion: template.version };
}
