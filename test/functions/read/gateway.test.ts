import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUserKey } from '../../../core/ids.ts';
import { createGatewayHandler } from '../../../functions/http/gateway-handler.ts';
import { gatewayIdentity } from '../../../functions/http/identity.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { type GatewayAsk, gatewayEvent, tokenOf } from '../../support/gateway-event.ts';
import { readWorld } from './read-world.ts';

/** The read app as Lambda runs it. */
function lambdaWorld(mode: 'jwt' | 'iam' = 'jwt') {
  const asked: string[] = [];
  const made = readWorld({
    identify: gatewayIdentity({ mode, claim: 'sub' }),
    links: {
      link: async (userKey, path, entry) => {
        asked.push(userKey, path);
        return `https://objects.example/${entry.versionId}?signed`;
      },
    },
  });
  const handle = createGatewayHandler({
    app: made.app,
    tokens: new NumberedTokens(),
    correlate: () => {},
    flush: () => {},
  });
  const ask = async (request: GatewayAsk) => {
    const answer = await handle(gatewayEvent(request));
    return { ...answer, text: Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8').toString('utf8') };
  };
  return { ...made, ask, asked };
}

const userIds = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom(
      'user1',
      'user10',
      'user1/',
      'a/b',
      '..',
      '.',
      'auth0|7',
      'ä',
      'a\u0308',
      '使用者',
      '~dXNlcjE',
      'U'.repeat(200),
    ),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter((id) => id.trim() === id && id.isWellFormed() && !/\p{Cc}/u.test(id)),
  ),
  { minLength: 2, maxLength: 4 },
);

describe('the read function behind API Gateway', () => {
  it('B13 B15 shows each user their own memory alone, whoever the request names', async () => {
    await fc.assert(
      fc.asyncProperty(userIds, async (users) => {
        const { ask, publish } = lambdaWorld();
        for (const [at, user] of users.entries())
          await publish(
            { 'MEMORY.md': `marker-${at}.\n`, 'memory_summary.md': `v1\n\n## User Profile\n\nmarker-${at}.\n` },
            { user },
          );
        for (const [at, user] of users.entries()) {
          const victim = users[(at + 1) % users.length] ?? '';
          const headers = {
            'x-stillroom-user': victim,
            authorization: `Bearer ${victim}`,
            'x-amzn-oidc-identity': victim,
            accept: 'text/markdown',
          };
          for (const path of ['/v1/memory', '/v1/memory?scope=all', '/v1/memory/files/MEMORY.md']) {
            const answer = await ask({ path, headers, caller: tokenOf(user) });
            expect(answer.statusCode).toBe(200);
            expect(answer.text).toContain(`marker-${at}.`);
            for (const other of users.keys()) if (other !== at) expect(answer.text).not.toContain(`marker-${other}.`);
          }
          const named = await ask({ path: `/v1/memory?user=${encodeURIComponent(victim)}`, caller: tokenOf(user) });
          expect(named.statusCode).toBe(400);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('serves nothing but health to who was not authorised', async () => {
    const { ask, publish } = lambdaWorld();
    await publish({ 'MEMORY.md': 'words\n' }, { user: 'user1' });
    const headers = { 'x-stillroom-user': 'user1', authorization: 'Bearer user1' };
    for (const path of ['/v1/memory', '/v1/memory/files', '/v1/memory/files/MEMORY.md', '/v1/status']) {
      const answer = await ask({ path, headers });
      expect([path, answer.statusCode, answer.headers['content-type']]).toEqual([
        path,
        401,
        'application/problem+json',
      ]);
    }
    expect((await ask({ path: '/healthz' })).statusCode).toBe(200);
  });

  it.each(['', ' ', undefined])('B12 answers 401 to a token that names %j, and touches nobody', async (claim) => {
    const { ask, heads } = lambdaWorld();
    const body = JSON.stringify({ note: 'mine' });
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', path: '/v1/memory/notes', headers, body, caller: tokenOf(claim) };
    expect((await ask(request)).statusCode).toBe(401);
    expect((await heads.read('')).version).toBe(0);
  });

  it('with IAM serves the user that the trusted caller names, and no token', async () => {
    const { ask, publish } = lambdaWorld('iam');
    await publish({ 'MEMORY.md': 'words of a/b\n' }, { user: 'a/b' });
    const headers = { 'x-stillroom-user': 'a/b', accept: 'text/markdown' };
    const path = '/v1/memory/files/MEMORY.md';
    expect((await ask({ path, headers, caller: { kind: 'iam' } })).text).toBe('words of a/b\n');
    expect((await ask({ path, headers, caller: tokenOf('a/b') })).statusCode).toBe(401);
    expect((await ask({ path, caller: { kind: 'iam' } })).statusCode).toBe(401);
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const { ask, publish } = lambdaWorld();
    await publish({ 'MEMORY.md': 'words\n' }, { user: 'user1' });
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => ask({ method, path: '/v1/memory', caller: tokenOf('user1') })),
    );
    expect(head?.headers['etag']).toBe(get?.headers['etag']);
    expect([head?.statusCode, head?.text]).toEqual([200, '']);
  });

  it('C16 leads to an 8 MB file by a link, and reads it by lines', async () => {
    const { ask, publish, asked } = lambdaWorld();
    await publish({ 'skills/big/notes.md': 'one line of sixteen\n'.repeat(420_000) }, { user: 'a/b' });
    const path = '/v1/memory/files/skills/big/notes.md';
    const caller = tokenOf('a/b');
    const whole = await ask({ path, headers: { accept: 'text/markdown' }, caller });
    expect(whole.statusCode).toBe(307);
    expect(whole.headers['location']).toMatch(/^https:\/\/objects\.example\/[0-9a-f]{64}\?signed$/);
    expect(asked).toEqual([toUserKey('a/b'), 'skills/big/notes.md']);
    const page = await ask({ path: `${path}?line_offset=400000&max_lines=2`, caller });
    expect(JSON.parse(page.text)).toMatchObject({ content: 'one line of sixteen\n'.repeat(2), truncated: true });
  });

  it('C16 answers a file just below the limit whole', async () => {
    const { ask, publish } = lambdaWorld();
    const text = '"\n'.repeat(2_150_000);
    await publish({ 'skills/big/notes.md': text }, { user: 'user1' });
    const headers = { accept: 'text/markdown' };
    const answer = await ask({ path: '/v1/memory/files/skills/big/notes.md', headers, caller: tokenOf('user1') });
    expect([answer.statusCode, answer.text === text]).toEqual([200, true]);
  });

  it('C16 says how to ask for less where a search finds more than can be sent', async () => {
    const { ask, publish } = lambdaWorld();
    await publish({ 'skills/big/notes.md': 'a word here and there\n'.repeat(3_000) }, { user: 'user1' });
    const body = JSON.stringify({ queries: ['word'], context_lines: 1_000 });
    const headers = { 'content-type': 'application/json' };
    const answer = await ask({ method: 'POST', path: '/v1/memory/search', headers, body, caller: tokenOf('user1') });
    expect(JSON.parse(answer.text)).toMatchObject({ status: 400, code: 'http.answer_too_large' });
  });
});

describe('a version whose content has expired', () => {
  it('C26 is answered 410, and one that never was 404', async () => {
    const { ask, publish, memories } = readWorld();
    const old = await publish({ 'MEMORY.md': 'old words\n' });
    const current = await publish({ 'MEMORY.md': 'new words\n' });
    const shelf = memories.shelf('user-1');
    const gone = [...shelf.contents].find(([, bytes]) => Buffer.from(bytes).toString() === 'old words\n')?.[0] ?? '';
    shelf.contents.delete(gone);
    const file = (version: number) => ask(`/v1/memory/files/MEMORY.md?version=${version}`);
    expect(await file(old)).toMatchObject({ status: 410, json: { code: 'memory.version_expired', version: old } });
    expect(await ask(`/v1/memory?version=${old}`)).toMatchObject({ status: 410 });
    expect((await file(current)).status).toBe(200);
    expect(await file(current + 1)).toMatchObject({ status: 404, json: { code: 'memory.version_not_found' } });
  });

  it('C26 is answered 410 also where its manifest is gone', async () => {
    const { ask, publish, memories } = readWorld();
    const old = await publish({ 'MEMORY.md': 'one\n' });
    const middle = await publish({ 'MEMORY.md': 'two\n' });
    await publish({ 'MEMORY.md': 'three\n' });
    memories.shelf('user-1').manifests.delete(old);
    expect((await ask(`/v1/memory/files/MEMORY.md?version=${old}`)).status).toBe(410);
    expect((await ask(`/v1/memory/files/MEMORY.md?version=${middle}`)).status).toBe(200);
  });

  it('of the current version is a defect, not history', async () => {
    const { ask, publish, memories } = readWorld();
    await publish({ 'MEMORY.md': 'words\n' });
    memories.shelf('user-1').contents.clear();
    expect((await ask('/v1/memory/files/MEMORY.md')).status).toBe(500);
  });
});
