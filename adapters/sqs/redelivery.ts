import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { UnavailableError } from '../../core/errors.ts';

/** The longest that SQS hides a message. */
const MAX_SECONDS = 12 * 3_600;

/** Sets when a message that was received and not settled comes back, sooner or later than its queue's visibility time-out. */
export class SqsRedelivery {
  readonly #client: SQSClient;
  readonly #queueUrl: string;

  constructor(client: SQSClient, queueUrl: string) {
    this.#client = client;
    this.#queueUrl = queueUrl;
  }

  /**
   * @param seconds from now; 0 = at once; beyond 12 hours it counts as that
   * @throws UnavailableError `queue.release_failed`; the message then comes back by the queue's own time-out
   */
  async redeliver(receiptHandle: string, seconds: number): Promise<void> {
    const VisibilityTimeout = Math.min(MAX_SECONDS, Math.max(0, Math.ceil(seconds)));
    try {
      await this.#client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: this.#queueUrl,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout,
        }),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.name : 'unknown';
      throw new UnavailableError('queue.release_failed', `a message could not be released: ${reason}`, {
        details: { reason },
        cause: error,
      });
    }
  }
}
