import type { AgentBudget } from '../agent/agent.ts';
import type { ModelPorts } from '../agent/ask-model.ts';
import { addUsage, NO_USAGE } from '../agent/token-usage.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import { nameRun, renderPrompt } from './consolidation-prompt.ts';
import type { RunStart } from './load-start.ts';
import type { ConsolidationWay } from './manifest.ts';
import { oncePromptVersion, renderOncePrompt } from './once-prompt.ts';
import { type AgentRun, type AgentRunEnd, runConsolidationAgent } from './run-agent.ts';

export interface MemoryEdit {
  readonly userKey: string;
  /** Tokens of the user's day (DV-21). */
  readonly dailyTokenBudget: number;
  readonly model: string;
  readonly start: RunStart;
  readonly budget: AgentBudget;
  readonly confirmOwnership: () => Promise<boolean>;
  /** Most tokens of material for the one-shot way; 0: always the loop. */
  readonly oneShotTokens: number;
}

export interface EditedMemory {
  readonly end: AgentRunEnd;
  /** Names the steps of the run. */
  readonly runId: string;
  readonly promptVersion: string;
  readonly way: ConsolidationWay;
}

/**
 * Has a model work what changed into the memory, until it passes the gates or gives up: in one call where the material is small
 * (docs/decisions/0017-fast-path.md), else, or where one answer cannot hold it, in a loop of tool calls. All that comes of it follows from the
 * start, the templates and the answers that its steps give: a replay calls this very function with answers that were kept.
 */
export async function editMemory(
  ports: ModelPorts & { readonly templates: TemplateStore },
  edit: MemoryEdit,
): Promise<EditedMemory> {
  const { userKey, dailyTokenBudget, model, start, budget, confirmOwnership } = edit;
  const { selection, workspace } = start;
  const template = await ports.templates.get('consolidation');
  const nameIt = (promptVersion: string): string =>
    nameRun(userKey, start.base, workspace, { selection, promptVersion, model });
  const take = async (way: ConsolidationWay, runId: string, prompt: AgentRun['prompt'], left: AgentBudget) =>
    runConsolidationAgent(ports, {
      way,
      account: { userKey, runId, dailyTokenBudget },
      model,
      prompt,
      repair: await ports.templates.get('repair'),
      ...start,
      budget: left,
      confirmOwnership,
    });

  const runId = nameIt(template.version);
  let spent: Pick<AgentRunEnd, 'turns' | 'usage'> = { turns: 0, usage: NO_USAGE };
  if (edit.oneShotTokens > 0) {
    const templates = { once: await ports.templates.get('consolidation_once'), consolidation: template };
    const prompt = renderOncePrompt(templates, workspace, selection, edit.oneShotTokens);
    if (prompt !== undefined) {
      const end = await take('once', runId, prompt, budget);
      if (!isTooMuch(end)) return { end, runId, promptVersion: oncePromptVersion(templates), way: 'once' };
      spent = end;
    }
  }
  const left = {
    ...budget,
    maxTurns: budget.maxTurns - spent.turns,
    maxTokens: budget.maxTokens - spent.usage.totalTokens,
  };
  const end = await take('loop', runId, renderPrompt(template, workspace, selection, left), left);
  const whole = { ...end, turns: end.turns + spent.turns, usage: addUsage(spent.usage, end.usage) };
  return { end: whole, runId, promptVersion: template.version, way: 'loop' };
}

/** One answer cannot hold it: the loop takes it in pieces. */
function isTooMuch(end: AgentRunEnd): boolean {
  return end.kind === 'stopped' && (end.end.code === 'model.too_long' || end.end.code === 'model.incomplete');
}
