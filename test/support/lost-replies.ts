import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** Commands that change something. */
const WRITES = /^(Put|Update|Delete|BatchWrite)/;

export interface LostReplies {
  /** Names of the write commands whose replies were lost, in order. */
  readonly lost: readonly string[];
  /** Loses the replies to so many attempts of writes from now on; `then` runs after each, before the client hears of it. */
  lose(count: number, then?: () => Promise<void>): void;
}

/**
 * Lets a client lose replies to writes that were applied: each looks like a time-out to it, and its own second attempt meets
 * what the first one did.
 */
export function loseReplies(client: DynamoDBDocumentClient): LostReplies {
  const lost: string[] = [];
  let left = 0;
  let after = async (): Promise<void> => {};
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const name = 'commandName' in context ? String(context.commandName) : '';
      if (left === 0 || !WRITES.test(name)) return next(args);
      left--;
      lost.push(name);
      await next(args).catch(() => undefined); // a refusal is a reply that can get lost, too
      await after();
      throw Object.assign(new Error('no reply'), { name: 'TimeoutError' });
    },
    { step: 'finalizeRequest', priority: 'low', name: 'loseReplies' },
  );
  return {
    lost,
    lose(count, then = async () => {}) {
      left = count;
      after = then;
    },
  };
}
