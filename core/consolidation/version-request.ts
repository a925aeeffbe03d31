import type { TokenUsage } from '../agent/token-usage.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { RunStart } from './load-start.ts';
import type { ConsolidationWay } from './manifest.ts';
import type { PublishRequest } from './publish.ts';

/** What a run made of its start. */
export interface MadeFiles {
  readonly files: FileTree;
  readonly model: string;
  readonly promptVersion: string;
  /** Of all passes of the run. */
  readonly tokenUsage: TokenUsage;
  readonly turns: number;
  readonly way: ConsolidationWay;
  /** ms. */
  readonly now: number;
}

/** The version that a run asks for. Publishing and replaying a run come here, so that both make the same one. */
export function requestConsolidated(
  start: RunStart,
  made: MadeFiles,
): Omit<PublishRequest, 'userKey' | 'base' | 'fence'> {
  return {
    reason: 'consolidation',
    actor: 'consolidation',
    inputs: start.selection,
    removed: start.workspace.inputs.removed,
    notesConsumed: [...(start.base?.notesConsumed ?? []), ...start.workspace.newNotes],
    ...made,
  };
}
