import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SAMPLES, stillroom } from '../support/command.ts';

let home = '';
let provider: Server;
let asked = 0;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'stillroom-empty-'));
  provider = createServer((_request, response) => {
    asked++;
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"down","type":"server_error"}}');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  provider.close();
  rmSync(home, { recursive: true, force: true });
});

it('A7 where every extraction failed nothing is consolidated, and status says how many failed', async () => {
  const { port } = provider.address() as AddressInfo;
  const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const run = await stillroom(['run', join(SAMPLES, 'codex'), '--home', home, '--model', 'openai', '--json'], { env });
  expect(run.exitCode).not.toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ consolidation: { kind: 'nothing' } });
  const status = await stillroom(['status', '--home', home, '--json']);
  const { threads, memory, health } = JSON.parse(status.stdout);
  const failed = threads.by_outcome['failed(model_unavailable)'];
  expect(failed).toBeGreaterThan(3);
  expect(asked).toBeGreaterThanOrEqual(failed);
  expect(health).toBe('failing');
  expect(memory).toMatchObject({ version: 0, files: 0 });
  const text = await stillroom(['status', '--home', home]);
  expect(text.stdout).toContain(`nothing to consolidate, ${failed} failed`);
});
