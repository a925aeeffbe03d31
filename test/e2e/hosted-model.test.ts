import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { startOfflineModel } from '../../local/offline/server.ts';
import { type CommandResult, SAMPLES, stillroomHere } from '../support/command.ts';

/** A provider that refuses every call in one way and counts them. */
interface Refusing {
  readonly baseUrl: string;
  readonly calls: () => number;
  close(): void;
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-hosted-'));
  vi.stubEnv('OPENAI_API_KEY', ['sk', 'proj', 'made-up-for-this-test-0123456789'].join('-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function startRefusing(status: number, code: string): Promise<Refusing> {
  let calls = 0;
  const server: Server = createServer((request, answer) => {
    calls++;
    request.resume();
    answer.writeHead(status, { 'content-type': 'application/json' });
    answer.end(JSON.stringify({ error: { code, message: `no: ${code}`, type: 'error' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    calls: () => calls,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function run(): Promise<CommandResult> {
  return stillroomHere(['run', SAMPLES, '--home', join(folder, 'home'), '--json']);
}

async function outcomes(): Promise<string[]> {
  const result = await stillroomHere(['threads', '--home', join(folder, 'home'), '--json']);
  return z
    .array(z.looseObject({ outcome: z.string() }))
    .parse(JSON.parse(result.stdout))
    .map((row) => row.outcome);
}

const reportShape = z.looseObject({
  summary: z.string(),
  model: z.object({ label: z.string(), offline: z.boolean() }),
  usage: z.looseObject({ calls: z.number(), budget: z.number().nullable() }),
});

describe('run with a hosted model', () => {
  it.each([
    ['a wrong key', 401, 'invalid_api_key'],
    ['an unknown model', 404, 'model_not_found'],
  ])('A37 %s is one visible error; nothing more is asked and nothing is lost', async (_, status, code) => {
    const provider = await startRefusing(status, code);
    vi.stubEnv('OPENAI_BASE_URL', provider.baseUrl);
    const refused = await run();
    expect(refused.exitCode).toBe(6);
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
    expect(refused.stderr).toContain('OPENAI_API_KEY');
    expect(refused.stderr + refused.stdout).not.toContain('made-up-for-this-test');
    expect(provider.calls()).toBeLessThanOrEqual(8);
    provider.close();
    // with a provider that works the next run takes up everything
    const working = await startOfflineModel();
    vi.stubEnv('OPENAI_BASE_URL', working.baseUrl);
    const done = await run();
    await working.close();
    expect([done.exitCode, done.stderr]).toEqual([0, '']);
    const report = reportShape.parse(JSON.parse(done.stdout));
    expect(report.summary.startsWith('v1\n')).toBe(true);
    expect(report.model.offline).toBe(false);
    expect(report.usage.budget).toBe(2_000_000);
    expect((await outcomes()).filter((outcome) => outcome === 'extracted').length).toBeGreaterThanOrEqual(8);
  });

  it.each([
    ['OPENAI_API_KEY', 'ключ', undefined, 'bad_api_key'],
    ['OPENAI_API_KEY', 'key\r\nx-other: 1', undefined, 'bad_api_key'],
    ['OPENAI_BASE_URL', undefined, 'http://user:pass@127.0.0.1:9/v1', 'url_with_credentials'],
    ['OPENAI_BASE_URL', undefined, 'http://127.0.0.1:25/v1', 'bad_url'],
  ])('%s that cannot be used is named in one sentence, and nothing is booked: %j %j', async (name, key, url, code) => {
    if (key !== undefined) vi.stubEnv('OPENAI_API_KEY', key);
    vi.stubEnv('OPENAI_BASE_URL', url ?? 'http://127.0.0.1:9/v1');
    const result = await run();
    expect(result.exitCode).toBe(6);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
    expect(result.stderr).toContain(`(${code}): ${name} `);
    expect(result.stderr + result.stdout).not.toMatch(/pass@|ключ|x-other/);
    const { usage } = reportShape.parse(JSON.parse(result.stdout));
    expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
  });

  it('a provider that cannot be reached is told in one sentence, and nothing is booked', async () => {
    const gone = await startRefusing(500, 'x');
    gone.close();
    vi.stubEnv('OPENAI_BASE_URL', gone.baseUrl);
    const result = await run();
    expect(result.exitCode).toBe(6);
    expect(result.stderr.trim().split('\n')).toHaveLength(1);
    expect(result.stderr).toContain('every session failed since the model could not be reached (connection_refused)');
    expect(result.stderr).not.toContain('OPENAI_API_KEY');
    expect(reportShape.parse(JSON.parse(result.stdout)).usage).toMatchObject({ input_tokens: 0 });
  });

  it('A39 a provider that is out leaves named outcomes and a retry, and no version', async () => {
    const provider = await startRefusing(500, 'server_error');
    vi.stubEnv('OPENAI_BASE_URL', provider.baseUrl);
    const result = await run();
    provider.close();
    expect(result.exitCode).toBe(6);
    expect(result.stderr).toContain('could not be reached (http_500): the provider is out of order');
    const report = z.looseObject({ memory: z.looseObject({ version: z.number() }) }).parse(JSON.parse(result.stdout));
    expect(report.memory.version).toBe(0);
    const found = await outcomes();
    expect(found.filter((outcome) => outcome === 'failed(model_unavailable)').length).toBeGreaterThanOrEqual(8);
    const status = JSON.parse((await stillroomHere(['status', '--home', join(folder, 'home'), '--json'])).stdout);
    expect(status).toMatchObject({ health: expect.stringMatching(/degraded|failing/) });
  });

  it('a rate limit defers, and is no failure', async () => {
    const provider = await startRefusing(429, 'rate_limit_exceeded');
    vi.stubEnv('OPENAI_BASE_URL', provider.baseUrl);
    const result = await run();
    provider.close();
    expect([result.exitCode, result.stderr]).toEqual([0, '']);
    expect((await outcomes()).filter((outcome) => outcome === 'deferred(rate_limit)').length).toBeGreaterThanOrEqual(8);
  });
});
