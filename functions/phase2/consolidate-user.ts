import type { DurableContext } from '@aws/durable-execution-sdk-js';
import * as z from 'zod';
import { consolidate } from '../../core/consolidation/consolidate.ts';
import type { ConsolidationResult } from '../../core/consolidation/consolidation-ports.ts';
import { pruneOutputs } from '../../core/consolidation/prune-outputs.ts';
import { DefectError, StillroomError, UnavailableError } from '../../core/errors.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import { LIMITS, withDefaultBudget } from '../../core/settings.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { type Phase2Answer, toAnswer } from './answer.ts';
import type { Phase2Deps } from './deps.ts';
import { decodeEvent, type Phase2Event } from './event.ts';

/** What a run needs behind its last turn: the gates, the version, the end of the job. No model call runs into it. */
const END_RESERVE_MS = MINUTE_MS;
/** Between two turns: tools and a heartbeat. */
const BETWEEN_TURNS_MS = 30 * SECOND_MS;
/** With less than this left, the next turn begins in a fresh invocation (user case C9). */
export const TURN_RESERVE_MS = BETWEEN_TURNS_MS + LIMITS.agentCallTimeoutMs + END_RESERVE_MS;

/** The platform tries nothing again: the job is the one retry owner. */
const NO_RETRY = { retryStrategy: () => ({ shouldRetry: false }) } as const;
const tokenShape = z.string().min(1);

/**
 * One consolidation of one user, as a durable execution: begun anew by every invocation, under the same token, it claims what
 * it holds already and finds what it has paid for. Whatever the run comes to, the execution ends normally and the job says when
 * to try again; only a fault of ours makes it fail, which is an alarm.
 * @throws StillroomError, without content
 */
export async function consolidateUser(
  deps: Phase2Deps,
  event: unknown,
  context: DurableContext,
): Promise<Phase2Answer> {
  try {
    return await run(deps, decodeEvent(event), context);
  } catch (error) {
    if (error instanceof UnavailableError) {
      deps.telemetry.event('warn', 'consolidation.not_run', { code: error.code });
      return { result: 'failed', code: error.code };
    }
    const code = error instanceof StillroomError ? error.code : 'core.unexpected';
    deps.telemetry.event('error', 'consolidation.defect', { code });
    if (error instanceof StillroomError) throw error;
    // The history of the execution keeps what is thrown, and a message of somebody else's may quote content.
    throw new DefectError(code, `unexpected ${error instanceof Error ? error.name : 'value'} thrown`);
  }
}

async function run(
  deps: Phase2Deps,
  { userKey, immediate }: Phase2Event,
  context: DurableContext,
): Promise<Phase2Answer> {
  deps.tracing.correlate({ run_id: executionName(context) });
  const token = tokenShape.parse(await context.step('token', async () => deps.tokens.next(), NO_RETRY));
  const settings = withDefaultBudget(await deps.settings.read(userKey), deps.dailyTokenBudget);
  await pruneOutputs(deps, userKey, { now: deps.clock.now(), maxUnusedDays: settings.maxUnusedDays });
  const remainingMs = (): number => context.lambdaContext.getRemainingTimeInMillis();
  const steps = deps.stepsOf({ userKey, context, remainingMs, reserveMs: TURN_RESERVE_MS });
  const result = await consolidate(
    { ...deps, steps, tokens: startingWith(token, deps.tokens) },
    {
      userKey,
      settings,
      model: deps.consolidationModel,
      immediate,
      oneShotTokens: deps.oneShotTokens,
      deadline: deps.clock.now() + remainingMs() - END_RESERVE_MS,
    },
  );
  if (isSuccess(result)) await removeOrphanBodies(deps, userKey);
  return toAnswer(result);
}

/** The claim of every pass carries the same token, so that a repeated one counts as won. */
function startingWith(token: string, rest: TokenSource): TokenSource {
  const first = [token];
  return { next: () => first.pop() ?? rest.next() };
}

function isSuccess({ kind }: ConsolidationResult): boolean {
  return kind === 'published' || kind === 'unchanged' || kind === 'nothing';
}

/** The run is over and told by now; what stays costs only space until the next one. */
async function removeOrphanBodies(deps: Phase2Deps, userKey: string): Promise<void> {
  try {
    await deps.outputs.removeOrphanBodies(userKey);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    deps.telemetry.event('warn', 'consolidation.bodies_kept', { code: error.code });
  }
}

/** `…:function:<name>:<version>/durable-execution/<execution name>/<id>` */
function executionName(context: DurableContext): string {
  const { durableExecutionArn } = context.executionContext;
  return durableExecutionArn.split('/').at(-2) ?? durableExecutionArn;
}
