import type { SQSRecord } from 'aws-lambda';
import { StillroomError, UnavailableError } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/time.ts';
import { decodeRecord, type Task } from './decode-record.ts';
import { handleTask } from './handle-task.ts';
import type { Invocation, Worker } from './worker.ts';

/** First wait of a message that failed, seconds; four times as long with each further receive. */
const FIRST_DELAY_S = 60;
const MAX_DELAY_S = 3_600;

/** What becomes of a message. */
export type RecordEnd =
  | { readonly kind: 'acknowledged' }
  /** It comes back after `delaySeconds`. `code` is content-free. */
  | { readonly kind: 'returned'; readonly code: string; readonly delaySeconds: number };

interface Failing {
  readonly code: string;
  readonly retryAfterMs: number;
}

const OUT_OF_TIME: Failing = { code: 'phase1.out_of_time', retryAfterMs: 0 };

/**
 * Deals with one message, all its parts, whatever becomes of the others: a part that ended well is a no-op when the message
 * comes back for another one (user case C6). Failures go by the table of architecture.md: what no retry changes is told and
 * acknowledged, an outage or a defect lets the message come back. Never throws.
 */
export async function processRecord(worker: Worker, invocation: Invocation, record: SQSRecord): Promise<RecordEnd> {
  const receives = Number(record.attributes.ApproximateReceiveCount) || 1;
  const failed: Failing[] = [];
  for (const task of decode(worker, record, failed)) {
    const failing = invocation.hasTimeFor(task) ? await attempt(worker, invocation, task) : OUT_OF_TIME;
    if (failing !== undefined) failed.push(failing);
  }
  const real = failed.find((failing) => failing !== OUT_OF_TIME);
  const end = endOf(real ?? failed[0], receives);
  tell(worker, record, { end, receives });
  return end;
}

function decode(worker: Worker, record: SQSRecord, failed: Failing[]): readonly Task[] {
  try {
    return decodeRecord(record.body, worker.deps.rolloutOf);
  } catch (error) {
    failed.push(classify(worker, error) ?? { code: 'phase1.unexpected', retryAfterMs: 0 });
    return [];
  }
}

async function attempt(worker: Worker, invocation: Invocation, task: Task): Promise<Failing | undefined> {
  try {
    await handleTask(worker, invocation.ports, task);
    return undefined;
  } catch (error) {
    return classify(worker, error);
  } finally {
    worker.deps.tracing.correlate({ thread_id: null });
  }
}

/** @returns undefined for a failure that no retry changes: the message is acknowledged */
function classify(worker: Worker, error: unknown): Failing | undefined {
  const { telemetry } = worker.deps;
  if (!(error instanceof StillroomError)) {
    telemetry.event('error', 'message.failed', { code: 'phase1.unexpected', error: nameOf(error) });
    return { code: 'phase1.unexpected', retryAfterMs: 0 };
  }
  const { code, kind } = error;
  telemetry.event(kind === 'defect' ? 'error' : 'warn', 'message.failed', { code, kind });
  if (kind !== 'unavailable' && kind !== 'defect') return undefined;
  const wait = error instanceof UnavailableError ? error.details['retry_after_ms'] : undefined;
  return { code, retryAfterMs: typeof wait === 'number' ? wait : 0 };
}

/** The class only: a message may quote what it was thrown over. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function endOf(failing: Failing | undefined, receives: number): RecordEnd {
  if (failing === undefined) return { kind: 'acknowledged' };
  if (failing === OUT_OF_TIME) return { kind: 'returned', code: failing.code, delaySeconds: 0 };
  const growing = FIRST_DELAY_S * 4 ** (receives - 1);
  const delaySeconds = Math.min(MAX_DELAY_S, Math.max(growing, Math.ceil(failing.retryAfterMs / SECOND_MS)));
  return { kind: 'returned', code: failing.code, delaySeconds };
}

function tell(worker: Worker, record: SQSRecord, of: { readonly end: RecordEnd; readonly receives: number }): void {
  const { telemetry } = worker.deps;
  const { end, receives } = of;
  telemetry.count('stillroom.phase1.message', 1, { status: end.kind });
  if (end.kind === 'acknowledged') return;
  const { code, delaySeconds } = end;
  const fields = { message_id: record.messageId, code, receives, delay_s: delaySeconds };
  telemetry.event(code === OUT_OF_TIME.code ? 'info' : 'warn', 'message.returned', fields);
}
