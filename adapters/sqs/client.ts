import { SQSClient } from '@aws-sdk/client-sqs';

/** A client of the queue service, once a process. Region, credentials and endpoint come from the environment. */
export function createQueueClient(): SQSClient {
  return new SQSClient({
    maxAttempts: 2, // the first call over a connection that froze with the process is reset (user case C31)
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000 },
  });
}
