import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FoundFile } from '../../local/discover.ts';
import { type Home, openHome } from '../../local/home.ts';
import { type ImportedFile, importRollout } from '../../local/import-rollouts.ts';
import { lookThreads } from '../../local/look.ts';
import { codexRollout } from '../support/rollout-builder.ts';

let folder = '';
let home: Home | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-import-'));
  home = openHome(join(folder, 'home'), { create: true });
});
afterEach(() => {
  home?.close();
  rmSync(folder, { recursive: true, force: true });
});

function found(path: string): FoundFile {
  const stats = statSync(path);
  return { path, bytes: stats.size, modifiedAt: Math.trunc(stats.mtimeMs) };
}

function place(name: string, content: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function take(file: FoundFile): Promise<ImportedFile> {
  if (home === undefined) throw new Error('no home');
  return importRollout(home, file, { requested: true });
}

async function readStored(threadId: string | null): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await home?.rollouts.open(home.userKey, threadId ?? '')) ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const LONG = codexRollout().user('one').assistant('two').user('three').toBytes();
const SHORT = codexRollout().user('one').toBytes();

describe('importRollout', () => {
  it('enters a thread and does not read an unchanged file again', async () => {
    const file = found(place('a.jsonl', LONG));
    expect(await take(file)).toMatchObject({ kind: 'thread', isNew: true });
    expect(await take(file)).toMatchObject({ kind: 'thread', isNew: false });
  });

  it('tries a file again that another reader could not read (D17)', async () => {
    const content = Buffer.from(`${JSON.stringify({ kind: 'new', text: 'x'.repeat(30_000) })}\n`);
    const file = found(place('a.jsonl', content));
    expect(await take(file)).toMatchObject({ outcome: { reason: 'unrecognised_format' } });
    writeFileSync(file.path, 'not read again\n'.repeat(10));
    expect(await take(file)).toMatchObject({ outcome: { reason: 'unrecognised_format' } });
    const database = new DatabaseSync(join(folder, 'home', 'stillroom.db'));
    database.exec(`UPDATE imports SET reader = 'an earlier one'`);
    database.close();
    expect(await take(file)).toMatchObject({ outcome: { reason: 'unreadable' } });
  });

  it('names a conversation without an id by its file, two of one name apart (V-04)', async () => {
    const turns = [
      { role: 'user', content: 'Which of the berths are free in the second week of July, and what do they cost?' },
      { role: 'assistant', content: 'Berths 4 and 9 are free; both cost 40 a night.' },
    ];
    const content = Buffer.from(JSON.stringify([{ messages: turns }]));
    mkdirSync(join(folder, 'other'));
    const files = [place('Talk of July.json', content), place('other/Talk of July.json', content)];
    const ids = await Promise.all(files.map(async (path) => (await take(found(path))).threadId));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^trace_[0-9a-f]{12}_Talk-of-July$/);
    const secret = await take(found(place(`sk-proj-${'a1B2'.repeat(10)}.json`, content)));
    expect(secret.threadId).toMatch(/^trace_[0-9a-f]{12}_file$/);
  });

  it('keeps what was met in the file, for its owner to see', async () => {
    const rollout = codexRollout().user('one').line('{broken').assistant('two').toBytes();
    await take(found(place('a.jsonl', rollout.subarray(0, rollout.length - 5))));
    const rows = home === undefined ? [] : await lookThreads(home, null);
    const reading = { broken_lines: 1, oversized_records: 0, torn_tail: true, redactions: {} };
    expect(rows.map((row) => row.reading)).toEqual([reading]);
  });

  it('a file that is gone or locked when its turn comes ends itself, not the run, and is tried again', async () => {
    const path = place('a.jsonl', LONG);
    const file = found(path);
    rmSync(path);
    expect(await take(file)).toMatchObject({ kind: 'ended', outcome: { kind: 'failed', reason: 'unreadable' } });
    writeFileSync(path, LONG);
    expect(await take(file)).toMatchObject({ kind: 'thread', isNew: true });
  });

  it('D22 leaves a newer rollout of the thread alone when an older copy arrives late', async () => {
    const taken = await take(found(place('long.jsonl', LONG)));
    expect(await take(found(place('short.jsonl', SHORT)))).toMatchObject({
      kind: 'ended',
      threadId: taken.threadId,
      outcome: { kind: 'skipped', reason: 'unchanged' },
    });
  });

  it('D22 takes a file that grew in place as newer', async () => {
    const path = place('a.jsonl', SHORT);
    const { threadId } = await take(found(path));
    const before = await home?.threads.get(home.userKey, threadId ?? '');
    appendFileSync(path, LONG.subarray(SHORT.length));
    expect(await take(found(path))).toMatchObject({ kind: 'thread', isNew: true });
    const after = await home?.threads.get(home.userKey, threadId ?? '');
    expect(after?.updatedAt).toBeGreaterThan(before?.updatedAt ?? 0);
  });

  it('D22 leaves what is stored where a file claims to be of the far future', async () => {
    const taken = await take(found(place('long.jsonl', LONG)));
    const before = await readStored(taken.threadId);
    const future = codexRollout({ startAt: Date.UTC(9_998, 0, 1) })
      .user('from the future')
      .toBytes();
    const path = place('future.jsonl', future);
    utimesSync(path, 1, 1_700_000_000);
    expect(await take(found(path))).toMatchObject({ kind: 'ended', outcome: { reason: 'unchanged' } });
    expect(await readStored(taken.threadId)).toEqual(before);
  });

  it('two files of one thread that end at the same time: the first stays, and the second is told what it is', async () => {
    await take(found(place('a.jsonl', LONG)));
    const other = codexRollout().user('one').assistant('2').user('3').toBytes();
    expect(await take(found(place('b.jsonl', other)))).toMatchObject({
      outcome: { detail: expect.stringMatching(/^another rollout of this thread up to .* is stored and stays$/) },
    });
    expect(await take(found(place('c.jsonl', LONG)))).toMatchObject({
      outcome: { detail: 'the same rollout is stored' },
    });
  });

  it('a thread id that looks like a secret is replaced by its hash, the same each time', async () => {
    const id = ['sk-', 'proj-', 'ABCDEFGHIJKLMNOPQRSTUVWX1234567890'].join('');
    const { threadId } = await take(found(place('a.jsonl', codexRollout({ id }).user('one').toBytes())));
    expect(threadId).toMatch(/^id-[0-9a-f]{32}$/);
    const again = codexRollout({ id, startAt: Date.UTC(2026, 0, 3) })
      .user('two')
      .toBytes();
    expect((await take(found(place('b.jsonl', again)))).threadId).toBe(threadId);
  });

  it('a source that is a secret does not enter the catalogue, in no case of its letters', async () => {
    const source = ['AK', 'IA', 'ABCDEFGHIJKLMNOP'].join('');
    const { threadId } = await take(found(place('a.jsonl', codexRollout({ source }).user('one').toBytes())));
    const thread = await home?.threads.get(home.userKey, threadId ?? '');
    expect(thread?.source.toUpperCase()).not.toContain(source);
  });

  it('names the rule where an id is no id', async () => {
    expect(await take(found(place('a.jsonl', codexRollout({ id: '../../x' }).user('one').toBytes())))).toMatchObject({
      outcome: { reason: 'no_thread_id', detail: expect.stringContaining('1 to 128 characters') },
    });
  });

  it('takes the id from the name where the content has none, and refuses a file without either', async () => {
    const id = '019c0000-0000-7000-8000-0000000000ff';
    const headless = codexRollout({ headless: true }).user('x').toBytes();
    expect(await take(found(place(`rollout-2026-01-01T00-00-00-${id}.jsonl`, headless)))).toMatchObject({
      threadId: id,
    });
    expect(await take(found(place('nameless.jsonl', headless)))).toMatchObject({
      kind: 'ended',
      outcome: { kind: 'failed', reason: 'no_thread_id' },
    });
  });
});
