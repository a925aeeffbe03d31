import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { createTableClient } from '../../adapters/dynamodb/client.ts';

/** Commands of the document client that a fault may hit, by class name. */
export type CommandName =
  | 'BatchWriteCommand'
  | 'DeleteCommand'
  | 'GetCommand'
  | 'PutCommand'
  | 'QueryCommand'
  | 'UpdateCommand';

/**
 * - `repeated`: applied, the reply lost, and the SDK's second try answered by what is stored then;
 * - `lost`: applied, and no reply to either try;
 * - `silent`: not applied, no reply to either try;
 * - `throttled`: both tries refused.
 */
export type Fault = 'repeated' | 'lost' | 'silent' | 'throttled';

interface PlannedFault {
  readonly command: CommandName;
  readonly fault: Fault;
  /** Done by somebody else between the first try and the second. */
  readonly between: () => Promise<unknown>;
}

/** A client that hands everything on to a real one, and breaks where it is told to. */
export class FaultyTable {
  readonly client: DynamoDBDocumentClient;
  readonly #plan: PlannedFault[] = [];

  constructor(real: DynamoDBDocumentClient) {
    this.client = createTableClient({ region: 'us-east-1' });
    const mock = mockClient(this.client);
    // the stub is told the input alone, so the command is taken from what it recorded last
    mock.onAnyCommand().callsFake(() => this.#send(real, mock.calls().at(-1)?.args[0]));
  }

  /** Breaks the next such command, once. */
  break(command: CommandName, fault: Fault, between: () => Promise<unknown> = async () => undefined): void {
    this.#plan.push({ command, fault, between });
  }

  /** @throws Error when a planned fault met no command */
  requireAllBroken(): void {
    if (this.#plan.length > 0) throw new Error(`${this.#plan.length} planned faults met no command`);
  }

  async #send(real: DynamoDBDocumentClient, command: unknown): Promise<unknown> {
    if (!isCommand(command)) throw new Error('the mock recorded no command');
    const at = this.#plan.findIndex((planned) => planned.command === command.constructor.name);
    const [planned] = at < 0 ? [] : this.#plan.splice(at, 1);
    if (planned?.fault === 'throttled') throw named('ProvisionedThroughputExceededException');
    if (planned?.fault === 'silent') throw named('TimeoutError');
    const reply = await real.send(command);
    if (planned === undefined) return reply;
    await planned.between();
    if (planned.fault === 'repeated') return real.send(command);
    await real.send(command).catch((error: unknown) => error); // the second try, whose reply is lost as well
    throw named('TimeoutError');
  }
}

type AnyCommand = Parameters<DynamoDBDocumentClient['send']>[0];

function isCommand(value: unknown): value is AnyCommand {
  return typeof value === 'object' && value !== null && 'input' in value && 'resolveMiddleware' in value;
}

function named(name: string): Error {
  return Object.assign(new Error('secret content'), { name });
}
