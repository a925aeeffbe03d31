import {
  DurableExecutionAlreadyStartedException,
  InvokeCommand,
  type InvokeCommandInput,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import { UnavailableError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { ConsolidationStarter } from '../../core/ports/consolidation-starter.ts';

type Start = Parameters<ConsolidationStarter['start']>[0];

/**
 * The request that starts one run. Its execution name is a hash (64 characters of a to f and digits: all that a name may
 * have), so that no user key can break it; it covers the function, since names are shared by an account's functions.
 */
export function startRequest(
  functionArn: string,
  { userKey, dueAt, immediate }: Start,
): InvokeCommandInput & { readonly Payload: Uint8Array } {
  return {
    FunctionName: functionArn,
    InvocationType: 'Event',
    DurableExecutionName: sha256Hex(JSON.stringify([functionArn, userKey, dueAt])),
    Payload: Buffer.from(JSON.stringify({ user_key: userKey, due_at: dueAt, immediate })),
  };
}

/** Starts consolidations as durable executions of a Lambda function. */
export class LambdaConsolidationStarter implements ConsolidationStarter {
  readonly #client: LambdaClient;
  readonly #functionArn: string;

  /** @param functionArn with its version or alias: a durable execution stays on the code it began with */
  constructor(client: LambdaClient, functionArn: string) {
    this.#client = client;
    this.#functionArn = functionArn;
  }

  /** @throws UnavailableError `consolidation.not_started` */
  async start(start: Start): Promise<void> {
    try {
      await this.#client.send(new InvokeCommand(startRequest(this.#functionArn, start)));
    } catch (error) {
      if (error instanceof DurableExecutionAlreadyStartedException) return; // same name: the run is there
      const reason = error instanceof Error ? error.name : 'unknown';
      throw new UnavailableError('consolidation.not_started', `a consolidation could not be started: ${reason}`, {
        details: { reason },
        cause: error,
      });
    }
  }
}
