import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BUNDLE_LIMITS } from '../../infra/bundling.ts';
import { bundle } from '../support/bundles.ts';
import { gatewayEvent, tokenOf } from '../support/gateway-event.ts';
import { makeTempFolder } from '../support/ground.ts';

type HttpFunction = 'read' | 'control' | 'mcp';

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key-id',
  AWS_SECRET_ACCESS_KEY: 'key',
  STAGE: 'test',
  TABLE_NAME: 'table',
  MEMORIES_BUCKET: 'memories',
  ROLLOUTS_BUCKET: 'rollouts',
  QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/123456789012/rollouts',
  CONSOLIDATION_FUNCTION: 'arn:aws:lambda:eu-central-1:123456789012:function:phase2:live',
  AUTH_MODE: 'jwt',
};

/** Calls a bundle in a Node of its own, which has nothing but the file and the environment of a function. */
async function invoke(file: string, event: object): Promise<unknown> {
  const script = `import(process.argv[1]).then(({ handler }) => handler(JSON.parse(process.argv[2]), { awsRequestId: 'r' })).then((answer) => console.log(JSON.stringify(answer)))`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['-e', script, pathToFileURL(file).href, JSON.stringify(event)],
    { env: ENVIRONMENT, cwd: join(file, '..') },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

const FORBIDDEN = {
  read: /node_modules\/(openai|zod\/v4\/classic|@modelcontextprotocol|gpt-tokenizer|aws-cdk-lib|@aws-sdk\/credential-provider-)/,
  control: /node_modules\/(openai|@modelcontextprotocol|gpt-tokenizer|aws-cdk-lib)/,
  mcp: /node_modules\/(openai|gpt-tokenizer|aws-cdk-lib)/,
};

const LIST_TOOLS = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';
const RPC_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const SAMPLES: Readonly<Record<HttpFunction, readonly [object, object]>> = {
  read: [gatewayEvent({ path: '/healthz' }), { statusCode: 200, body: '{"status":"ok"}' }],
  control: [
    gatewayEvent({ path: '/v1/threads' }),
    { statusCode: 401, body: expect.stringContaining('auth.not_authorized') },
  ],
  mcp: [
    gatewayEvent({ method: 'POST', path: '/mcp', headers: RPC_HEADERS, body: LIST_TOOLS, caller: tokenOf('user-1') }),
    { statusCode: 200, body: expect.stringContaining('memory_search') },
  ],
};

describe.each<HttpFunction>(['read', 'control', 'mcp'])('the bundle of %s', (name) => {
  it('is small, holds nothing it must not, loads in plain Node and answers', async () => {
    const { file, bytes, modules } = await bundle(name, makeTempFolder());
    expect(bytes).toBeLessThanOrEqual(BUNDLE_LIMITS[name]);
    expect(modules.filter((path) => FORBIDDEN[name].test(path))).toEqual([]);
    const [event, answer] = SAMPLES[name];
    expect(await invoke(file, event)).toMatchObject(answer);
  });
});
