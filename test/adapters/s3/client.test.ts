import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createObjectClient, objectClientConfig } from '../../../adapters/s3/client.ts';
import { S3MemoryStore } from '../../../adapters/s3/memory-store.ts';
import { S3RolloutStore } from '../../../adapters/s3/rollout-store.ts';
import { aManifest } from '../../contracts/memory-store.contract.ts';
import { readAll } from '../../contracts/rollout-store.contract.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** S3's wire on loopback, as far as one request at a time needs it. */
class Loopback {
  readonly requests: string[] = [];
  answer: Answer = (_request, response) => response.end();
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.requests.push(`${request.method}`);
      this.answer(request, response, Buffer.concat(chunks));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let loopback: Loopback;
let client: S3Client;
const environment = { ...process.env };

beforeEach(async () => {
  loopback = new Loopback();
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_S3: await loopback.start(),
  });
  client = createObjectClient();
});
afterEach(async () => {
  client.destroy();
  process.env = { ...environment };
  await loopback.stop();
});

const reset: Answer = (request) => request.socket.resetAndDestroy();

describe('C31: the first call after a thaw', () => {
  it('is made once more at once when its socket was reset', async () => {
    const good = loopback.answer;
    loopback.answer = (...args) => {
      loopback.answer = good;
      reset(...args);
    };
    await client.send(new HeadObjectCommand({ Bucket: 'rollouts', Key: 'k' }));
    expect(loopback.requests).toEqual(['HEAD', 'HEAD']);
  });

  it('is not made a third time', async () => {
    loopback.answer = reset;
    await expect(client.send(new HeadObjectCommand({ Bucket: 'rollouts', Key: 'k' }))).rejects.toMatchObject({
      code: 'ECONNRESET',
    });
    expect(loopback.requests).toHaveLength(2);
  });

  it('publishes no second manifest: the one that was stored before the reset is recognised', async () => {
    let stored: Buffer | undefined;
    loopback.answer = (request, response, body) => {
      if (request.method === 'GET') return void response.end(stored);
      if (stored !== undefined)
        return void response.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>');
      expect(request.headers['if-none-match']).toBe('*');
      stored = body;
      request.socket.resetAndDestroy();
    };
    const store = new S3MemoryStore(client, 'memories', new RecordingTelemetry());
    expect(await store.putManifest('user1', aManifest(1))).toBe('stored');
    expect(loopback.requests).toEqual(['PUT', 'PUT', 'GET']);
    expect(await store.putManifest('user1', aManifest(1, { actor: 'other' }))).toBe('taken');
  });
});

describe('C30: the sockets of one process', () => {
  it('last for 200 looks and as many readers that stop early, and one more read', async () => {
    const body = Buffer.alloc(1_000_000, 'x');
    loopback.answer = (request, response) => {
      response.setHeader('content-length', String(body.length));
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    const store = new S3RolloutStore(client, 'rollouts');
    for (let at = 0; at < 200; at++) await store.look('user1', 't1');
    const leave = async () => {
      for await (const chunk of await store.open('user1', 't1')) return chunk.length;
      return 0;
    };
    for (let at = 0; at < 220; at += 20) await Promise.all(Array.from({ length: 20 }, leave));
    expect((await readAll(await store.open('user1', 't1'))).length).toBe(body.length);
    expect(loopback.requests.filter((method) => method === 'HEAD')).toHaveLength(200);
  });
});

it('has limits of time and tries, and sockets enough', async () => {
  const agent = { maxSockets: 200, keepAlive: true };
  expect(objectClientConfig()).toMatchObject({
    maxAttempts: 2,
    requestHandler: { throwOnRequestTimeout: true, httpAgent: agent, httpsAgent: agent },
  });
  expect(await client.config.maxAttempts()).toBe(2);
});

it('gives up on a call that is not answered in time, after a second try', async () => {
  const { requestHandler, ...config } = objectClientConfig();
  const hasty = new S3Client({ ...config, requestHandler: { ...requestHandler, requestTimeout: 40 } });
  loopback.answer = () => {};
  await expect(hasty.send(new HeadObjectCommand({ Bucket: 'rollouts', Key: 'k' }))).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  expect(loopback.requests).toHaveLength(2);
  hasty.destroy();
});
