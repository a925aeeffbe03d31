import { readFile, stat } from 'node:fs/promises';
import { DirectStepRunner } from '../adapters/system/direct-step-runner.ts';
import type { TokenUsage } from '../core/agent/token-usage.ts';
import { usageToJson } from '../core/consolidation/manifest-json.ts';
import { InvalidInputError } from '../core/errors.ts';
import { openRun } from '../core/replay/open-run.ts';
import { type Replay, replayVersion } from '../core/replay/replay-version.ts';
import { type Shadow, shadowRun } from '../core/replay/shadow-run.ts';
import { decodeUtf8Strict } from '../core/text.ts';
import type { LocalEnv } from './env.ts';
import type { Home } from './home.ts';
import { isOfflineModel, type ModelSetup, startModel } from './model.ts';
import { modelPorts } from './model-ports.ts';

/** The template itself is a tenth of it. */
const PROMPT_BYTES = 256 * 1_024;

/** Makes a version again and compares. Writes nothing: the home may lie on a disk that cannot be written. */
export function replayLocal(home: Home, version: number): Promise<Replay> {
  return replayVersion(home, home.userKey, version);
}

export interface ShadowOptions {
  readonly version: number;
  /** `offline`, `openai` for its default, or the name of a model; null: the one that made the version. */
  readonly model: string | null;
  /** A file in the form of `layers/templates/consolidation.md`; null: that template. */
  readonly promptFile: string | null;
}

/** A shadow run as the command line shows it. */
export interface ShadowReport extends Pick<Shadow, 'version' | 'model' | 'end' | 'reason' | 'diff' | 'turns'> {
  readonly token_usage: ReturnType<typeof usageToJson>;
  readonly original: {
    readonly model: string | null;
    readonly turns: number;
    readonly token_usage: ReturnType<typeof usageToJson>;
  };
}

/**
 * Runs the inputs of a version through another model or prompt. Booked on the home's ledger; nothing else of the home changes.
 * @throws InvalidInputError `replay.prompt_unreadable`, `replay.prompt_too_large`, `model.no_key`; what `shadowRun` throws
 */
export async function shadowLocal(home: Home, env: LocalEnv, options: ShadowOptions): Promise<ShadowReport> {
  const { version, promptFile } = options;
  const prompt = promptFile === null ? null : await readPrompt(promptFile);
  const name = options.model ?? (await openRun(home, home.userKey, version)).record.model;
  const setup = await startModel(isOfflineModel(name) ? 'offline' : 'openai', env);
  try {
    const shadow = await shadowRun(
      { ...modelPorts(home, setup), steps: new DirectStepRunner() },
      {
        userKey: home.userKey,
        version,
        model: modelName(name, setup),
        prompt,
        dailyTokenBudget: home.settings.dailyTokenBudget,
      },
    );
    return toReport(shadow);
  } finally {
    await setup.close();
  }
}

function modelName(name: string, setup: ModelSetup): string {
  return setup.offline || name === 'openai' ? setup.consolidationModel : name;
}

async function readPrompt(path: string): Promise<string> {
  const found = await stat(path).catch((cause: unknown) => {
    throw unreadablePrompt(path, cause);
  });
  if (!found.isFile()) throw unreadablePrompt(path);
  if (found.size > PROMPT_BYTES) {
    const message = `the prompt file may hold ${PROMPT_BYTES} bytes, ${path} has ${found.size}`;
    throw new InvalidInputError('replay.prompt_too_large', message, {
      details: { field: 'prompt', limit: PROMPT_BYTES },
    });
  }
  const content = await readFile(path).catch((cause: unknown) => {
    throw unreadablePrompt(path, cause);
  });
  const text = decodeUtf8Strict(content);
  if (text === undefined) throw unreadablePrompt(path);
  return text;
}

function unreadablePrompt(path: string, cause?: unknown): InvalidInputError {
  const message = `cannot read ${path}: name a UTF-8 text file in the form of layers/templates/consolidation.md`;
  return new InvalidInputError('replay.prompt_unreadable', message, { details: { field: 'prompt' }, cause });
}

function toReport({ usage, original, ...shadow }: Shadow): ShadowReport {
  const cost = (used: TokenUsage) => ({ token_usage: usageToJson(used) });
  const { model, turns } = original;
  return { ...shadow, ...cost(usage), original: { model, turns, ...cost(original.usage) } };
}
