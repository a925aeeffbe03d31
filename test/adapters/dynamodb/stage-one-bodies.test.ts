import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { packBody, unpackBody } from '../../../adapters/dynamodb/body-codec.ts';
import { DynamoTable } from '../../../adapters/dynamodb/dynamo-table.ts';
import { DynamoJobStore } from '../../../adapters/dynamodb/job-store.ts';
import { DynamoStageOneStore, MAX_ITEM_BODY_BYTES } from '../../../adapters/dynamodb/stage-one-store.ts';
import { MemoryBodyShelf } from '../../doubles/memory-body-shelf.ts';
import { type Emulator, startEmulator } from '../../support/dynalite.ts';
import { claimAt, done, extract, extraction } from '../../support/job-steps.ts';
import { NOW } from '../../support/sample-state.ts';

const REF = { threadId: 't', sourceUpdatedAt: 100 };

/** Text that does not compress below the entropy of its letters; the same at each call. */
function noise(length: number, first: number, letters: number): string {
  let seed = 42;
  const codes = Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return first + Math.floor((seed / 2 ** 32) * letters);
  });
  return codes.map((code) => String.fromCharCode(code)).join('');
}

let emulator: Emulator;
let table: DynamoTable;
let shelf: MemoryBodyShelf;
let outputs: DynamoStageOneStore;
let jobs: DynamoJobStore;
beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(async () => {
  table = new DynamoTable(emulator.connect(), await emulator.createTable());
  shelf = new MemoryBodyShelf();
  outputs = new DynamoStageOneStore(table, shelf);
  jobs = new DynamoJobStore(table);
});
afterAll(() => emulator.close());

const item = () => table.get({ pk: 'user#u', sk: 'body#t#100' });

describe('texts of any size are kept (C19)', () => {
  it.each([
    ['390 KB of ASCII that compresses', 'memory '.repeat(57_000), false],
    ['390 KB of ASCII noise', noise(399_360, 32, 94), false],
    ['150,000 CJK characters that compress', '記憶の蒸留'.repeat(30_000), false],
    ['150,000 CJK characters of noise', noise(150_000, 0x4e00, 20_000), false],
    ['460 KB of ASCII noise', noise(471_040, 32, 94), true],
    ['300,000 CJK characters of noise', noise(300_000, 0x4e00, 20_000), true],
  ])('%s', async (_what, rawMemory, expectedOnShelf) => {
    const body = { rawMemory, rolloutSummary: 'short' };
    await outputs.putBody('u', REF, body);
    expect(await outputs.bodies('u', [REF])).toEqual(new Map([['t', body]]));
    expect(packBody(body).length > MAX_ITEM_BODY_BYTES).toBe(expectedOnShelf);
    expect(await shelf.list('u')).toEqual(expectedOnShelf ? [REF] : []);
    expect((await item())?.['on_shelf']).toBe(expectedOnShelf ? true : undefined);
  });

  it('by their bytes after compression, at the limit to the byte', async () => {
    const bodyOf = (length: number) => ({ rawMemory: noise(length, 32, 94), rolloutSummary: '' });
    let [fits, large] = [100_000, 600_000];
    while (large - fits > 1) {
      const middle = Math.floor((fits + large) / 2);
      if (packBody(bodyOf(middle)).length <= MAX_ITEM_BODY_BYTES) fits = middle;
      else large = middle;
    }
    await outputs.putBody('u', REF, bodyOf(fits));
    expect(await shelf.list('u')).toEqual([]);
    await outputs.putBody('u', REF, bodyOf(large));
    expect(await shelf.list('u')).toEqual([REF]);
  });
});

describe('texts on the shelf', () => {
  const large = { rawMemory: noise(600_000, 32, 94), rolloutSummary: 's' };

  it('are left out when they are gone from there', async () => {
    await outputs.putBody('u', REF, large);
    await shelf.remove('u', REF);
    expect(await outputs.bodies('u', [REF])).toEqual(new Map());
  });

  it('go with their output, and as orphans, those that no item points at included', async () => {
    await outputs.putBody('u', REF, large);
    await extract(jobs, 't', 100);
    await shelf.put('u1', REF, new Uint8Array([1]));
    expect(await outputs.removeOrphanBodies('u')).toBe(0);
    await shelf.put('u', { threadId: 'died', sourceUpdatedAt: 5 }, new Uint8Array([1]));
    await outputs.putBody('u', { threadId: 't', sourceUpdatedAt: 99 }, large);
    expect(await outputs.removeOrphanBodies('u')).toBe(2);
    expect(await shelf.list('u')).toEqual([REF]);
    expect(await outputs.remove('u', [REF], { onlyUnselected: false })).toBe(1);
    expect(await shelf.list('u')).toEqual([]);
    expect(await item()).toBeUndefined();
    expect(await shelf.list('u1')).toEqual([REF]);
  });

  it('leave it when the same snapshot became small, at the next clean-up', async () => {
    await outputs.putBody('u', REF, large);
    await outputs.putBody('u', REF, { rawMemory: 'small', rolloutSummary: '' });
    await extract(jobs, 't', 100);
    expect(await outputs.removeOrphanBodies('u')).toBe(0);
    expect(await shelf.list('u')).toEqual([]);
    expect((await outputs.bodies('u', [REF])).get('t')?.rawMemory).toBe('small');
  });

  it('of a run that is about to commit stay', async () => {
    await jobs.claim('u', extraction('t'), claimAt(100, 'k'));
    await outputs.putBody('u', REF, large);
    expect(await outputs.removeOrphanBodies('u')).toBe(0);
    expect(await jobs.complete('u', 'k', NOW, done('t', 100))).toBe(true);
    expect((await outputs.bodies('u', [REF])).size).toBe(1);
  });
});

describe('damaged texts', () => {
  it('are a defect that quotes nothing', async () => {
    const packed = packBody({ rawMemory: 'secret', rolloutSummary: '' });
    const flipped = packed.map((byte, at) => (at === packed.length - 6 ? byte ^ 1 : byte));
    const unpack = () => unpackBody(flipped);
    expect(unpack).toThrow(expect.objectContaining({ kind: 'defect', code: 'table.item_unreadable' }));
    expect(unpack).not.toThrow(/secret/);
    await table.put({ Item: { pk: 'user#u', sk: 'body#t#100', content: 'secret' } });
    await expect(outputs.bodies('u', [REF])).rejects.toMatchObject({ details: { item: 'body', attribute: 'content' } });
    await expect(outputs.removeOrphanBodies('u')).rejects.toMatchObject({ details: { attribute: 'write_id' } });
  });
});
