import type { SQSRecord } from 'aws-lambda';
import { messageOf } from '../functions/phase1/events.ts';
import type { Command } from './intercept.ts';

/** As deployed: six times the longest run of phase1. */
const VISIBILITY_MS = 90 * 60_000;
const MAX_RECEIVES = 5;

interface Message {
  readonly number: number;
  readonly body: string;
  receives: number;
  /** ms since the epoch; hidden before. */
  visibleAt: number;
}

/** A queue with its dead-letter queue, in memory, on a clock that is moved. Knows the two commands that the functions send. */
export class QueueService {
  readonly deadLetters: string[] = [];
  readonly #messages = new Map<number, Message>();
  readonly #now: () => number;
  #sent = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  put(body: string): void {
    const number = ++this.#sent;
    this.#messages.set(number, { number, body, receives: 0, visibleAt: this.#now() });
  }

  /** What SQS answers. @throws Error for any other command */
  async answer(command: Command): Promise<unknown> {
    const { input } = command;
    const { name } = command.constructor;
    if (name === 'ChangeMessageVisibilityCommand') return this.#hide(input);
    const entries = input['Entries'];
    if (name !== 'SendMessageBatchCommand' || !Array.isArray(entries))
      throw new Error(`the queue does not know ${name}`);
    for (const { MessageBody } of entries) this.put(String(MessageBody));
    return { Failed: [] };
  }

  /** The next visible message, hidden for the visibility time-out. The one that was received too often goes aside instead. */
  receive(): SQSRecord | undefined {
    for (const message of this.#messages.values()) {
      if (message.visibleAt > this.#now()) continue;
      if (message.receives >= MAX_RECEIVES) {
        this.#messages.delete(message.number);
        this.deadLetters.push(message.body);
        continue;
      }
      message.receives++;
      message.visibleAt = this.#now() + VISIBILITY_MS;
      return messageOf(message.body, message.number, message.receives);
    }
    return undefined;
  }

  /** Acknowledges a received message. */
  remove({ messageId }: SQSRecord): void {
    this.#messages.delete(numberIn(messageId));
  }

  /** When the next message can be received; undefined when there is none. */
  nextAt(): number | undefined {
    const times = [...this.#messages.values()].map((message) => message.visibleAt);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #hide(input: Readonly<Record<string, unknown>>): object {
    const message = this.#messages.get(numberIn(String(input['ReceiptHandle'])));
    if (message !== undefined) message.visibleAt = this.#now() + Number(input['VisibilityTimeout']) * 1_000;
    return {};
  }
}

/** Ids of messages and their receipts end with their number. */
function numberIn(id: string): number {
  return Number(/\d+$/.exec(id)?.[0]);
}
