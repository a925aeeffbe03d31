import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** How the server answers one request. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Sent instead of `json`, as it is. */
  readonly text?: string;
  /** `hang`: never answers. `hang_body`: sends the head and a part. `reset`: cuts the connection. */
  readonly fault?: 'hang' | 'hang_body' | 'reset';
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As sent. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ScriptedOpenAi {
  /** With `/v1`, as a client is configured with. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  /** Stops the server. @throws Error when a request came that the script does not know, or an entry was not used */
  close(): Promise<void>;
}

/** A provider on loopback that answers the requests in the order of the script, and records them. */
export async function startScriptedOpenAi(script: readonly ScriptedAnswer[]): Promise<ScriptedOpenAi> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const seen = await readRequest(incoming);
    const answer = script[requests.length];
    requests.push(seen);
    send(outgoing, answer ?? { status: 400, json: { error: { code: 'not_in_the_script', message: 'no entry left' } } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (requests.length !== script.length) {
        throw new Error(`the script has ${script.length} answers, ${requests.length} requests came`);
      }
    },
  };
}

/** A completed answer of the Responses API with one message. */
export function completedAnswer(text: string, more: Readonly<Record<string, unknown>> = {}): ScriptedAnswer {
  return responsesAnswer([messageOutput({ type: 'output_text', text, annotations: [] })], more);
}

/** An answer of the Responses API with these output items. */
export function responsesAnswer(
  output: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): ScriptedAnswer {
  return {
    json: {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'scripted-1',
      output,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 13,
      },
      ...more,
    },
  };
}

/** An output item: one message of the assistant with these parts. */
export function messageOutput(...parts: readonly unknown[]): unknown {
  return { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: parts };
}

/** A refusal of the request, in the provider's form. */
export function errorAnswer(
  status: number,
  error: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): ScriptedAnswer {
  return { status, headers, json: { error: { message: 'no', type: 'invalid_request_error', param: null, ...error } } };
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('utf8');
  const parsed: unknown = text === '' ? {} : JSON.parse(text);
  const body = typeof parsed === 'object' && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {};
  return { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, text, body };
}

function send(outgoing: ServerResponse, answer: ScriptedAnswer): void {
  if (answer.fault === 'hang') return;
  if (answer.fault === 'reset') {
    outgoing.socket?.destroy();
    return;
  }
  outgoing.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
  if (answer.fault === 'hang_body') outgoing.write('{"id":');
  else outgoing.end(answer.text ?? JSON.stringify(answer.json));
}
