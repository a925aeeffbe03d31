import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FoundFile } from '../../local/discover.ts';
import { type Home, openHome } from '../../local/home.ts';
import { type ImportedFile, importRollout } from '../../local/import-rollouts.ts';
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

const LONG = codexRollout().user('one').assistant('two').user('three').toBytes();
const SHORT = codexRollout().user('one').toBytes();

describe('importRollout', () => {
  it('enters a thread and does not read an unchanged file again', async () => {
    const file = found(place('a.jsonl', LONG));
    expect(await take(file)).toMatchObject({ kind: 'thread', isNew: true });
    expect(await take(file)).toMatchObject({ kind: 'thread', isNew: false });
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
