import type * as z from 'zod';
import { type TurnReply, turnShape } from '../agent/ask-model.ts';
import { sha256Hex } from '../ids.ts';
import type { StepRunner } from '../ports/step-runner.ts';
import type { Template, TemplateName, TemplateStore } from '../ports/template-store.ts';

/** One answer of a run, by the name of its step. */
export interface KeptAnswer {
  readonly step: string;
  readonly answer: unknown;
}

/** Which text a template had, without the text: it is no user's. */
export interface TemplateIdentity {
  readonly name: TemplateName;
  readonly version: string;
  readonly sha256: string;
}

/**
 * The steps of a run, with every answer written down in the order in which the run got it: each model call of a run is a step,
 * whichever way it is made and whether it was paid by this pass or an earlier one, so this is the one place where answers arrive.
 */
export class AnswerLog implements StepRunner {
  readonly #steps: StepRunner;
  readonly #answers: KeptAnswer[] = [];

  constructor(steps: StepRunner) {
    this.#steps = steps;
  }

  get answers(): readonly KeptAnswer[] {
    return this.#answers;
  }

  async run<T>(runId: string, name: string, shape: z.ZodType<T>, work: () => Promise<T>): Promise<T> {
    const answer = await this.#steps.run(runId, name, shape, work);
    const turn = turnShape.safeParse(answer);
    this.#answers.push({ step: name, answer: turn.success ? withoutPassing(turn.data) : answer });
    return answer;
  }

  finish(runId: string): Promise<void> {
    return this.#steps.finish(runId);
  }
}

/** The templates of a run, with the identity of each one that it asked for. */
export class TemplateLog implements TemplateStore {
  readonly #templates: TemplateStore;
  readonly #used = new Map<TemplateName, TemplateIdentity>();

  constructor(templates: TemplateStore) {
    this.#templates = templates;
  }

  get used(): readonly TemplateIdentity[] {
    return [...this.#used.values()];
  }

  async get(name: TemplateName): Promise<Template> {
    const template = await this.#templates.get(name);
    this.#used.set(name, identify(template));
    return template;
  }
}

export function identify({ name, version, text }: Template): TemplateIdentity {
  return { name, version, sha256: sha256Hex(text) };
}

/** A reply without what only matters while its run lasts: a provider's own elements (reasoning is never kept) and rate limits. */
function withoutPassing(reply: TurnReply): TurnReply {
  if (reply.kind !== 'reply') return reply;
  return { ...reply, items: reply.items.filter((item) => item.kind !== 'opaque'), rateLimits: [] };
}
