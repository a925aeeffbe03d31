import {
  type CheckpointDurableExecutionRequest,
  type CheckpointDurableExecutionResponse,
  type DurableContext,
  type DurableExecutionClient,
  type DurableLambdaHandler,
  InvocationStatus,
  OperationAction,
  OperationStatus,
  OperationType,
  type OperationUpdate,
  type WireOperation,
  withDurableExecution,
} from '@aws/durable-execution-sdk-js';
import type { Context } from 'aws-lambda';

export type DurableHandler<Result> = (event: unknown, context: DurableContext) => Promise<Result>;

/** Makes the function over the service that keeps its execution. */
export type MakeHandler = (config: { readonly durableExecutionClient: DurableExecutionClient }) => DurableLambdaHandler;

/** How an execution ended. */
export type DurableEnd =
  | { readonly status: 'SUCCEEDED'; readonly result: unknown }
  | { readonly status: 'FAILED'; readonly message: string };

const KILLED = Symbol('killed');
const EXECUTION = 'execution';
const MAX_PAYLOAD_BYTES = 256 * 1024;

/**
 * The service behind one durable execution, in memory: keeps its steps and waits, and invokes the function until it ends. A
 * test may kill an invocation at any moment; what had been kept by then is what the next one sees. Knows steps and waits only,
 * and refuses the rest.
 */
export class DurableHost {
  readonly #operations: Map<string, WireOperation>;
  readonly #handler: DurableLambdaHandler;
  readonly #context: Context;
  #kill: () => void = () => {};
  #alive = 0;
  /** Invocations begun so far. */
  invocations = 0;

  /** @param remainingMs the time that an invocation has left */
  constructor(event: unknown, make: MakeHandler, remainingMs: () => number = () => 900_000) {
    const ExecutionDetails = { InputPayload: JSON.stringify(event) };
    this.#operations = new Map([[EXECUTION, { ...started(EXECUTION, OperationType.EXECUTION), ExecutionDetails }]]);
    this.#handler = make({ durableExecutionClient: this.#client() });
    this.#context = { ...LAMBDA_CONTEXT, getRemainingTimeInMillis: remainingMs };
  }

  /** An execution of a bare handler. */
  static of(handler: DurableHandler<unknown>): DurableHost {
    return new DurableHost({}, (config) => withDurableExecution(handler, config));
  }

  /** Names of the steps and waits that have ended, in order. */
  get ended(): readonly string[] {
    const ended = [...this.#operations.values()].filter((operation) => operation.Status === OperationStatus.SUCCEEDED);
    return ended.map((operation) => operation.Name ?? '');
  }

  /** Ends the present invocation as a crash would: nothing that it does from now on is kept. */
  readonly kill = (): void => {
    this.#alive++;
    this.#kill();
  };

  /** All that the service keeps of the execution, as text. */
  history(): string {
    return JSON.stringify([...this.#operations.values()]);
  }

  /** `kill`, for use in the middle of something: what waits for it goes no further. */
  readonly killHere = (): Promise<never> => {
    this.kill();
    return new Promise(() => {});
  };

  /** Invokes until the execution ends. */
  async run(): Promise<DurableEnd> {
    for (;;) {
      const end = await this.invoke();
      if (end !== 'suspended' && end !== 'killed') return end;
    }
  }

  /** One invocation. */
  async invoke(): Promise<DurableEnd | 'suspended' | 'killed'> {
    this.invocations++;
    for (const operation of this.#operations.values())
      if (operation.Type === OperationType.WAIT) operation.Status = OperationStatus.SUCCEEDED;
    const killed = new Promise<typeof KILLED>((resolve) => {
      this.#kill = () => resolve(KILLED);
    });
    const input = {
      DurableExecutionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:phase2:1/durable-execution/n/1',
      CheckpointToken: this.#token(),
      InitialExecutionState: { Operations: structuredClone([...this.#operations.values()]) },
    };
    const output = await Promise.race([this.#handler(input, this.#context), killed]);
    if (output === KILLED) return 'killed';
    if (output.Status === InvocationStatus.PENDING) return 'suspended';
    if (output.Status === InvocationStatus.FAILED)
      return { status: 'FAILED', message: output.Error.ErrorMessage ?? '' };
    return { status: 'SUCCEEDED', result: JSON.parse(output.Result ?? 'null') };
  }

  #token(): string {
    return `invocation-${this.#alive}`;
  }

  #client(): DurableExecutionClient {
    return {
      checkpoint: (request) => this.#checkpoint(request),
      getExecutionState: async () => ({ Operations: [] }),
    };
  }

  async #checkpoint(request: CheckpointDurableExecutionRequest): Promise<CheckpointDurableExecutionResponse> {
    if (request.CheckpointToken !== this.#token()) return new Promise(() => {}); // a dead invocation is not heard
    const changed = (request.Updates ?? []).map((update) => this.#apply(update));
    return { CheckpointToken: this.#token(), NewExecutionState: { Operations: structuredClone(changed) } };
  }

  #apply(update: OperationUpdate): WireOperation {
    const { Id = '', Type, Action, Name, SubType, Payload } = update;
    if (Buffer.byteLength(Payload ?? '') > MAX_PAYLOAD_BYTES) throw new Error('checkpoint over 256 KB');
    const operation = this.#operations.get(Id) ?? { ...started(Id, Type), Name, SubType };
    this.#operations.set(Id, operation);
    if (Type === OperationType.STEP && Action === OperationAction.SUCCEED) {
      operation.Status = OperationStatus.SUCCEEDED;
      operation.StepDetails = { Result: Payload };
      return operation;
    }
    if ((Type === OperationType.STEP || Type === OperationType.WAIT) && Action === OperationAction.START)
      return operation;
    throw new Error(`unexpected operation ${Type} ${Action}`);
  }
}

function started(Id: string, Type: OperationType | undefined): WireOperation {
  return { Id, Type, Status: OperationStatus.STARTED, StartTimestamp: new Date(0) };
}

/** A fresh invocation with all its time. */
const LAMBDA_CONTEXT: Context = {
  callbackWaitsForEmptyEventLoop: true,
  functionName: 'phase2',
  functionVersion: '1',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:000000000000:function:phase2:1',
  memoryLimitInMB: '1024',
  awsRequestId: 'request-1',
  logGroupName: 'group',
  logStreamName: 'stream',
  getRemainingTimeInMillis: () => 900_000,
  done: () => {},
  fail: () => {},
  succeed: () => {},
};
