import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod';
import { DefectError, StillroomError } from '../../core/errors.ts';
import { processRecord } from './process-record.ts';
import { beginInvocation, type Invocation, type Worker } from './worker.ts';

const recordShape = z.object({
  messageId: z.string(),
  receiptHandle: z.string(),
  body: z.string(),
  attributes: z.object({ ApproximateReceiveCount: z.string() }),
});
const eventShape = z.object({
  Records: z.array(z.custom<SQSRecord>((record) => recordShape.safeParse(record).success)),
});

/** Tells the batch processor that a message goes back. Carries nothing: all of it was told. */
class Returned extends Error {}

/**
 * Deals with a batch of messages one after the other; each is settled on its own, whatever becomes of the others.
 * @param remainingMs time left of the invocation
 * @returns the messages that go back to the queue (user case C7)
 * @throws DefectError `phase1.unreadable_event` when this is no batch of a queue: all of it then comes back
 */
export async function processBatch(
  worker: Worker,
  event: unknown,
  remainingMs: () => number,
): Promise<SQSBatchResponse> {
  const batch = eventShape.safeParse(event);
  if (!batch.success) throw new DefectError('phase1.unreadable_event', 'the event is no batch of queue messages');
  const invocation = beginInvocation(worker.deps, remainingMs);
  const settle = (record: SQSRecord): Promise<void> => settleRecord(worker, invocation, record);
  return processPartialResponse(batch.data satisfies SQSEvent, settle, new BatchProcessor(EventType.SQS), {
    processInParallel: false,
    throwOnFullBatchFailure: false,
  });
}

async function settleRecord(worker: Worker, invocation: Invocation, record: SQSRecord): Promise<void> {
  const end = await processRecord(worker, invocation, record);
  if (end.kind === 'acknowledged') return;
  try {
    await worker.deps.redelivery.redeliver(record.receiptHandle, end.delaySeconds);
  } catch (error) {
    // It comes back all the same, at the end of the queue's visibility time-out.
    const code = error instanceof StillroomError ? error.code : 'phase1.unexpected';
    worker.deps.telemetry.event('warn', 'message.not_released', { message_id: record.messageId, code });
  }
  throw new Returned();
}
