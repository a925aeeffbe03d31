import type { ModelClient, ModelReply, ModelRequest } from '../ports/model-client.ts';

export interface DeadlineRules {
  /** Time left until the process must have ended its work, ms; asked before each call. */
  readonly remainingMs: () => number;
  /** Kept free after a call to write down how it ended, ms. */
  readonly reserveMs: number;
  /** With less than this for the call itself none is made, ms: it would be paid for and cut off. */
  readonly leastMs: number;
}

/**
 * A model whose calls end before the process must (user case C37): each call gets the time left minus the reserve, at most its
 * own limit. With too little left no call is made, and the reply is `unavailable` with the code `model.out_of_time`.
 */
export class ModelWithinDeadline implements ModelClient {
  readonly #model: ModelClient;
  readonly #rules: DeadlineRules;

  constructor(model: ModelClient, rules: DeadlineRules) {
    this.#model = model;
    this.#rules = rules;
  }

  async respond(request: ModelRequest): Promise<ModelReply> {
    const leftMs = Math.floor(this.#rules.remainingMs() - this.#rules.reserveMs);
    if (leftMs < this.#rules.leastMs) return { kind: 'unavailable', code: 'model.out_of_time' };
    return this.#model.respond({ ...request, timeoutMs: Math.min(request.timeoutMs, leftMs) });
  }
}
