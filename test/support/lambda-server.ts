import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Context } from 'aws-lambda';
import * as z from 'zod';

/** A durable function's own handler: what its bundle exports. */
export type DurableEntry = (input: unknown, context: Context) => Promise<unknown>;

export interface Execution {
  readonly name: string;
  readonly status: 'SUCCEEDED' | 'FAILED';
  readonly result: unknown;
  readonly invocations: number;
}

const updateShape = z.looseObject({
  Id: z.string(),
  Type: z.string(),
  Action: z.string(),
  Name: z.string().optional(),
  SubType: z.string().optional(),
  Payload: z.string().optional(),
});
const checkpointShape = z.looseObject({ CheckpointToken: z.string(), Updates: z.array(updateShape).optional() });
const outputShape = z.looseObject({ Status: z.string(), Result: z.string().optional() });

interface Operation {
  Id: string;
  Type: string;
  Status: string;
  /** Seconds, as the wire has it. */
  StartTimestamp: number;
  Name?: string | undefined;
  SubType?: string | undefined;
  StepDetails?: { Result: string | undefined };
  ExecutionDetails?: { InputPayload: string };
}

interface Running {
  readonly arn: string;
  readonly operations: Map<string, Operation>;
}

export interface LambdaServer {
  /** For `AWS_ENDPOINT_URL_LAMBDA`. */
  readonly url: string;
  /** Sets what is invoked; only one function is known. */
  serve(entry: DurableEntry): void;
  /** Runs what was started, one after another, until nothing is left. @returns the executions, in the order they were started */
  settle(): Promise<readonly Execution[]>;
  close(): Promise<void>;
}

/**
 * Lambda's service for durable executions over its wire: starts asynchronously, one execution a name, keeps steps and waits,
 * and invokes again after a wait. For bundles, which bring their own client.
 */
export async function startLambdaServer(): Promise<LambdaServer> {
  const service = new DurableService();
  const server = createServer((incoming, outgoing) => void service.answer(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    serve: (entry) => {
      service.entry = entry;
    },
    settle: () => service.settle(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class DurableService {
  entry: DurableEntry | undefined;
  readonly #names = new Set<string>();
  readonly #waiting: { readonly name: string; readonly payload: string }[] = [];
  #running: Running | undefined;

  async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks).toString('utf8');
    const path = new URL(incoming.url ?? '/', 'http://lambda').pathname;
    if (/^\/2015-03-31\/functions\/[^/]+\/invocations$/.test(path)) this.#start(incoming, body, outgoing);
    else if (path.endsWith('/checkpoint')) send(outgoing, 200, this.#checkpoint(body));
    else send(outgoing, 501, { message: `Lambda server: ${path} is not known` });
  }

  async settle(): Promise<readonly Execution[]> {
    const ended: Execution[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      ended.push(await this.#run(next.name, next.payload));
    }
    return ended;
  }

  #start(incoming: IncomingMessage, body: string, outgoing: ServerResponse): void {
    const name = String(incoming.headers['x-amz-durable-execution-name'] ?? '');
    if (name === '' || incoming.headers['x-amz-invocation-type'] !== 'Event') {
      send(outgoing, 501, { message: 'Lambda server: only named asynchronous starts are known' });
      return;
    }
    if (this.#names.has(name)) {
      outgoing.setHeader('x-amzn-errortype', 'DurableExecutionAlreadyStartedException');
      send(outgoing, 409, { Type: 'User', Message: 'already started' });
      return;
    }
    this.#names.add(name);
    this.#waiting.push({ name, payload: body });
    send(outgoing, 202, undefined);
  }

  async #run(name: string, payload: string): Promise<Execution> {
    if (this.entry === undefined) throw new Error('Lambda server: no function to invoke');
    const arn = `arn:aws:lambda:eu-central-1:000000000000:function:phase2:1/durable-execution/${name}/1`;
    const start: Operation = { ...operation('execution', 'EXECUTION'), ExecutionDetails: { InputPayload: payload } };
    const running: Running = { arn, operations: new Map([['execution', start]]) };
    this.#running = running;
    for (let invocations = 1; ; invocations++) {
      for (const item of running.operations.values()) if (item.Type === 'WAIT') item.Status = 'SUCCEEDED';
      const Operations = structuredClone([...running.operations.values()]);
      const input = { DurableExecutionArn: arn, CheckpointToken: 'token', InitialExecutionState: { Operations } };
      const output = outputShape.parse(await this.entry(input, lambdaContext('phase2')));
      if (output.Status === 'PENDING') continue;
      if (output.Status !== 'SUCCEEDED') return { name, status: 'FAILED', result: output, invocations };
      return { name, status: 'SUCCEEDED', result: JSON.parse(output.Result ?? 'null'), invocations };
    }
  }

  #checkpoint(body: string): object {
    const running = this.#running;
    if (running === undefined) throw new Error('Lambda server: a checkpoint without an execution');
    const { Updates = [] } = checkpointShape.parse(JSON.parse(body));
    const Operations = Updates.map((update) => {
      const item = running.operations.get(update.Id) ?? operation(update.Id, update.Type);
      Object.assign(item, { Name: update.Name, SubType: update.SubType });
      running.operations.set(update.Id, item);
      if (update.Type === 'STEP' && update.Action === 'SUCCEED') {
        item.Status = 'SUCCEEDED';
        item.StepDetails = { Result: update.Payload };
      } else if (update.Action !== 'START') {
        throw new Error(`Lambda server: ${update.Type} ${update.Action} is not known`);
      }
      return structuredClone(item);
    });
    return { CheckpointToken: 'token', NewExecutionState: { Operations } };
  }
}

function operation(Id: string, Type: string): Operation {
  return { Id, Type, Status: 'STARTED', StartTimestamp: 0 };
}

function send(outgoing: ServerResponse, status: number, body: object | undefined): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
}

/** A fresh invocation with all its time. */
export function lambdaContext(functionName: string, remainingMs = 900_000): Context {
  const deadline = Date.now() + remainingMs;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '1',
    invokedFunctionArn: `arn:aws:lambda:eu-central-1:000000000000:function:${functionName}:1`,
    memoryLimitInMB: '1024',
    awsRequestId: 'request-1',
    logGroupName: 'group',
    logStreamName: 'stream',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
