import { describe, expect, it } from 'vitest';
import { type CitationSource, type RecordCitationDeps, recordCitation } from '../../../core/memory/record-citation.ts';
import { DAY_MS } from '../../../core/time.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { MemoryReceiptStore } from '../../doubles/memory-receipt-store.ts';
import { MemoryStageOneStore } from '../../doubles/memory-stage-one-store.ts';

const U1 = '019c22a4-5c70-7a11-9b7e-3f0d5a6b7c81';
const U2 = '019c22a4-5c70-7a11-9b7e-3f0d5a6b7c82';
const OTHERS = '019c22a4-5c70-7a11-9b7e-3f0d5a6b7c83';
const NOW = 1_700_000_000_000;

async function rigOf() {
  const stageOne = new MemoryStageOneStore();
  const jobs = new MemoryJobStore(stageOne.table);
  for (const [userKey, threadId] of [
    ['u', U1],
    ['u', U2],
    ['v', OTHERS],
  ] as const) {
    await jobs.claim(userKey, { kind: 'extraction', threadId }, { token: 't', now: 1, leaseMs: 1_000, watermark: 1 });
    const head = { threadId, sourceUpdatedAt: 1, generatedAt: 1, slug: null, bytes: 1, model: 'm', promptVersion: 'p' };
    await jobs.complete(userKey, 't', 2, {
      kind: 'extraction',
      threadId,
      outcome: { kind: 'extracted' },
      output: head,
    });
  }
  const usage = async (userKey: string, threadId: string) => {
    const head = await stageOne.head(userKey, threadId);
    return [head?.usageCount ?? null, head?.lastUsage ?? null];
  };
  return { deps: { stageOne, receipts: new MemoryReceiptStore(), clock: new FixedClock(NOW) }, usage };
}

const answerText = (...ids: string[]): CitationSource => ({
  text: `Done.\n<oai-mem-citation>\n<citation_entries>\nMEMORY.md:1-2|note=[n]\n</citation_entries>\n<rollout_ids>\n${ids.join('\n')}\n</rollout_ids>\n</oai-mem-citation>`,
});

describe('recordCitation', () => {
  it('TC-120 counts an id that stands in two blocks once', async () => {
    const { deps, usage } = await rigOf();
    const [one, two] = [answerText(U1), answerText(U1)];
    const text = `${'text' in one ? one.text : ''}\n${'text' in two ? two.text : ''}`;
    expect(await recordCitation(deps, 'u', { source: { text } })).toMatchObject({ recorded: 1 });
    expect(await usage('u', U1)).toEqual([1, NOW]);
  });

  it('TC-121 counts nothing for entries without ids, and still answers the citation', async () => {
    const { deps, usage } = await rigOf();
    const answer = await recordCitation(deps, 'u', { source: answerText() });
    expect(answer).toMatchObject({ recorded: 0, citation: { rollout_ids: [], entries: [{ path: 'MEMORY.md' }] } });
    expect(await usage('u', U1)).toEqual([null, null]);
  });

  it('counts each own thread once, and answers the text without the block', async () => {
    const { deps, usage } = await rigOf();
    expect(await recordCitation(deps, 'u', { source: answerText(U1, U2, U1) })).toEqual({
      visible_text: 'Done.\n',
      citation: { entries: [{ path: 'MEMORY.md', line_start: 1, line_end: 2, note: 'n' }], rollout_ids: [U1, U2] },
      recorded: 2,
      unknown: [],
    });
    expect(await usage('u', U1)).toEqual([1, NOW]);
    expect(await usage('u', U2)).toEqual([1, NOW]);
  });

  it('TC-240 counts the ids that exist and answers the others as unknown', async () => {
    const { deps } = await rigOf();
    const answer = await recordCitation(deps, 'u', { source: answerText(U1, 'not-a-uuid', '../x y', U2) });
    expect([answer.recorded, answer.unknown]).toEqual([2, ['not-a-uuid', '../x y']]);
  });

  it('asks the store for nothing that cannot be a thread id', async () => {
    const { deps } = await rigOf();
    const asked: string[] = [];
    const stageOne = {
      recordUsage: async (_userKey: string, ids: readonly string[]) => {
        asked.push(...ids);
        return ids;
      },
    };
    const source = answerText('..', 'a/b', 'x'.repeat(129), U1);
    await recordCitation({ ...deps, stageOne }, 'u', { source });
    await recordCitation({ ...deps, stageOne }, 'u', { source, idempotencyKey: 'k' });
    expect(asked).toEqual([U1, U1]);
  });

  it('counts no thread of another user', async () => {
    const { deps, usage } = await rigOf();
    expect(await recordCitation(deps, 'u', { source: answerText(OTHERS) })).toMatchObject({
      recorded: 0,
      unknown: [OTHERS],
    });
    expect(await usage('v', OTHERS)).toEqual([null, null]);
  });

  it('P-04 counts nothing for entries alone, nor for a text without a citation', async () => {
    const { deps, usage } = await rigOf();
    const entry = { path: 'MEMORY.md', line_start: 1, line_end: 2, note: '' };
    const source = { citation: { entries: [entry], rollout_ids: [] } };
    expect(await recordCitation(deps, 'u', { source })).toEqual({
      visible_text: null,
      citation: { entries: [entry], rollout_ids: [] },
      recorded: 0,
      unknown: [],
    });
    expect(await recordCitation(deps, 'u', { source: { text: `see ${U1}` } })).toEqual({
      visible_text: `see ${U1}`,
      citation: null,
      recorded: 0,
      unknown: [],
    });
    expect(await usage('u', U1)).toEqual([null, null]);
  });

  it('takes a citation that was parsed already', async () => {
    const { deps, usage } = await rigOf();
    const source = { citation: { rollout_ids: [` ${U1} `, U1, ''] } };
    expect(await recordCitation(deps, 'u', { source })).toMatchObject({
      visible_text: null,
      citation: { entries: [], rollout_ids: [U1] },
      recorded: 1,
    });
    expect(await usage('u', U1)).toEqual([1, NOW]);
  });

  it('counts a repeated call again without a key, and once with one', async () => {
    const { deps, usage } = await rigOf();
    const request = { source: answerText(U1, 'gone'), idempotencyKey: 'k' };
    const first = await recordCitation(deps, 'u', request);
    expect(first).toMatchObject({ recorded: 1, unknown: ['gone'] });
    deps.clock.advance(5);
    expect(await recordCitation(deps, 'u', request)).toEqual(first);
    expect(await usage('u', U1)).toEqual([1, NOW]);
    await recordCitation(deps, 'u', { source: request.source });
    expect(await usage('u', U1)).toEqual([2, NOW + 5]);
  });

  it('counts once when the same key comes twice at the same moment', async () => {
    const { deps, usage } = await rigOf();
    const request = { source: answerText(U1), idempotencyKey: 'k' };
    const [one, two] = await Promise.all([recordCitation(deps, 'u', request), recordCitation(deps, 'u', request)]);
    expect(one).toEqual(two);
    expect(await usage('u', U1)).toEqual([1, NOW]);
  });

  it('counts once when the call dies at any of its steps and is repeated', async () => {
    for (const dying of ['find', 'keep', 'recordUsage', 'after recordUsage', 'after keep']) {
      const { deps, usage } = await rigOf();
      const request = { source: answerText(U1, U2), idempotencyKey: 'k' };
      await expect(recordCitation(dyingAt(deps, dying), 'u', request), dying).rejects.toThrow('died');
      expect(await recordCitation(deps, 'u', request)).toMatchObject({ recorded: 2 });
      expect([await usage('u', U1), await usage('u', U2)], dying).toEqual([
        [1, NOW],
        [1, NOW],
      ]);
    }
  });

  it('refuses a key that was used for another citation, and forgets it after a day', async () => {
    const { deps, usage } = await rigOf();
    await recordCitation(deps, 'u', { source: answerText(U1), idempotencyKey: 'k' });
    const other = { source: answerText(U2), idempotencyKey: 'k' };
    await expect(recordCitation(deps, 'u', other)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'citation.key_reused',
    });
    expect(await usage('u', U2)).toEqual([null, null]);
    deps.clock.advance(DAY_MS + 1);
    expect(await recordCitation(deps, 'u', other)).toMatchObject({ recorded: 1 });
  });

  it('keeps keys of different users apart', async () => {
    const { deps } = await rigOf();
    await recordCitation(deps, 'u', { source: answerText(U1), idempotencyKey: 'k' });
    expect(await recordCitation(deps, 'v', { source: answerText(OTHERS), idempotencyKey: 'k' })).toMatchObject({
      recorded: 1,
    });
  });
});

/** The same ports, one of which ends the call before or after it acts. */
function dyingAt(deps: RecordCitationDeps, dying: string): RecordCitationDeps {
  const die = (moment: string): void => {
    if (moment === dying) throw new Error('died');
  };
  const wrap = <Args extends readonly unknown[], T>(name: string, act: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      die(name);
      const answer = await act(...args);
      die(`after ${name}`);
      return answer;
    };
  };
  return {
    ...deps,
    stageOne: { recordUsage: wrap('recordUsage', deps.stageOne.recordUsage.bind(deps.stageOne)) },
    receipts: {
      find: wrap('find', deps.receipts.find.bind(deps.receipts)),
      keep: wrap('keep', deps.receipts.keep.bind(deps.receipts)),
    },
  };
}
