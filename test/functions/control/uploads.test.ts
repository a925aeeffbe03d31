import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sha256Hex, toUserKey } from '../../../core/ids.ts';
import { LIMITS } from '../../../core/settings.ts';
import { codexRollout } from '../../support/rollout-builder.ts';
import { NOW } from '../../support/sample-state.ts';
import { controlWorld } from './control-world.ts';

const SHA = 'a'.repeat(64);
const ROLLOUT = codexRollout({ cwd: '/work/app' }).user('always use pnpm here').assistant('noted').toBytes();

describe('POST /v1/rollouts', () => {
  it('answers where to upload, bound to the caller and to what was told', async () => {
    const { ask, uploads } = controlWorld();
    const body = {
      thread_id: 'thread-1',
      bytes: 41_943_040,
      sha256: SHA,
      source: 'cli',
      source_updated_at: '2025-10-09T08:00:00+00:00',
      ended: true,
      cwd: '/work/ünï',
      repository: 'git@example.com:dev/app.git',
      git_branch: 'main',
      content_encoding: 'zstd',
    };
    const answer = await ask('/v1/rollouts', { method: 'POST', body });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ thread_id: 'thread-1', upload: { method: 'PUT' } });
    expect(uploads.signed).toEqual([
      {
        userKey: 'user-1',
        threadId: 'thread-1',
        upload: {
          bytes: 41_943_040,
          sha256: SHA,
          now: NOW,
          hints: {
            source: 'cli',
            cwd: '/work/ünï',
            repository: 'git@example.com:dev/app.git',
            gitBranch: 'main',
            sourceUpdatedAt: Date.parse('2025-10-09T08:00:00Z'),
            ended: true,
          },
        },
      },
    ]);
  });

  it('needs nothing but the thread id, and takes the time in milliseconds as well', async () => {
    const { ask, uploads } = controlWorld();
    const body = { thread_id: 't', source_updated_at: NOW, cwd: null };
    expect((await ask('/v1/rollouts', { method: 'POST', body })).status).toBe(201);
    expect(uploads.signed[0]?.upload).toMatchObject({ bytes: null, sha256: null, hints: { sourceUpdatedAt: NOW } });
  });

  it('answers unchanged to the bytes that are stored already, and signs nothing', async () => {
    const { ask, uploads, putThread, queue } = controlWorld();
    await putThread('thread-1', { rollout: { sha256: SHA, bytes: 9, uploadedAt: NOW, path: 'p', order: null } });
    const answer = await ask('/v1/rollouts', { method: 'POST', body: { thread_id: 'thread-1', sha256: SHA } });
    expect([answer.status, answer.json]).toEqual([200, { thread_id: 'thread-1', unchanged: true }]);
    expect([uploads.signed, queue.drain()]).toEqual([[], []]);
    const other = await ask('/v1/rollouts', {
      method: 'POST',
      body: { thread_id: 'thread-1', sha256: 'b'.repeat(64) },
    });
    expect(other.status).toBe(201);
  });

  it('learns from an unchanged upload that the session is over, and wakes its extraction once', async () => {
    const { ask, putThread, threads, queue, jobs } = controlWorld();
    const rollout = { sha256: SHA, bytes: 9, uploadedAt: NOW, path: 'p', order: null };
    await putThread('thread-1', { rollout, ended: false });
    const body = { thread_id: 'thread-1', sha256: SHA, ended: true };
    await ask('/v1/rollouts', { method: 'POST', body });
    await ask('/v1/rollouts', { method: 'POST', body });
    expect((await threads.get('user-1', 'thread-1'))?.ended).toBe(true);
    expect(queue.drain()).toEqual([{ kind: 'thread-due', userKey: 'user-1', threadId: 'thread-1' }]);
    expect((await jobs.get('user-1', { kind: 'extraction', threadId: 'thread-1' }))?.wakeAt).toBe(NOW);
  });

  it('refuses a thread that the user had forgotten', async () => {
    const { ask, putThread, uploads } = controlWorld();
    await putThread('thread-1', { forgottenAt: NOW });
    const answer = await ask('/v1/rollouts', { method: 'POST', body: { thread_id: 'thread-1' } });
    expect([answer.status, answer.json]).toMatchObject([409, { code: 'thread.forgotten' }]);
    expect(uploads.signed).toEqual([]);
  });

  it.each([
    [400, 'http.invalid_field', {}],
    [400, 'thread.invalid_id', { thread_id: '' }],
    [400, 'thread.invalid_id', { thread_id: '..' }],
    [400, 'thread.invalid_id', { thread_id: '../user-2/t' }],
    [400, 'thread.invalid_id', { thread_id: 't'.repeat(129) }],
    [400, 'http.unknown_field', { thread_id: 't', user_id: 'user-2' }],
    [400, 'http.unknown_field', { thread_id: 't', key: 'rollouts/user-2/t.jsonl' }],
    [400, 'http.invalid_field', { thread_id: 't', sha256: 'A'.repeat(64) }],
    [400, 'http.invalid_field', { thread_id: 't', bytes: -1 }],
    [400, 'http.invalid_field', { thread_id: 't', source_updated_at: 'yesterday' }],
    [413, 'rollout.too_large', { thread_id: 't', bytes: LIMITS.rolloutBytes + 1 }],
  ])('answers %s %s to %j', async (status, code, body) => {
    const { ask, uploads } = controlWorld();
    expect(await ask('/v1/rollouts', { method: 'POST', body })).toMatchObject({ status, json: { code } });
    expect(uploads.signed).toEqual([]);
  });
});

describe('PUT /v1/rollouts/{thread_id}', () => {
  it.each([
    ['plain', ROLLOUT],
    ['gzip', gzipSync(ROLLOUT)],
    ['zstd', zstdCompressSync(ROLLOUT)],
  ])('takes %s bytes in, shows the thread at once and has it tried', async (_, raw) => {
    const { ask, queue, rollouts, jobs } = controlWorld();
    const answer = await ask('/v1/rollouts/t-1?ended=true&cwd=%2Felsewhere&source=web', { method: 'PUT', raw });
    expect([answer.status, answer.json]).toEqual([202, { thread_id: 't-1', unchanged: false }]);
    expect(queue.drain()).toEqual([{ kind: 'thread-due', userKey: 'user-1', threadId: 't-1' }]);
    expect((await rollouts.look('user-1', 't-1'))?.rollout.sha256).toBe(sha256Hex(raw));
    expect((await jobs.get('user-1', { kind: 'extraction', threadId: 't-1' }))?.wakeAt).not.toBeNull();
    const thread = await ask('/v1/threads/t-1');
    expect(thread.json).toMatchObject({ cwd: '/work/app', ended: true, outcome: 'pending', agent_kind: 'codex' });
  });

  it('takes what the uploader says where the rollout says nothing', async () => {
    const { ask } = controlWorld();
    const raw = codexRollout({ headless: true }).user('hello').toBytes();
    const query = 'cwd=%2Fhome%2Fu%2Fapp&repository=git%40host%3Aa%2Fb.git&git_branch=dev&source=web&ended=false';
    expect((await ask(`/v1/rollouts/t-1?${query}`, { method: 'PUT', raw })).status).toBe(202);
    expect((await ask('/v1/threads/t-1')).json).toMatchObject({
      cwd: '/home/u/app',
      project: 'host/a/b',
      git_branch: 'dev',
      source: 'web',
      ended: false,
    });
  });

  it('stores the same bytes once', async () => {
    const { ask, queue } = controlWorld();
    await ask('/v1/rollouts/t-1', { method: 'PUT', raw: ROLLOUT });
    queue.drain();
    const again = await ask(`/v1/rollouts/t-1?sha256=${sha256Hex(ROLLOUT)}`, { method: 'PUT', raw: ROLLOUT });
    expect([again.status, again.json]).toEqual([202, { thread_id: 't-1', unchanged: true }]);
    expect(queue.drain()).toEqual([]);
  });

  it('takes 5 MB and names the other way for more', async () => {
    const { ask, rollouts } = controlWorld();
    const most = Buffer.alloc(LIMITS.directUploadBytes, '\n');
    expect((await ask('/v1/rollouts/t-1', { method: 'PUT', raw: most })).status).toBe(202);
    const answer = await ask('/v1/rollouts/t-2', { method: 'PUT', raw: Buffer.alloc(LIMITS.directUploadBytes + 1) });
    expect([answer.status, answer.json]).toMatchObject([413, { code: 'rollout.body_too_large' }]);
    expect(answer.text).toContain('POST /v1/rollouts');
    expect(await rollouts.look('user-1', 't-2')).toBeUndefined();
  });

  it('takes a body that is no rollout: its extraction tells why', async () => {
    const { ask } = controlWorld();
    expect((await ask('/v1/rollouts/t-1', { method: 'PUT', raw: new Uint8Array([0, 1, 2]) })).status).toBe(202);
    expect((await ask('/v1/threads/t-1')).json).toMatchObject({ agent_kind: 'unknown', project: 'unknown' });
  });

  it('brings no forgotten thread back', async () => {
    const { ask, putThread, rollouts } = controlWorld();
    await putThread('t-1', { forgottenAt: NOW });
    expect((await ask('/v1/rollouts/t-1', { method: 'PUT', raw: ROLLOUT })).json).toMatchObject({
      code: 'thread.forgotten',
    });
    expect(await rollouts.look(toUserKey('user-1'), 't-1')).toBeUndefined();
  });

  it.each([
    [400, 'rollout.checksum_mismatch', `/v1/rollouts/t-1?sha256=${SHA}`],
    [400, 'http.invalid_field', '/v1/rollouts/t-1?ended=yes'],
    [400, 'http.unknown_field', '/v1/rollouts/t-1?user=user-2'],
    [400, 'thread.invalid_id', '/v1/rollouts/..%20'],
    [400, 'thread.invalid_id', `/v1/rollouts/${'t'.repeat(129)}`],
    [404, 'http.no_such_route', '/v1/rollouts/user-2/t-1'],
  ])('answers %s %s to %s', async (status, code, path) => {
    const { ask, rollouts } = controlWorld();
    expect(await ask(path, { method: 'PUT', raw: ROLLOUT })).toMatchObject({ status, json: { code } });
    expect(await rollouts.look('user-1', 't-1')).toBeUndefined();
  });
});
