import { StillroomError } from '../../core/errors.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../core/ports/model-client.ts';
import { OpenAiModelClient, type OpenAiSettings } from './openai-model-client.ts';
import { isKeyRefusal } from './provider-failure.ts';

/** Where the API key comes from. */
export interface KeySource {
  /** The key as known. */
  current(): Promise<string>;
  /** Looks the key up anew. */
  refresh(): Promise<string>;
}

/**
 * `OpenAiModelClient` whose key may change while the process lives. When the provider refuses the key, it is looked up once
 * more, and only a key that changed is tried: one further call, within the time limit of the first. A key that cannot be
 * looked up is a reply like any other: `unavailable` where that passes by itself, else `misconfigured`.
 */
export class KeyedModelClient implements ModelClient {
  readonly #keys: KeySource;
  readonly #settings: Omit<OpenAiSettings, 'apiKey'>;
  #latest: { readonly key: string; readonly client: OpenAiModelClient } | undefined;

  constructor(keys: KeySource, settings: Omit<OpenAiSettings, 'apiKey'>) {
    this.#keys = keys;
    this.#settings = settings;
  }

  async respond(request: ModelRequest): Promise<ModelReply> {
    const startedAt = performance.now();
    const key = await lookUp(() => this.#keys.current());
    if (typeof key !== 'string') return key;
    const reply = await this.#clientFor(key).respond(request);
    if (!isKeyRefusal(reply)) return reply;
    const fresh = await lookUp(() => this.#keys.refresh());
    if (typeof fresh !== 'string') return fresh;
    if (fresh === key) return reply;
    const timeoutMs = Math.max(1, Math.floor(request.timeoutMs - (performance.now() - startedAt)));
    return this.#clientFor(fresh).respond({ ...request, timeoutMs });
  }

  /** One client a key, since it remembers what a model's provider refuses. */
  #clientFor(key: string): OpenAiModelClient {
    if (this.#latest?.key === key) return this.#latest.client;
    const client = new OpenAiModelClient({ ...this.#settings, apiKey: key });
    this.#latest = { key, client };
    return client;
  }
}

async function lookUp(read: () => Promise<string>): Promise<string | ModelReply> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StillroomError)) throw error;
    const kind = error.kind === 'unavailable' ? 'unavailable' : 'misconfigured';
    return { kind, code: error.code };
  }
}
