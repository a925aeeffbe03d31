import type { ModelItem, ModelRequest } from '../ports/model-client.ts';
import { redact } from '../rollout/redact.ts';
import { LIMITS } from '../settings.ts';
import { AGENT_TOOL_DEFINITIONS } from './agent-tools.ts';
import type { AgentWorkspace } from './agent-workspace.ts';
import {
  askModel,
  callTimeout,
  estimateRequest,
  type ModelAccount,
  type ModelPorts,
  type TurnReply,
} from './ask-model.ts';
import { dropOldResults } from './conversation.ts';
import { budgetTokens } from './day-budget.ts';
import { addUsage, NO_USAGE, type TokenUsage } from './token-usage.ts';
import { runToolCalls, type ToolCall } from './tool-call.ts';

const IDENTICAL_TURNS = 3;
const IDLE_TURNS = 2;
const TURNS_TOLD = 10;
const NUDGE = 'That turn called no tool. Go on with the tools, or call finish if every listed change is worked in.';

/** What one run may use up (DV-23). */
export interface AgentBudget {
  readonly maxTurns: number;
  readonly maxTokens: number;
  readonly maxWriteBytes: number;
  /** ms since the epoch after which no call may be running; null: none. */
  readonly deadline: number | null;
}

export const DEFAULT_AGENT_BUDGET: AgentBudget = {
  maxTurns: LIMITS.agentMaxTurns,
  maxTokens: LIMITS.agentMaxTokens,
  maxWriteBytes: LIMITS.agentWriteBytes,
  deadline: null,
};

export interface AgentTask {
  readonly account: ModelAccount;
  readonly model: string;
  /** The stable prefix, equal for all runs. */
  readonly instructions: string;
  readonly firstMessage: string;
  readonly workspace: AgentWorkspace;
  readonly budget: AgentBudget;
  /** Asked before every turn; false ends the run before its next model call (user case C24). */
  readonly confirmOwnership: () => Promise<boolean>;
}

export type AgentStopCode =
  | 'agent.turn_budget'
  | 'agent.token_budget'
  | 'agent.write_budget'
  | 'agent.deadline'
  | 'agent.loop'
  | 'agent.no_tool_call'
  | 'agent.unusable_edits'
  | 'agent.ownership_lost'
  | 'model.refused'
  | 'model.incomplete'
  | 'model.filtered'
  | 'model.too_long'
  | 'model.rate_limited'
  | 'model.unavailable'
  | 'model.misconfigured'
  | 'budget.daily_tokens';

export type AgentEnd =
  | { readonly kind: 'finished'; readonly report: string }
  | {
      readonly kind: 'stopped';
      readonly code: AgentStopCode;
      /** Content-free: a number and its limit, a provider's code. */
      readonly detail: string;
      /** True where the same run, begun again, would go on from here; false where it would only end the same way. */
      readonly resumable: boolean;
      readonly retryAfterMs: number | null;
    };

type Stopped = Extract<AgentEnd, { kind: 'stopped' }>;

/**
 * A bounded tool loop over an in-memory workspace (DV-23). Each turn is one named step, so that a run killed in the middle
 * replays what it has paid for. All that it does follows from the task and the replies; it has no time or chance of its own.
 */
export class Agent {
  readonly #ports: ModelPorts;
  readonly #task: AgentTask;
  #items: readonly ModelItem[];
  #turns = 0;
  #lastTurnItems = 0;
  #usage: TokenUsage = NO_USAGE;
  #tokens = 0;
  #lastSignature = '';
  #identicalTurns = 0;
  #idleTurns = 0;

  constructor(ports: ModelPorts, task: AgentTask) {
    this.#ports = ports;
    this.#task = task;
    this.#items = [{ kind: 'message', role: 'user', text: task.firstMessage }];
  }

  get turns(): number {
    return this.#turns;
  }

  /** What the provider reported for all turns, those that were replayed included. */
  get usage(): TokenUsage {
    return this.#usage;
  }

  /** Adds a message of ours to the conversation, such as the faults to repair; `run` then goes on. */
  say(text: string): void {
    this.#items = [...this.#items, { kind: 'message', role: 'user', text }];
  }

  /**
   * Takes turns until the model calls `finish` or a limit is reached.
   * @throws what the ports throw, and DefectError for a fault of ours
   */
  async run(): Promise<AgentEnd> {
    for (;;) {
      const end = await this.#takeTurn();
      if (end !== undefined) return end;
    }
  }

  async #takeTurn(): Promise<AgentEnd | undefined> {
    const { budget, account, confirmOwnership } = this.#task;
    if (this.#turns >= budget.maxTurns) return stop('agent.turn_budget', `${this.#turns} of ${budget.maxTurns} turns`);
    if (!(await confirmOwnership())) return stop('agent.ownership_lost', 'another run holds the lock', true);
    const timeoutMs = callTimeout(this.#ports.clock.now(), budget.deadline);
    if (timeoutMs === undefined) return stop('agent.deadline', 'too little time left for a call', true, 0);
    this.#items = dropOldResults(this.#items, LIMITS.agentConversationTokens, this.#lastTurnItems);
    const request = this.#request(timeoutMs);
    const estimate = estimateRequest(request);
    if (this.#tokens + estimate > budget.maxTokens)
      return stop('agent.token_budget', `${this.#tokens} of ${budget.maxTokens} tokens used`);

    this.#turns++;
    const name = `turn-${String(this.#turns).padStart(3, '0')}`;
    const asked = await askModel(this.#ports, account, name, request);
    for (const usage of asked.usages) this.#usage = addUsage(this.#usage, usage);
    this.#tokens += asked.usages.reduce((sum, usage) => sum + budgetTokens(usage), 0);
    if (asked.usages.length === 0) this.#tokens += estimate;
    if (asked.reply.kind !== 'reply') return stopFor(asked.reply);
    return this.#applyReply(asked.reply);
  }

  async #applyReply(reply: Extract<TurnReply, { kind: 'reply' }>): Promise<AgentEnd | undefined> {
    const { workspace, budget } = this.#task;
    if (this.#isThirdOfItsKind(reply.text, reply.toolCalls))
      return stop('agent.loop', `the same turn ${IDENTICAL_TURNS} times`);
    if (reply.toolCalls.length === 0) return this.#nudge(reply.items);
    this.#idleTurns = 0;

    const results = await runToolCalls(reply.toolCalls, workspace);
    const added: readonly ModelItem[] = [
      ...reply.items,
      // what was written in pieces may be a secret only when it is read
      ...results.map(({ callId, text }) => ({ kind: 'tool_result', callId, text: redact(text) }) as const),
    ];
    this.#items = [...this.#items, ...added];
    this.#lastTurnItems = added.length;
    if (workspace.bytesWritten > budget.maxWriteBytes)
      return stop('agent.write_budget', `${workspace.bytesWritten} of ${budget.maxWriteBytes} bytes written`);
    const report = results.find((result) => result.report !== undefined)?.report;
    if (report !== undefined) return { kind: 'finished', report };
    if (budget.maxTurns - this.#turns === TURNS_TOLD && this.#turns > TURNS_TOLD)
      this.say(`${TURNS_TOLD} turns are left. Complete what is begun, leave the files whole, and call finish.`);
    return undefined;
  }

  #nudge(items: readonly ModelItem[]): AgentEnd | undefined {
    this.#idleTurns++;
    if (this.#idleTurns >= IDLE_TURNS) return stop('agent.no_tool_call', `${IDLE_TURNS} turns without a tool call`);
    this.#items = [...this.#items, ...items];
    this.#lastTurnItems = items.length + 1;
    this.say(NUDGE);
    return undefined;
  }

  #isThirdOfItsKind(text: string, calls: readonly ToolCall[]): boolean {
    const signature = JSON.stringify([text, calls.map((call) => [call.name, call.arguments])]);
    this.#identicalTurns = signature === this.#lastSignature ? this.#identicalTurns + 1 : 1;
    this.#lastSignature = signature;
    return this.#identicalTurns >= IDENTICAL_TURNS;
  }

  #request(timeoutMs: number): ModelRequest {
    return {
      purpose: 'consolidation',
      model: this.#task.model,
      instructions: this.#task.instructions,
      items: this.#items,
      tools: AGENT_TOOL_DEFINITIONS,
      reasoningEffort: 'medium',
      maxOutputTokens: LIMITS.agentOutputTokens,
      timeoutMs,
    };
  }
}

/** Each way a call may end short of a reply ends the run with a code of its own. */
export function stopFor(reply: Exclude<TurnReply, { kind: 'reply' }>): Stopped {
  switch (reply.kind) {
    case 'refused':
      return stop('model.refused', 'the model refused');
    case 'incomplete':
      return reply.reason === 'filter'
        ? stop('model.filtered', 'the answer was cut by a content filter')
        : stop('model.incomplete', `an answer over ${2 * LIMITS.agentOutputTokens} tokens`);
    case 'too_long':
      return stop('model.too_long', 'the conversation does not fit the model');
    case 'rate_limited':
      return stop('model.rate_limited', 'rate limit of the provider', true, reply.retryAfterMs);
    case 'unavailable':
      return stop('model.unavailable', reply.code, true);
    case 'misconfigured':
      return stop('model.misconfigured', reply.code, true);
    case 'over_budget':
      return stop('budget.daily_tokens', `${reply.usedTokens} of ${reply.limit} tokens of the day used`, true);
  }
}

export function stop(
  code: AgentStopCode,
  detail: string,
  resumable = false,
  retryAfterMs: number | null = null,
): Stopped {
  return { kind: 'stopped', code, detail, resumable, retryAfterMs };
}
