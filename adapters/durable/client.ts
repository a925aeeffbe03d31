import { LambdaClient } from '@aws-sdk/client-lambda';

/** A client that starts functions, once a process. Region, credentials and endpoint come from the environment. */
export function createFunctionClient(): LambdaClient {
  return new LambdaClient({
    maxAttempts: 2, // a start names its execution, so that a repeated one is the same
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000 },
  });
}
