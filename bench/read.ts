import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Hono } from 'hono';
import { openHome } from '../local/home.ts';
import { createLocalApp } from '../local/serve.ts';
import { type Measurement, percentile, timeOf } from './measurement.ts';

const ROOT = resolve(import.meta.dirname, '..');
const WARM_UP = 200;
const REQUESTS = 2_000;
const PATH = 'http://127.0.0.1/v1/memory';

/** `GET /v1/memory` in process on a warm home, next to a bare Hono route that answers the same bytes. */
export async function benchRead(): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-bench-'));
  const words = [
    join(ROOT, 'cli/bin.js'),
    'run',
    join(ROOT, 'examples/rollouts'),
    '--home',
    folder,
    '--model',
    'offline',
    '--json',
  ];
  execFileSync(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const home = openHome(folder, { create: false });
  try {
    const app = createLocalApp(home);
    const first = await app.request(PATH);
    const body = await first.text();
    const etag = first.headers.get('etag') ?? '';
    const bare = new Hono();
    bare.get('/v1/memory', (context) => context.body(body, 200, { 'content-type': 'application/json' }));
    const full = await sample(() => app.request(PATH));
    const notModified = await sample(() => app.request(PATH, { headers: { 'if-none-match': etag } }));
    const plain = await sample(() => bare.request(PATH));
    const p50 = percentile(full, 50);
    return [
      {
        name: 'read: GET /v1/memory p50',
        value: p50,
        unit: 'ms',
        remark: `${REQUESTS} warm requests, ${body.length} characters`,
      },
      { name: 'read: GET /v1/memory p99', value: percentile(full, 99), unit: 'ms', remark: '' },
      { name: 'read: 304 p50', value: percentile(notModified, 50), unit: 'ms', remark: '' },
      { name: 'read: bare route p50', value: percentile(plain, 50), unit: 'ms', remark: 'same bytes, same run' },
      {
        name: 'read: time ratio',
        value: p50 / percentile(plain, 50),
        unit: 'ratio',
        remark: 'GET /v1/memory / bare route',
      },
    ];
  } finally {
    home.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sample(request: () => Response | Promise<Response>): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < WARM_UP + REQUESTS; at++) {
    const ms = await timeOf(async () => (await request()).arrayBuffer());
    if (at >= WARM_UP) times.push(ms);
  }
  return times;
}
