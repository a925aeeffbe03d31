import { DEFAULT_AGENT_BUDGET } from '../agent/agent.ts';
import { decodeUtf8, estimateTokens } from '../text.ts';
import type { ConsolidationPorts, ConsolidationRequest, InputChanges } from './consolidation-ports.ts';
import { renderPrompt } from './consolidation-prompt.ts';
import { loadStart } from './load-start.ts';
import type { ConsolidationWay } from './manifest.ts';
import { renderOncePrompt } from './once-prompt.ts';
import { agentTree } from './prepare-workspace.ts';
import { validateArtifacts } from './validate-artifacts.ts';

/** What a consolidation would be about if it ran now. */
export interface ConsolidationPlan {
  /** The version that it would build on; 0: none yet. */
  readonly version: number;
  readonly inputs: InputChanges;
  /** Paths of notes that no run has taken in. */
  readonly notes: readonly string[];
  /** Files that changed since the last consolidation, those of the inputs included. */
  readonly changedFiles: number;
  /** Null: there is nothing to do, so that neither a call nor a version would be made. */
  readonly way: ConsolidationWay | null;
  readonly model: string;
  /**
   * Estimated tokens, 4 bytes each: what is to be read (once, in one call; by a loop, in pieces, some of them several times),
   * and the most that the run may use before it is stopped. 0 where there is nothing to do.
   */
  readonly tokens: { readonly toRead: number; readonly most: number };
}

export type PlanPorts = Pick<
  ConsolidationPorts,
  'outputs' | 'threads' | 'heads' | 'memories' | 'templates' | 'clock' | 'telemetry'
>;

/**
 * Looks what a consolidation would do, by the very steps with which one begins. Takes no lock, asks no model, writes nothing; a
 * run may meet something else, since others go on meanwhile.
 */
export async function planConsolidation(ports: PlanPorts, request: ConsolidationRequest): Promise<ConsolidationPlan> {
  const head = await ports.heads.read(request.userKey);
  const start = await loadStart(ports, request, head, async () => {});
  const { workspace, selection } = start;
  const about = {
    version: head.version,
    inputs: workspace.inputs,
    notes: workspace.newNotes,
    changedFiles: workspace.changes.length,
    model: request.settings.consolidationModel ?? request.model,
  };
  const isEmpty = selection.length === 0 && workspace.files.size === 0;
  const isClean =
    workspace.changes.length === 0 && validateArtifacts(workspace.files, selection, workspace.files).length === 0;
  if (isEmpty || isClean) return { ...about, way: null, tokens: { toRead: 0, most: 0 } };
  const consolidation = await ports.templates.get('consolidation');
  const limit = request.oneShotTokens ?? 0;
  const once =
    limit === 0
      ? undefined
      : renderOncePrompt(
          { once: await ports.templates.get('consolidation_once'), consolidation },
          workspace,
          selection,
          limit,
        );
  const most = DEFAULT_AGENT_BUDGET.maxTokens;
  if (once !== undefined)
    return {
      ...about,
      way: 'once',
      tokens: { toRead: estimateTokens(once.instructions) + estimateTokens(once.firstMessage), most },
    };
  const { instructions, firstMessage } = renderPrompt(consolidation, workspace, selection, DEFAULT_AGENT_BUDGET);
  const files = [...agentTree(workspace).values()].reduce(
    (sum, content) => sum + estimateTokens(decodeUtf8(content)),
    0,
  );
  return {
    ...about,
    way: 'loop',
    tokens: { toRead: estimateTokens(instructions) + estimateTokens(firstMessage) + files, most },
  };
}
