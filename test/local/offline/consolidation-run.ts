import { join } from 'node:path';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import { AgentWorkspace } from '../../../core/agent/agent-workspace.ts';
import { dropOldResults, estimateConversation } from '../../../core/agent/conversation.ts';
import { runToolCalls } from '../../../core/agent/tool-call.ts';
import { renderTemplate, templateParts } from '../../../core/extraction/render-template.ts';
import type { ModelItem } from '../../../core/ports/model-client.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { assignStems } from '../../../core/workspace/file-stem.ts';
import type { FileTree } from '../../../core/workspace/file-tree.ts';
import { syncInputs, type WorkspaceInput } from '../../../core/workspace/input-files.ts';
import { DIFF_PATH, diffTrees, renderDiffFile } from '../../../core/workspace/workspace-diff.ts';
import { nextCalls } from '../../../local/offline/consolidation-agent.ts';
import type { Turn } from '../../../local/offline/wire.ts';

export interface TestInput extends WorkspaceInput {
  readonly project: string;
}

/** A memory as one run left it. */
export interface Version {
  readonly files: FileTree;
  readonly inputs: readonly TestInput[];
}

export interface RunResult extends Version {
  readonly turns: number;
  readonly tokens: number;
  readonly memory: string;
  readonly summary: string;
  readonly calls: readonly string[];
}

export const NO_VERSION: Version = { files: new Map(), inputs: [] };

interface Talk {
  readonly workspace: AgentWorkspace;
  items: readonly ModelItem[];
  turns: number;
  tokens: number;
  readonly calls: string[];
}

/**
 * Lets the stand-in agent work on a workspace as the real loop does: same tools, same dropping of old results, same first
 * message, which is rendered from the real template.
 *
 * @param edited files of the base that a person changed since the last run
 * @param repairs how often a repair message follows its `finish`
 */
export async function runOffline(
  base: Version,
  inputs: readonly TestInput[],
  options: { readonly edited?: FileTree; readonly repairs?: number } = {},
): Promise<RunResult> {
  const current = new Map([...base.files, ...(options.edited ?? [])]);
  const files = syncInputs(current, inputs);
  const changes = diffTrees(base.files, files);
  const tree = new Map(files);
  for (const change of changes) if (change.status === 'D') tree.set(`removed/${change.path}`, change.before);
  tree.set(DIFF_PATH, encodeUtf8(renderDiffFile(changes)));
  const text = await firstMessage(base, inputs, files);
  const talk: Talk = {
    workspace: new AgentWorkspace(tree),
    items: [{ kind: 'message', role: 'user', text }],
    turns: 0,
    tokens: 0,
    calls: [],
  };
  await untilFinish(talk);
  for (let repair = 0; repair < (options.repairs ?? 0); repair++) {
    talk.items = [...talk.items, { kind: 'message', role: 'user', text: 'These checks failed: MEMORY.md:1 …' }];
    await untilFinish(talk);
  }
  const published = new Map(
    [...talk.workspace.files].filter(([path]) => path !== DIFF_PATH && !path.startsWith('removed/')),
  );
  const read = (path: string): string => decodeUtf8(published.get(path) ?? new Uint8Array());
  return {
    files: published,
    inputs,
    turns: talk.turns,
    tokens: talk.tokens,
    memory: read('MEMORY.md'),
    summary: read('memory_summary.md'),
    calls: talk.calls,
  };
}

async function untilFinish(talk: Talk): Promise<void> {
  let last = 0;
  for (;;) {
    if (++talk.turns > LIMITS.agentMaxTurns) throw new Error('too many turns');
    talk.items = dropOldResults(talk.items, LIMITS.agentConversationTokens, last);
    talk.tokens += estimateConversation(talk.items);
    const calls = nextCalls(talk.items.flatMap(toTurn)).map((call, at) => ({
      callId: `call_${talk.turns}_${at}`,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    }));
    talk.calls.push(...calls.map((call) => `${call.name} ${String(JSON.parse(call.arguments).path ?? '')}`.trim()));
    const results = await runToolCalls(calls, talk.workspace);
    const added = [
      ...calls.map((call) => ({ kind: 'tool_call' as const, ...call })),
      ...results.map(({ callId, text }) => ({ kind: 'tool_result' as const, callId, text })),
    ];
    last = added.length;
    talk.items = [...talk.items, ...added];
    if (results.some((result) => result.report !== undefined)) return;
  }
}

function toTurn(item: ModelItem): Turn[] {
  if (item.kind === 'message') return [item];
  if (item.kind === 'tool_call') return [{ ...item, kind: 'call' }];
  return item.kind === 'tool_result' ? [{ ...item, kind: 'result' }] : [];
}

async function firstMessage(base: Version, inputs: readonly TestInput[], files: FileTree): Promise<string> {
  const template = await new FilesTemplateStore(join(import.meta.dirname, '../../../layers/templates')).get(
    'consolidation',
  );
  const stems = assignStems(inputs);
  const before = new Map(base.inputs.map((input) => [input.threadId, input.sourceUpdatedAt]));
  const line = (input: TestInput): string =>
    `- rollout_summaries/${stems.get(input.threadId)}.md (thread_id=${input.threadId}, project=${input.project})`;
  const isRetained = (input: TestInput): boolean => before.get(input.threadId) === input.sourceUpdatedAt;
  const list = (lines: readonly string[]): string => (lines.length === 0 ? '- none' : lines.join('\n'));
  const removed = base.inputs.filter((input) => !inputs.some((other) => other.threadId === input.threadId));
  const notes = [...files.keys()].filter(
    (path) => path.startsWith('extensions/ad_hoc/notes/') && !base.files.has(path),
  );
  const run = templateParts(template)
    .slice(1)
    .map((part) => part.text);
  return renderTemplate(
    { ...template, text: run.join('\n') },
    {
      mode: base.files.has('MEMORY.md') ? 'incremental update' : 'first build',
      budget: '120 turns',
      added: list(inputs.filter((input) => !isRetained(input)).map(line)),
      retained: list(inputs.filter(isRetained).map(line)),
      removed: list(removed.map((input) => `- thread_id=${input.threadId}`)),
      stale: '- none',
      notes: list(notes.map((path) => `- ${path}`)),
      extensions: '- none',
    },
  );
}
