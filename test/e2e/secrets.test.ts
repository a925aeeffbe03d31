import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { unpackBody } from '../../adapters/sqlite/body-codec.ts';
import { startOfflineModel } from '../../local/offline/server.ts';
import { stillroomHere } from '../support/command.ts';
import { codexRollout } from '../support/rollout-builder.ts';

const NEEDLE = 'Zq7Rk2Lw9Xv4Tn8Bh3Jd';
/** Put together here, so that no scanner takes this file for a leak. */
const SECRETS = {
  user: ['sk', 'proj', `${NEEDLE}user00000000`].join('-'),
  tool: ['ghp', `${NEEDLE}tool000000000000`].join('_'),
  fileName: ['sk', `${NEEDLE}name00000000`].join('-'),
  remote: `${NEEDLE}remote`,
  branch: ['glpat', `${NEEDLE}`].join('-'),
  folder: ['ghp', `${NEEDLE}cwd0000000000000`].join('_'),
  edit: ['AKIA', 'ABCDEFGH12345678'].join(''),
  note: ['npm', `${NEEDLE}note000000000000`].join('_'),
};

let folder = '';
let home = '';
const requests: string[] = [];
const printed: string[] = [];
let recorder: Server | undefined;
let offline: Awaited<ReturnType<typeof startOfflineModel>> | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-secrets-'));
  home = join(folder, 'home');
  offline = await startOfflineModel();
  vi.stubEnv('OPENAI_API_KEY', 'any');
  vi.stubEnv('OPENAI_BASE_URL', await startRecorder(offline.baseUrl));
  writeRollout();
  await run(['run', join(folder, 'rollouts'), '--json']);
  await run(['note', 'my token is', SECRETS.note]);
  const memory = join(home, 'memories/MEMORY.md');
  writeFileSync(memory, `${readFileSync(memory, 'utf8').trimEnd()}\n- key ${SECRETS.edit} [Task 1]\n`);
  await run(['run', join(folder, 'rollouts')]);
  for (const command of ['status', 'threads', 'show', 'versions', 'diff']) await run([command]);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  recorder?.closeAllConnections();
  recorder?.close();
  await offline?.close();
  rmSync(folder, { recursive: true, force: true });
});

function writeRollout(): void {
  const place = join(folder, 'rollouts');
  mkdirSync(place);
  const rollout = codexRollout({
    cwd: `/work/${SECRETS.folder}/app`,
    git: { branch: `fix-${SECRETS.branch}`, repository_url: `https://bot:${SECRETS.remote}@example.com/dev/app.git` },
  })
    .user(`Always use the key ${SECRETS.user} for the staging host, never the old one.`)
    .call(
      'exec_command',
      { cmd: `curl -H "Authorization: token ${SECRETS.tool}" https://example.com` },
      'Process exited with code 1\nOutput:\nno',
    )
    .user('Always use pnpm in this repository, never npm.')
    .call('exec_command', { cmd: 'cat .env' }, `Process exited with code 0\nOutput:\nGITHUB_TOKEN=${SECRETS.tool}\n`)
    .assistant('Done.', 'final_answer');
  writeFileSync(join(place, `rollout-${SECRETS.fileName}.jsonl`), rollout.toBytes());
}

async function run(words: readonly string[]): Promise<void> {
  const result = await stillroomHere([...words, '--home', home]);
  expect([words[0], result.exitCode, result.stderr.includes('failed')]).toEqual([words[0], 0, false]);
  printed.push(result.stdout, result.stderr);
}

/** Passes every request on to the stand-in and keeps its text. */
async function startRecorder(target: string): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks);
    requests.push(body.toString('utf8'), JSON.stringify(incoming.headers));
    const answer = await fetch(`${target.replace(/\/v1$/, '')}${incoming.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
      body,
    });
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
    outgoing.end(await answer.text());
  });
  recorder = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/v1`;
}

/** Everything the home keeps but the rollouts as uploaded: files, and the database with its compressed texts opened. */
function keptTexts(): Map<string, string> {
  const kept = new Map<string, string>();
  for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (path.startsWith('rollouts') || !statSync(join(home, path)).isFile()) continue;
    kept.set(path, `${path}\n${readFileSync(join(home, path), 'latin1')}`);
  }
  const database = new DatabaseSync(join(home, 'stillroom.db'), { readOnly: true });
  database
    .prepare('SELECT content FROM bodies')
    .all()
    .forEach((row, at) => {
      const content = row['content'];
      if (content instanceof Uint8Array) kept.set(`body ${at}`, JSON.stringify(unpackBody(content)));
    });
  database.close();
  return kept;
}

describe('a secret in a message, a tool output, a file name, a remote, a branch, a folder, a note and an edit', () => {
  it.each(Object.entries(SECRETS))('%s: is in no request to the model', (_, secret) => {
    expect(requests.length).toBeGreaterThan(4);
    expect(requests.filter((text) => text.includes(secret))).toEqual([]);
  });

  it.each(Object.entries(SECRETS))('%s: is in nothing that is kept', (_, secret) => {
    const kept = keptTexts();
    expect([...kept.keys()]).toContain('body 0');
    expect([...kept].filter(([, text]) => text.includes(secret)).map(([name]) => name)).toEqual([]);
  });

  it.each(Object.entries(SECRETS))('%s: is in nothing that is printed', (_, secret) => {
    expect(printed.filter((text) => text.includes(secret))).toEqual([]);
  });
});
