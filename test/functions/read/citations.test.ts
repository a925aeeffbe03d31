import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../core/settings.ts';
import { NOW, sampleHead, sampleJob } from '../../support/sample-state.ts';
import { readWorld } from './read-world.ts';

const FIRST = '0199c000-0000-7000-8000-000000000001';
const SECOND = '0199c000-0000-7000-8000-000000000002';
const UNKNOWN = '0199c000-0000-7000-8000-000000000009';
const CITATIONS = '/v1/citations';

const TEXT = `Done.
<oai-mem-citation>
<citation_entries>
MEMORY.md:3-9|note=[how to build]
</citation_entries>
<rollout_ids>
${FIRST}
${UNKNOWN}
</rollout_ids>
</oai-mem-citation>`;

function world() {
  const made = readWorld();
  for (const [user, threadId] of [
    ['user-1', FIRST],
    ['user-1', SECOND],
    ['user-2', UNKNOWN],
  ] as const)
    made.stageOne.table.setRow(user, threadId, { job: sampleJob({ status: 'done' }), head: sampleHead({ threadId }) });
  const uses = async (threadId: string, user = 'user-1') => (await made.stageOne.head(user, threadId))?.usageCount ?? 0;
  return { ...made, uses };
}

describe('POST /v1/citations', () => {
  it('strips the block from the answer and counts the threads that are the user’s own', async () => {
    const { post, uses, stageOne } = world();
    const answer = await post(CITATIONS, { text: TEXT });
    expect(answer.json).toEqual({
      visible_text: 'Done.\n',
      citation: {
        entries: [{ path: 'MEMORY.md', line_start: 3, line_end: 9, note: 'how to build' }],
        rollout_ids: [FIRST, UNKNOWN],
      },
      recorded: 1,
      unknown: [UNKNOWN],
    });
    expect([await uses(FIRST), await uses(SECOND), await uses(UNKNOWN, 'user-2')]).toEqual([1, 0, 0]);
    expect((await stageOne.head('user-1', FIRST))?.lastUsage).toBe(NOW);
  });

  it('takes a citation that was parsed already', async () => {
    const { post, uses } = world();
    const answer = await post(CITATIONS, { citation: { rollout_ids: [FIRST, SECOND, FIRST] } });
    expect(answer.json).toMatchObject({ visible_text: null, recorded: 2, unknown: [] });
    expect([await uses(FIRST), await uses(SECOND)]).toEqual([1, 1]);
  });

  it('answers a text without a citation as it is', async () => {
    const answer = await world().post(CITATIONS, { text: 'plain' });
    expect(answer.json).toEqual({ visible_text: 'plain', citation: null, recorded: 0, unknown: [] });
  });

  it('answers the same key alike and counts once, by query or by header', async () => {
    const { post, uses, clock } = world();
    const first = await post(`${CITATIONS}?idempotency_key=turn-7`, { text: TEXT });
    clock.advance(LIMITS.receiptMs - 1);
    const again = await post(CITATIONS, { text: TEXT }, { 'idempotency-key': 'turn-7' });
    const both = await post(`${CITATIONS}?idempotency_key=turn-7`, { text: TEXT }, { 'idempotency-key': 'turn-7' });
    expect([again.text, both.text]).toEqual([first.text, first.text]);
    expect(await uses(FIRST)).toBe(1);
    clock.advance(1);
    await post(`${CITATIONS}?idempotency_key=turn-7`, { text: TEXT });
    expect(await uses(FIRST)).toBe(2);
  });

  it('counts once when the same key comes many times at once', async () => {
    const { post, uses } = world();
    const headers = { 'idempotency-key': 'turn-8' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(CITATIONS, { text: TEXT }, headers)));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(await uses(FIRST)).toBe(1);
  });

  it('counts each time without a key, and under each key', async () => {
    const { post, uses } = world();
    await post(CITATIONS, { text: TEXT });
    await post(CITATIONS, { text: TEXT });
    await post(`${CITATIONS}?idempotency_key=a`, { text: TEXT });
    await post(`${CITATIONS}?idempotency_key=b`, { text: TEXT });
    expect(await uses(FIRST)).toBe(4);
  });

  it('keeps the keys of users apart', async () => {
    const { post, uses } = world();
    const headers = { 'idempotency-key': 'k' };
    await post(CITATIONS, { citation: { rollout_ids: [FIRST] } }, headers);
    const other = { ...headers, authorization: 'Bearer user-2' };
    const answer = await post(CITATIONS, { citation: { rollout_ids: [FIRST, UNKNOWN] } }, other);
    expect(answer.json).toMatchObject({ recorded: 1, unknown: [FIRST] });
    expect([await uses(FIRST), await uses(UNKNOWN, 'user-2')]).toEqual([1, 1]);
  });

  it('refuses a key that was used for another citation', async () => {
    const { post, uses } = world();
    await post(`${CITATIONS}?idempotency_key=k`, { text: TEXT });
    const answer = await post(`${CITATIONS}?idempotency_key=k`, { citation: { rollout_ids: [SECOND] } });
    expect([answer.status, answer.json]).toMatchObject([409, { code: 'citation.key_reused' }]);
    expect(await uses(SECOND)).toBe(0);
  });

  it.each<[string, Record<string, string>, string]>([
    ['?idempotency_key=', {}, 'idempotency_key'],
    ['?idempotency_key=a%20b', {}, 'idempotency_key'],
    [`?idempotency_key=${'k'.repeat(201)}`, {}, 'idempotency_key'],
    ['', { 'idempotency-key': 'a b' }, 'idempotency-key'],
    ['?idempotency_key=a', { 'idempotency-key': 'b' }, 'idempotency_key'],
  ])('refuses the key of %s %j', async (query, headers, field) => {
    const { post, uses } = world();
    const answer = await post(`${CITATIONS}${query}`, { text: TEXT }, headers);
    expect([answer.status, answer.json]).toMatchObject([400, { code: 'http.invalid_field', field }]);
    expect(await uses(FIRST)).toBe(0);
  });

  it.each<[unknown, string, string]>([
    [{}, '', 'the body must hold either text or citation'],
    [{ text: 'x', citation: { rollout_ids: [] } }, '', 'the body must hold either text or citation'],
    [{ text: 5 }, 'text', 'text must be a string'],
    [{ citation: {} }, 'citation.rollout_ids', 'citation.rollout_ids must be an array'],
    [{ citation: { rollout_ids: [1] } }, 'citation.rollout_ids.0', 'citation.rollout_ids.0 must be a string'],
    [
      { citation: { rollout_ids: [], entries: [{ path: 'a', line_start: -1, line_end: 1, note: '' }] } },
      'citation.entries.0.line_start',
      'citation.entries.0.line_start must be at least 0',
    ],
    [{ text: 'x', user_key: 'user-2' }, 'user_key', 'unknown field: user_key'],
  ])('refuses %j, naming the field', async (body, field, detail) => {
    const answer = await world().post(CITATIONS, body);
    expect([answer.status, answer.json]).toMatchObject([400, { field, detail }]);
  });
});
