import { OpenAI } from 'openai';
import type { ModelClient, ModelReply, ModelRequest } from '../../core/ports/model-client.ts';
import { chatDialect } from './chat-dialect.ts';
import { type Dialect, type OptionalPart, refusedPart } from './dialect.ts';
import {
  BAD_KEY,
  type ProviderFailure,
  providerFailure,
  replyForFailure,
  replyForSilence,
} from './provider-failure.ts';
import { readRateLimits } from './rate-limit-headers.ts';
import { answerLimit, limitText, parseAnswer } from './read-answer.ts';
import { responsesDialect } from './responses-dialect.ts';

export interface OpenAiSettings {
  readonly apiKey: string;
  /** Such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** `chat` for compatible servers without a Responses API. */
  readonly apiMode?: 'responses' | 'chat';
  /** Null: the standard tier. Default `flex`: all our calls are background work. */
  readonly serviceTier?: string | null;
  /** Milliseconds since the epoch; for the reset times of rate limits. */
  readonly now?: () => number;
}

/** What a header can carry. */
const HEADER_TEXT = /^[\x20-\x7e]+$/;

type Attempt =
  | { readonly kind: 'answered'; readonly reply: ModelReply }
  | { readonly kind: 'refused'; readonly failure: ProviderFailure };

/**
 * A model behind an OpenAI-compatible API (api.md, "Model calls"). Nothing is stored at the provider and nothing chained;
 * the SDK retries nothing. A request is sent again only where the provider turned down an optional part of it (the service
 * tier, the reasoning effort, …) before doing any work: without that part, once a part, within the same time limit. What was
 * refused for good is remembered per model. Errors carry codes, never messages: a message may quote the request.
 */
export class OpenAiModelClient implements ModelClient {
  readonly #settings: OpenAiSettings;
  readonly #dialect: Dialect;
  readonly #refused = new Map<string, Set<OptionalPart>>();

  constructor(settings: OpenAiSettings) {
    this.#settings = settings;
    this.#dialect = settings.apiMode === 'chat' ? chatDialect : responsesDialect;
  }

  async respond(request: ModelRequest): Promise<ModelReply> {
    const fault = this.#settingsFault();
    if (fault !== undefined) return { kind: 'misconfigured', code: fault };
    const signal = AbortSignal.timeout(request.timeoutMs);
    const leftOut = new Set(this.#refused.get(request.model));
    for (;;) {
      const attempt = await this.#send(request, leftOut, signal);
      if (attempt.kind === 'answered') return attempt.reply;
      const sent = this.#dialect.optional.filter((part) => !leftOut.has(part));
      const refused = refusedPart(attempt.failure, sent);
      if (refused === undefined) return replyForFailure(attempt.failure, this.#now());
      leftOut.add(refused.part); // each part is left out once, so the loop ends
      if (refused.lasting) this.#remember(request.model, refused.part);
    }
  }

  async #send(request: ModelRequest, leftOut: ReadonlySet<OptionalPart>, signal: AbortSignal): Promise<Attempt> {
    const { serviceTier = 'flex' } = this.#settings;
    const body = this.#dialect.toBody(request, { serviceTier, leftOut });
    try {
      const options = { body, signal, timeout: request.timeoutMs, maxRetries: 0 };
      const response = await this.#client(answerLimit(request)).post(this.#dialect.path, options).asResponse();
      const rateLimits = readRateLimits(response.headers, this.#now());
      const answer = parseAnswer(await response.text());
      return {
        kind: 'answered',
        reply: this.#dialect.readReply(answer, { requestedModel: request.model, rateLimits }),
      };
    } catch (error) {
      const failure = providerFailure(error);
      if (failure !== undefined) return { kind: 'refused', failure };
      return { kind: 'answered', reply: replyForSilence(error, signal.aborted) };
    }
  }

  /** Everything that the SDK would take from the environment is set, so that only the given settings count. */
  #client(maxAnswerBytes: number): OpenAI {
    return new OpenAI({
      apiKey: this.#settings.apiKey,
      baseURL: this.#settings.baseUrl,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      logLevel: 'off',
      fetch: async (url, init) => limitText(await fetch(url, init), maxAnswerBytes),
      fetchOptions: { redirect: 'manual' }, // a transcript goes to the configured address only
    });
  }

  /** Settings by which no request could leave: told before one is begun, since its failure would not tell them apart. */
  #settingsFault(): string | undefined {
    if (this.#settings.apiKey === '') return 'no_api_key';
    if (!HEADER_TEXT.test(this.#settings.apiKey)) return BAD_KEY;
    const url = URL.parse(this.#settings.baseUrl);
    if (url === null || !/^https?:$/.test(url.protocol)) return 'bad_url';
    return url.username === '' && url.password === '' ? undefined : 'url_with_credentials';
  }

  #remember(model: string, part: OptionalPart): void {
    const known = this.#refused.get(model) ?? new Set();
    this.#refused.set(model, known.add(part));
  }

  #now(): number {
    return this.#settings.now?.() ?? Date.now();
  }
}
