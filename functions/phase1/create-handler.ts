import type { Context, SQSBatchResponse } from 'aws-lambda';
import type { Phase1Deps } from './deps.ts';
import { processBatch } from './process-batch.ts';
import { createWorker } from './worker.ts';

type InvocationContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

/** The function over its dependencies: one handler a process. */
export function createHandler(
  deps: Phase1Deps,
): (event: unknown, context: InvocationContext) => Promise<SQSBatchResponse> {
  const worker = createWorker(deps);
  return async (event, context) => {
    deps.tracing.correlate({ request_id: context.awsRequestId });
    try {
      return await processBatch(worker, event, () => context.getRemainingTimeInMillis());
    } finally {
      deps.tracing.flush();
    }
  };
}
