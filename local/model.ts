import { OpenAiModelClient } from '../adapters/openai/openai-model-client.ts';
import { InvalidInputError } from '../core/errors.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../core/ports/model-client.ts';
import type { LocalEnv } from './env.ts';
import { startOfflineModel } from './offline/server.ts';

export type ModelChoice = 'offline' | 'openai';

/** Names used where the user's settings name none (behaviours C-11, J-03). */
const OPENAI_EXTRACT_MODEL = 'gpt-5.4-mini';
const OPENAI_CONSOLIDATION_MODEL = 'gpt-5.4';
const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OFFLINE_MODEL = 'offline-rules-1';

/** A model that is ready to be called, and how it is shown to a person. */
export interface ModelSetup {
  readonly client: ModelClient;
  readonly extractModel: string;
  readonly consolidationModel: string;
  /** Shown wherever the model is named. */
  readonly label: string;
  readonly offline: boolean;
  /** Calls made through `client` so far. */
  calls(): number;
  /** Why the model could not be reached, where that was the end of every call so far; null otherwise, and before the first. */
  silence(): string | null;
  close(): Promise<void>;
}

/** Whether a name, as a person or a version gives it, is that of the offline stand-in. */
export function isOfflineModel(name: string): boolean {
  return name === 'offline' || name === OFFLINE_MODEL;
}

/** `openai` where a key is set, else the offline stand-in (api.md, command line). */
export function defaultModel(env: LocalEnv): ModelChoice {
  return env.openaiApiKey === null ? 'offline' : 'openai';
}

/**
 * Starts the chosen model.
 * @throws InvalidInputError `model.no_key` when `openai` is asked for and no key is set
 */
export async function startModel(choice: ModelChoice, env: LocalEnv): Promise<ModelSetup> {
  if (choice === 'openai') {
    if (env.openaiApiKey === null) {
      throw new InvalidInputError(
        'model.no_key',
        '--model openai needs OPENAI_API_KEY to be set; --model offline needs no key',
      );
    }
    const client = watchCalls(
      new OpenAiModelClient({ apiKey: env.openaiApiKey, baseUrl: env.openaiBaseUrl ?? OPENAI_BASE_URL }),
    );
    return {
      client,
      extractModel: OPENAI_EXTRACT_MODEL,
      consolidationModel: OPENAI_CONSOLIDATION_MODEL,
      label: env.openaiBaseUrl === null ? 'openai' : `openai API at ${new URL(env.openaiBaseUrl).host}`,
      offline: false,
      calls: () => client.calls,
      silence: () => client.silence,
      close: async () => {},
    };
  }
  const server = await startOfflineModel();
  const client = watchCalls(new OpenAiModelClient({ apiKey: 'offline', baseUrl: server.baseUrl }));
  return {
    client,
    extractModel: OFFLINE_MODEL,
    consolidationModel: OFFLINE_MODEL,
    label: 'offline stand-in (rules, no language model)',
    offline: true,
    calls: () => client.calls,
    silence: () => client.silence,
    close: () => server.close(),
  };
}

function watchCalls(inner: ModelClient): ModelClient & { readonly calls: number; readonly silence: string | null } {
  let calls = 0;
  let answered = false;
  let silence: string | null = null;
  return {
    get calls() {
      return calls;
    },
    get silence() {
      return answered ? null : silence;
    },
    respond: async (request: ModelRequest): Promise<ModelReply> => {
      calls++;
      const reply = await inner.respond(request);
      if (reply.kind === 'unavailable') silence = reply.code;
      else answered = true;
      return reply;
    },
  };
}
