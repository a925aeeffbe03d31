import * as z from 'zod';
import type { ModelItem, ModelRequest } from '../ports/model-client.ts';
import { LIMITS } from '../settings.ts';
import { type AgentEnd, type AgentTask, stop, stopFor } from './agent.ts';
import { askModel, callTimeout, estimateRequest, type ModelPorts, type TurnReply } from './ask-model.ts';
import { budgetTokens } from './day-budget.ts';
import { addUsage, NO_USAGE, type TokenUsage } from './token-usage.ts';
import { runToolCalls } from './tool-call.ts';

/** Answers with edits that could not be made, or that were none, before the run is given up. */
const MAX_UNUSABLE = 3;
/** Edits of one answer. */
const MAX_EDITS = 200;

const path = z.string();
/** The same arguments as the tools of these names have. */
const answerShape = z.strictObject({
  report: z.string(),
  edits: z
    .array(
      z.union([
        z.strictObject({ tool: z.literal('write'), path, content: z.string() }),
        z.strictObject({ tool: z.literal('edit'), path, old_text: z.string(), new_text: z.string() }),
        z.strictObject({ tool: z.literal('delete'), path }),
      ]),
    )
    .max(MAX_EDITS),
});

/** Name of the structured output, by which a stand-in knows what is asked of it. */
export const ONCE_OUTPUT = 'memory_edits';

/** JSON Schema of the answer; the count of edits is checked here, since not every provider knows such limits. */
function outputSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(answerShape, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.maxItems;
    },
  });
  return schema;
}

/**
 * The short way of a consolidation: one call that sees everything and answers with edits. What the edits meet, and what the gates
 * say of the files, goes back as a message, and the next call answers with what is still missing. The same budgets, steps and
 * refusals as the loop has.
 */
export class OnceEditor {
  readonly #ports: ModelPorts;
  readonly #task: AgentTask;
  #items: readonly ModelItem[];
  #turns = 0;
  #unusable = 0;
  #usage: TokenUsage = NO_USAGE;
  #tokens = 0;

  constructor(ports: ModelPorts, task: AgentTask) {
    this.#ports = ports;
    this.#task = task;
    this.#items = [{ kind: 'message', role: 'user', text: task.firstMessage }];
  }

  /** Model calls, those that were replayed included. */
  get turns(): number {
    return this.#turns;
  }

  get usage(): TokenUsage {
    return this.#usage;
  }

  /** Adds a message of ours; `run` then asks again. */
  say(text: string): void {
    this.#items = [...this.#items, { kind: 'message', role: 'user', text }];
  }

  /**
   * Asks until an answer's edits could all be made, or a limit is reached.
   * @throws what the ports throw
   */
  async run(): Promise<AgentEnd> {
    for (;;) {
      const reply = await this.#ask();
      if (reply.kind === 'stopped') return reply;
      this.#items = [...this.#items, ...reply.items];
      const made = await this.#apply(reply.text);
      if (this.#task.workspace.bytesWritten > this.#task.budget.maxWriteBytes)
        return stop('agent.write_budget', `over ${this.#task.budget.maxWriteBytes} bytes written`);
      if (made.faults.length === 0) return { kind: 'finished', report: made.report };
      this.#unusable++;
      if (this.#unusable >= MAX_UNUSABLE)
        return stop('agent.unusable_edits', `${MAX_UNUSABLE} answers without usable edits`);
      this.say(
        `These edits were not made; all others were:\n${made.faults.join('\n')}\nAnswer with what is still missing.`,
      );
    }
  }

  async #ask(): Promise<Extract<TurnReply, { kind: 'reply' }> | Extract<AgentEnd, { kind: 'stopped' }>> {
    const { budget, account, confirmOwnership } = this.#task;
    if (this.#turns >= budget.maxTurns) return stop('agent.turn_budget', `${this.#turns} of ${budget.maxTurns} turns`);
    if (!(await confirmOwnership())) return stop('agent.ownership_lost', 'another run holds the lock', true);
    const timeoutMs = callTimeout(this.#ports.clock.now(), budget.deadline);
    if (timeoutMs === undefined) return stop('agent.deadline', 'too little time left for a call', true, 0);
    const request = this.#request(timeoutMs);
    const estimate = estimateRequest(request);
    if (this.#tokens + estimate > budget.maxTokens)
      return stop('agent.token_budget', `${this.#tokens} of ${budget.maxTokens} tokens used`);
    this.#turns++;
    const name = `once-${String(this.#turns).padStart(3, '0')}`;
    const asked = await askModel(this.#ports, account, name, request, { finalFailures: true });
    for (const usage of asked.usages) this.#usage = addUsage(this.#usage, usage);
    this.#tokens += asked.usages.reduce((sum, usage) => sum + budgetTokens(usage), 0);
    if (asked.usages.length === 0) this.#tokens += estimate;
    return asked.reply.kind === 'reply' ? asked.reply : stopFor(asked.reply);
  }

  async #apply(text: string): Promise<{ readonly report: string; readonly faults: readonly string[] }> {
    const answer = answerShape.safeParse(parseJson(text));
    if (!answer.success) {
      const place = answer.error.issues[0]?.path.join('.') ?? '';
      return {
        report: '',
        faults: [`- the answer is not the JSON object that was asked for${place && `, at ${place}`}`],
      };
    }
    const { edits, report } = answer.data;
    const faults: string[] = [];
    for (const [at, { tool, ...arguments_ }] of edits.entries()) {
      const call = { callId: `edit-${at + 1}`, name: tool, arguments: JSON.stringify(arguments_) };
      const [result] = await runToolCalls([call], this.#task.workspace);
      if (result?.failed === true) faults.push(`- edit ${at + 1} (${tool}): ${result.text}`);
    }
    return { report, faults };
  }

  #request(timeoutMs: number): ModelRequest {
    return {
      purpose: 'consolidation',
      model: this.#task.model,
      instructions: this.#task.instructions,
      items: this.#items,
      output: { name: ONCE_OUTPUT, schema: outputSchema() },
      reasoningEffort: 'medium',
      maxOutputTokens: LIMITS.agentOutputTokens,
      timeoutMs,
    };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // told to the model as no answer
  }
}
