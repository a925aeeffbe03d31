import {
  type DurableExecutionConfig,
  type DurableLambdaHandler,
  withDurableExecution,
} from '@aws/durable-execution-sdk-js';
import type { Phase2Answer } from './answer.ts';
import { consolidateUser } from './consolidate-user.ts';
import type { Phase2Deps } from './deps.ts';

/**
 * The function over its dependencies: one handler a process.
 * @param config where its execution is kept; the service of the function's own region unless given
 */
export function createHandler(
  deps: Phase2Deps,
  config: Pick<DurableExecutionConfig, 'durableExecutionClient'> = {},
): DurableLambdaHandler {
  const execute = withDurableExecution<unknown, Phase2Answer>(
    (event, context) => consolidateUser(deps, event, context),
    config,
  );
  return async (event, context) => {
    deps.tracing.correlate({ request_id: context.awsRequestId });
    try {
      return await deps.tracing.withSpan('phase2', {}, () => execute(event, context));
    } finally {
      // Here, since the code of a suspended execution goes no further.
      deps.tracing.flush();
      deps.tracing.correlate({ request_id: null, run_id: null });
    }
  };
}
