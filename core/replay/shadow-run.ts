import type { ModelPorts } from '../agent/ask-model.ts';
import type { TokenUsage } from '../agent/token-usage.ts';
import { editMemory } from '../consolidation/edit-memory.ts';
import { readTree } from '../consolidation/prepare-workspace.ts';
import type { Draft } from '../consolidation/publish.ts';
import { DefectError, InvalidInputError } from '../errors.ts';
import type { Template, TemplateStore } from '../ports/template-store.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import { diffTrees, renderUnifiedDiff } from '../workspace/workspace-diff.ts';
import { type KeptRun, openRun, type ReplayPorts, requireSameTemplates } from './open-run.ts';
import { placeVersion } from './place-version.ts';
import { rebuildStart } from './rebuild-start.ts';
import { reasonOf } from './replay-version.ts';

/** What a shadow run touches: beside what a replay reads, a model and the ledger. Nothing that publishes. */
export type ShadowPorts = ReplayPorts & ModelPorts;

export interface ShadowRequest {
  readonly userKey: string;
  readonly version: number;
  /** Null: the one that made the version. */
  readonly model: string | null;
  /** In the place of the template `consolidation`; null: its text as it is. */
  readonly prompt: string | null;
  /** Tokens of the user's day (DV-21): a shadow run is paid like any other. */
  readonly dailyTokenBudget: number;
}

export interface Shadow {
  readonly version: number;
  readonly model: string;
  /** What it came to. Only a run that `passed` has files to compare. */
  readonly end: 'passed' | 'invalid' | 'stopped';
  /** Null where it passed; else a code, and what there is to say without content. */
  readonly reason: { readonly code: string; readonly detail: string } | null;
  /** Unified diff from the version to what the shadow run made; empty: the same files. Null where it did not pass. */
  readonly diff: string | null;
  readonly turns: number;
  readonly usage: TokenUsage;
  /** What the version itself cost. */
  readonly original: { readonly model: string | null; readonly turns: number; readonly usage: TokenUsage };
}

/**
 * Runs a consolidation again over the inputs of a version, with another model or prompt, and compares what comes out with that
 * version. Every call is reserved in the ledger first. Publishes nothing and keeps nothing: all that a shadow run leaves is its
 * cost.
 * @throws InvalidInputError `replay.prompt_invalid`, before any call; what `openRun`, `requireSameTemplates` and `rebuildStart` throw
 */
export async function shadowRun(ports: ShadowPorts, request: ShadowRequest): Promise<Shadow> {
  const { userKey, version, prompt, dailyTokenBudget } = request;
  const run = await openRun(ports, userKey, version);
  await requireSameTemplates(ports.templates, run, prompt === null ? [] : ['consolidation']);
  const start = await rebuildStart(ports.memories, run);
  const model = request.model ?? run.record.model;
  const templates = prompt === null ? ports.templates : withPrompt(ports.templates, prompt);
  const { end, promptVersion, way } = await editMemory(
    { ...ports, templates },
    {
      userKey,
      dailyTokenBudget,
      model,
      start,
      budget: { ...run.record.budget, deadline: null },
      // A prompt of somebody else's is that of the loop.
      oneShotTokens: prompt === null ? (run.record.oneShotTokens ?? 0) : 0,
      confirmOwnership: async () => true, // it holds nothing that could be lost
    },
  ).catch((error: unknown) => {
    throw prompt === null ? error : explainPrompt(error);
  });
  const passed = end.kind === 'passed';
  const made = { usage: end.usage, turns: end.turns, way, promptVersion, model };
  return {
    version,
    model,
    end: end.kind,
    reason: passed ? null : reasonOf(end),
    diff: passed ? await diffFrom(ports, run, await placeOver(ports, run, start, { ...made, files: end.files })) : null,
    turns: end.turns,
    usage: end.usage,
    original: { model: run.manifest.model, turns: run.record.answers.length, usage: run.manifest.tokenUsage },
  };
}

/** The files as they would stand in the version's place, with what others changed while its run was at work. */
async function placeOver(
  ports: ShadowPorts,
  run: KeptRun,
  start: Parameters<typeof placeVersion>[2],
  made: Parameters<typeof placeVersion>[3],
): Promise<FileTree> {
  const draft = await placeVersion(ports.memories, run, start, made);
  if (draft === undefined) return made.files; // not mergeable by path: the run's own files are what there is to see
  const theirs = othersOf(draft, run);
  const kept = await readTree(ports.memories, run.userKey, { files: theirs });
  const own = [...made.files].filter(([path]) => draft.files[path] !== undefined);
  return new Map([...own, ...kept]);
}

/** Entries that came from the store: the run's own have no name there. */
function othersOf(draft: Draft, { manifest }: KeptRun): Draft['files'] {
  const names = Object.entries(draft.files).filter(([, entry]) => entry.versionId !== '');
  return Object.fromEntries(names.map(([path, entry]) => [path, manifest.files[path] ?? entry]));
}

async function diffFrom(ports: ShadowPorts, { userKey, manifest }: KeptRun, files: FileTree): Promise<string> {
  return renderUnifiedDiff(diffTrees(await readTree(ports.memories, userKey, manifest), files));
}

const VERSION_LINE = /^<!-- stillroom template: \w+, version: ([\w.-]+) -->\r?\n/;

/** The first line may be that of a template file, and is then no part of the prompt. */
function withPrompt(templates: TemplateStore, prompt: string): TemplateStore {
  const line = VERSION_LINE.exec(prompt);
  const text = prompt.slice(line?.[0].length ?? 0);
  const mine: Template = { name: 'consolidation', version: line?.[1] ?? 'file', text };
  return { get: async (name) => (name === 'consolidation' ? mine : templates.get(name)) };
}

/** A template of ours that is wrong is our fault; this one is not ours. */
function explainPrompt(error: unknown): unknown {
  if (!(error instanceof DefectError) || !error.code.startsWith('template.')) return error;
  const message = `the prompt file is not fit: ${error.message}; take layers/templates/consolidation.md as a pattern`;
  return new InvalidInputError('replay.prompt_invalid', message, { details: { field: 'prompt' }, cause: error });
}
