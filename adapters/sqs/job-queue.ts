import { SendMessageBatchCommand, type SendMessageBatchCommandInput, type SQSClient } from '@aws-sdk/client-sqs';
import { UnavailableError } from '../../core/errors.ts';
import { encodeJobMessage } from '../../core/job/job-message.ts';
import type { JobMessage, JobQueue } from '../../core/ports/job-queue.ts';

const BATCH = 10;

/**
 * The request for up to 10 messages. The user is the message group: on a standard queue that makes it a fair one, where one
 * user's backlog does not hold the others up (user case C21).
 */
export function sendBatchRequest(queueUrl: string, messages: readonly JobMessage[]): SendMessageBatchCommandInput {
  return {
    QueueUrl: queueUrl,
    Entries: messages.map((message, at) => ({
      Id: String(at),
      MessageBody: encodeJobMessage(message),
      MessageGroupId: message.userKey,
    })),
  };
}

/** A queue of SQS. What a batch could not take is sent once more; the retry owner beyond that is the caller. */
export class SqsJobQueue implements JobQueue {
  readonly #client: SQSClient;
  readonly #queueUrl: string;

  constructor(client: SQSClient, queueUrl: string) {
    this.#client = client;
    this.#queueUrl = queueUrl;
  }

  /** @throws UnavailableError `queue.send_failed`; messages that were taken before it stay sent */
  async send(messages: readonly JobMessage[]): Promise<void> {
    for (let at = 0; at < messages.length; at += BATCH) await this.#sendBatch(messages.slice(at, at + BATCH));
  }

  async #sendBatch(batch: readonly JobMessage[]): Promise<void> {
    const refused = await this.#try(batch);
    if (refused.length === 0) return;
    const left = await this.#try(refused);
    if (left.length > 0) throw sendFailed('entries_refused', left.length);
  }

  /** @returns the messages that the queue did not take */
  async #try(batch: readonly JobMessage[]): Promise<readonly JobMessage[]> {
    try {
      const { Failed = [] } = await this.#client.send(
        new SendMessageBatchCommand(sendBatchRequest(this.#queueUrl, batch)),
      );
      const refused = new Set(Failed.map((entry) => entry.Id));
      return batch.filter((_, at) => refused.has(String(at)));
    } catch (error) {
      throw sendFailed(error instanceof Error ? error.name : 'unknown', batch.length, error);
    }
  }
}

function sendFailed(reason: string, messages: number, cause?: unknown): UnavailableError {
  return new UnavailableError('queue.send_failed', `the queue did not take ${messages} messages: ${reason}`, {
    details: { reason, messages },
    ...(cause === undefined ? {} : { cause }),
  });
}
