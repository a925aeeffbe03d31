import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { type CleanUp, removeOrphanVersions } from '../../../core/consolidation/orphan-versions.ts';
import { type PublishRequest, publishVersion } from '../../../core/consolidation/publish.ts';
import { findBaseline, loadVersionChain } from '../../../core/consolidation/version-chain.ts';
import { UnavailableError } from '../../../core/errors.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { DAY_MS } from '../../../core/time.ts';
import { VersionShelf } from './version-shelf.ts';

const NOTE = 'extensions/ad_hoc/notes/2026-01-02T03-04-05-tabs.md';

function tree(files: Record<string, string>): Map<string, Uint8Array> {
  return new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)]));
}

function requestOver(shelf: VersionShelf, files: Record<string, string>, more: Partial<PublishRequest> = {}) {
  const base = { manifest: shelf.manifests.get(shelf.current.version), epoch: shelf.current.epoch };
  return {
    userKey: 'u',
    base,
    fence: shelf.current.fence,
    reason: 'consolidation',
    actor: 'consolidation',
    files: tree(files),
    inputs: [],
    removed: [],
    notesConsumed: [],
    model: 'm',
    promptVersion: '1',
    tokenUsage: NO_USAGE,
    now: 1_000,
    ...more,
  } satisfies PublishRequest;
}

function publish(shelf: VersionShelf, files: Record<string, string>, more: Partial<PublishRequest> = {}) {
  return publishVersion({ memories: shelf, heads: shelf }, requestOver(shelf, files, more));
}

/** A small version by somebody else, straight on the present head. */
function publishSmall(shelf: VersionShelf, files: Record<string, string>, more: Partial<PublishRequest> = {}) {
  const base = shelf.manifests.get(shelf.current.version);
  return publish(shelf, files, {
    fence: null,
    reason: 'note',
    actor: 'user',
    inputs: base?.inputs ?? [],
    notesConsumed: base?.notesConsumed ?? [],
    model: null,
    ...more,
  });
}

async function readCurrent(shelf: VersionShelf): Promise<Record<string, string>> {
  const manifest = shelf.manifests.get(shelf.current.version);
  const out: Record<string, string> = {};
  for (const [path, entry] of Object.entries(manifest?.files ?? {}))
    out[path] = decodeUtf8(await shelf.readFile('u', path, entry));
  return out;
}

const CLEAN_UP: CleanUp = { now: 1_000, holdsLock: async () => true };
const FIRST = { 'MEMORY.md': 'm1', 'memory_summary.md': 'v1\none', 'raw_memories.md': 'r1' };

async function shelfWithFirst(more: Partial<PublishRequest> = {}): Promise<VersionShelf> {
  const shelf = new VersionShelf();
  await shelf.setFence('u', 'token');
  await publish(shelf, FIRST, more);
  shelf.writes.length = 0;
  return shelf;
}

describe('publishing a version', () => {
  it('stores two files, one manifest and switches once when two files changed', async () => {
    const shelf = await shelfWithFirst();
    const result = await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2', 'memory_summary.md': 'v1\ntwo' });
    expect(shelf.writes).toEqual(['putFile MEMORY.md', 'putFile memory_summary.md', 'putManifest', 'switchTo']);
    expect(result).toEqual({
      kind: 'published',
      version: 2,
      parent: 1,
      filesWritten: ['MEMORY.md', 'memory_summary.md'],
      filesUnchanged: 1,
    });
    expect(shelf.current).toMatchObject({ version: 2, summary: 'v1\ntwo', publishedAt: 1_000 });
    expect(shelf.manifests.get(2)?.files['raw_memories.md']).toBe(shelf.manifests.get(1)?.files['raw_memories.md']);
  });

  it('stores a file whose bytes kept their number but not their content', async () => {
    const shelf = await shelfWithFirst();
    await publish(shelf, { ...FIRST, 'MEMORY.md': 'mX' });
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, 'MEMORY.md': 'mX' });
  });

  it('drops a file that left without storing anything but the manifest', async () => {
    const shelf = await shelfWithFirst();
    await publish(shelf, { 'MEMORY.md': 'm1', 'memory_summary.md': 'v1\none' });
    expect(shelf.writes).toEqual(['putManifest', 'switchTo']);
    expect(Object.keys(await readCurrent(shelf))).toEqual(['MEMORY.md', 'memory_summary.md']);
  });

  it('takes over kept entries of the base without their content, except those that are replaced', async () => {
    const shelf = await shelfWithFirst();
    const kept = [...Object.keys(FIRST), 'never was'];
    expect(await publish(shelf, {}, { reason: 'note', kept })).toEqual({ kind: 'unchanged', version: 1 });
    expect(await publish(shelf, { [NOTE]: 'n', 'MEMORY.md': 'm2' }, { reason: 'note', kept })).toMatchObject({
      kind: 'published',
      filesWritten: [NOTE, 'MEMORY.md'],
      filesUnchanged: 2,
    });
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, [NOTE]: 'n', 'MEMORY.md': 'm2' });
    expect(shelf.current.summary).toBe(FIRST['memory_summary.md']);
  });

  it('makes no version of a byte-identical result', async () => {
    const shelf = await shelfWithFirst();
    expect(await publish(shelf, FIRST)).toEqual({ kind: 'unchanged', version: 1 });
    expect(shelf.writes).toEqual([]);
  });

  it('makes no version of nothing over nothing', async () => {
    const shelf = new VersionShelf();
    expect(await publish(shelf, {})).toEqual({ kind: 'unchanged', version: 0 });
  });

  it('moves the baseline over a hand edit that the model left as it was', async () => {
    const shelf = await shelfWithFirst();
    const edited = { ...FIRST, 'MEMORY.md': 'by hand' };
    await publishSmall(shelf, edited, { reason: 'edit' });
    const result = await publish(shelf, edited);
    expect(result).toMatchObject({ kind: 'published', version: 3, filesWritten: [] });
    expect(findBaseline(await loadVersionChain(shelf, 'u', 3))?.version).toBe(3);
  });

  it('takes the next number above the highest stored one, also above that of a run that lost', async () => {
    const shelf = await shelfWithFirst();
    const first = shelf.manifests.get(1);
    if (first) shelf.manifests.set(7, { ...first, version: 7, parent: 1 });
    expect(await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' })).toMatchObject({ version: 8, parent: 1 });
  });

  it('tries the next number when another publisher took the first', async () => {
    const shelf = await shelfWithFirst();
    const first = shelf.manifests.get(1);
    let raced = false;
    shelf.before = (write) => {
      if (write !== 'putManifest' || raced || !first) return;
      raced = true;
      shelf.manifests.set(2, { ...first, version: 2, parent: 1 });
    };
    expect(await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' })).toMatchObject({ kind: 'published', version: 3 });
  });

  it('gives up with a retryable failure when every number is taken', async () => {
    const shelf = await shelfWithFirst();
    shelf.putManifest = async () => 'taken';
    await expect(publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' })).rejects.toMatchObject({
      code: 'memory.publish_contended',
      retryable: true,
    });
    expect(shelf.current.version).toBe(1);
  });

  it('counts a switch whose answer was lost as won also when somebody has built on it since, and adds nothing twice', async () => {
    const shelf = await shelfWithFirst();
    const switchTo = shelf.switchTo.bind(shelf);
    shelf.switchTo = async (user, request) => {
      shelf.switchTo = switchTo;
      await switchTo(user, request);
      await publishSmall(shelf, { ...FIRST, [NOTE]: 'mine', [`${NOTE}2`]: 'theirs' });
      return 'lost';
    };
    expect(await publishSmall(shelf, { ...FIRST, [NOTE]: 'mine' })).toMatchObject({ kind: 'published', version: 2 });
    expect(shelf.current.version).toBe(3);
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, [NOTE]: 'mine', [`${NOTE}2`]: 'theirs' });
  });

  it('counts a switch whose answer was lost as won', async () => {
    const shelf = await shelfWithFirst();
    const real = shelf.switchTo.bind(shelf);
    shelf.switchTo = async (userKey, request) => {
      await real(userKey, request);
      return 'lost';
    };
    expect(await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' })).toMatchObject({ kind: 'published', version: 2 });
    expect(shelf.manifests.size).toBe(2);
  });
});

describe('notes in the head', () => {
  it('shows notes that no consolidation took in, in path order, and hides those it did', async () => {
    const shelf = await shelfWithFirst();
    const other = 'extensions/ad_hoc/notes/2026-01-01T00-00-00-first.md';
    await publishSmall(shelf, { ...FIRST, [NOTE]: 'use tabs', [other]: 'first' });
    expect(shelf.current.pendingNotes).toEqual([
      { path: other, text: 'first' },
      { path: NOTE, text: 'use tabs' },
    ]);
    await publish(
      shelf,
      { ...FIRST, 'MEMORY.md': 'tabs', [NOTE]: 'use tabs', [other]: 'first' },
      {
        notesConsumed: [NOTE],
      },
    );
    expect(shelf.current.pendingNotes).toEqual([{ path: other, text: 'first' }]);
  });

  it('cuts a shown note at 1,024 bytes on a character boundary', async () => {
    const shelf = await shelfWithFirst();
    await publishSmall(shelf, { ...FIRST, [NOTE]: `${'x'.repeat(1_023)}é and more` });
    expect(shelf.current.pendingNotes[0]?.text).toBe('x'.repeat(1_023));
  });

  it('forgets that a note was consumed once its file is gone', async () => {
    const shelf = await shelfWithFirst();
    await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' }, { notesConsumed: [NOTE] });
    expect(shelf.manifests.get(2)?.notesConsumed).toEqual([]);
  });
});

describe('a head that moved meanwhile', () => {
  const inputs = [{ threadId: 't1', sourceUpdatedAt: 1 }];

  it('rebases over a note and keeps it pending', async () => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' }, { inputs });
    await publishSmall(shelf, { ...FIRST, [NOTE]: 'use tabs' });
    shelf.writes.length = 0;
    const result = await publishVersion({ memories: shelf, heads: shelf }, request);
    expect(result).toMatchObject({ kind: 'published', version: 4, parent: 2 });
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, 'MEMORY.md': 'm2', [NOTE]: 'use tabs' });
    expect(shelf.current.pendingNotes).toEqual([{ path: NOTE, text: 'use tabs' }]);
    expect(shelf.manifests.get(4)?.inputs).toEqual(inputs);
    expect(shelf.writes.filter((write) => write.startsWith('putFile'))).toEqual(['putFile MEMORY.md']);
  });

  it('rebases over several small versions, deletions included', async () => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    await publishSmall(shelf, { ...FIRST, [NOTE]: 'use tabs' });
    await publishSmall(shelf, { 'MEMORY.md': 'm1', 'memory_summary.md': 'v1\nhand', [NOTE]: 'use tabs' });
    const result = await publishVersion({ memories: shelf, heads: shelf }, request);
    expect(result).toMatchObject({ kind: 'published', parent: 3 });
    expect(await readCurrent(shelf)).toEqual({
      'MEMORY.md': 'm2',
      'memory_summary.md': 'v1\nhand',
      [NOTE]: 'use tabs',
    });
    expect(shelf.current.summary).toBe('v1\nhand');
  });

  it('answers moved when both sides changed one path, and leaves the other side as it is', async () => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    await publishSmall(shelf, { ...FIRST, 'MEMORY.md': 'by hand' }, { reason: 'edit' });
    expect(await publishVersion({ memories: shelf, heads: shelf }, request)).toEqual({ kind: 'moved', version: 2 });
    expect((await readCurrent(shelf))['MEMORY.md']).toBe('by hand');
  });

  it('answers moved when one of its inputs was forgotten in between', async () => {
    const shelf = await shelfWithFirst({ inputs });
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' }, { inputs });
    await publishSmall(
      shelf,
      { ...FIRST, 'raw_memories.md': 'gone' },
      { reason: 'forget', inputs: [], removed: ['t1'] },
    );
    expect(await publishVersion({ memories: shelf, heads: shelf }, request)).toEqual({ kind: 'moved', version: 2 });
  });

  it('lets a note that lost to a consolidation carry on what the consolidation rests on', async () => {
    const shelf = await shelfWithFirst();
    const note = requestOver(shelf, { ...FIRST, [NOTE]: 'use tabs' }, { fence: null, reason: 'note', model: null });
    await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' }, { inputs });
    await publishVersion({ memories: shelf, heads: shelf }, note);
    expect(shelf.manifests.get(shelf.current.version)).toMatchObject({ reason: 'note', inputs, parent: 2 });
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, 'MEMORY.md': 'm2', [NOTE]: 'use tabs' });
  });

  it('lists as removed what the head, not the base, rested on', async () => {
    const shelf = await shelfWithFirst({ inputs });
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' }, { inputs: [], removed: ['t1'] });
    await publishSmall(
      shelf,
      { ...FIRST, 'raw_memories.md': 'gone' },
      { reason: 'forget', inputs: [], removed: ['t1'] },
    );
    await publishVersion({ memories: shelf, heads: shelf }, request);
    expect(shelf.manifests.get(shelf.current.version)).toMatchObject({ reason: 'consolidation', removed: [] });
  });

  it('is lost after a reset', async () => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    shelf.current = { ...shelf.current, epoch: 1 };
    expect(await publishVersion({ memories: shelf, heads: shelf }, request)).toEqual({ kind: 'lost', reason: 'epoch' });
  });

  it('is lost when another claimer set its fence, even after that one published nothing', async () => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    await shelf.setFence('u', 'other');
    expect(await publishVersion({ memories: shelf, heads: shelf }, request)).toEqual({ kind: 'lost', reason: 'fence' });
    expect(shelf.current.version).toBe(1);
    expect(shelf.discarded.map((staged) => staged.files.map((file) => file.path))).toEqual([['MEMORY.md']]);
    expect([...shelf.manifests.keys()]).toEqual([1]);
  });

  it.each([
    ['putFile memory_summary.md', ['MEMORY.md']],
    ['putManifest', ['MEMORY.md', 'memory_summary.md']],
  ])('takes back what it stored when %s fails', async (call, paths) => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2', 'memory_summary.md': 'v1\ntwo' });
    shelf.before = (write) => {
      if (write === call) throw new UnavailableError('memory.write_failed', 'out');
    };
    await expect(publishVersion({ memories: shelf, heads: shelf }, request)).rejects.toThrow('out');
    expect(shelf.discarded.flatMap((staged) => staged.files.map((file) => file.path)).sort()).toEqual(paths);
  });

  it('takes nothing back when it does not know how the switch ended', async () => {
    const shelf = await shelfWithFirst();
    const request = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    shelf.after = (write) => {
      if (write === 'switchTo') throw new UnavailableError('table.unavailable', 'no answer');
    };
    await expect(publishVersion({ memories: shelf, heads: shelf }, request)).rejects.toThrow('no answer');
    expect(shelf.discarded).toEqual([]);
    expect((await readCurrent(shelf))['MEMORY.md']).toBe('m2');
  });

  it('keeps both notes when two are published at once', async () => {
    const shelf = await shelfWithFirst();
    const small = { fence: null, reason: 'note', model: null } as const;
    const other = 'extensions/ad_hoc/notes/2026-01-01T00-00-00-first.md';
    const requests = [
      requestOver(shelf, { ...FIRST, [NOTE]: 'a' }, small),
      requestOver(shelf, { ...FIRST, [other]: 'b' }, small),
    ];
    const results = await Promise.all(
      requests.map((request) => publishVersion({ memories: shelf, heads: shelf }, request)),
    );
    expect(results.map((result) => result.kind)).toEqual(['published', 'published']);
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, [NOTE]: 'a', [other]: 'b' });
  });
});

describe('the death of a publisher', () => {
  const steps = ['putFile MEMORY.md', 'putFile memory_summary.md', 'putManifest', 'switchTo'];

  it.each(steps.flatMap((step) => [`before ${step}`, `after ${step}`]))('%s leaves whole files', async (point) => {
    const shelf = await shelfWithFirst();
    const next = { ...FIRST, 'MEMORY.md': 'm2', 'memory_summary.md': 'v1\ntwo' };
    const die = (when: string) => (write: string) => {
      if (point === `${when} ${write}`) throw new Error('killed');
    };
    shelf.before = die('before');
    shelf.after = die('after');
    await expect(publish(shelf, next)).rejects.toThrow('killed');
    expect(await readCurrent(shelf)).toEqual(point === 'after switchTo' ? next : FIRST);

    shelf.before = () => {};
    shelf.after = () => {};
    await removeOrphanVersions({ memories: shelf, heads: shelf }, 'u', CLEAN_UP);
    const again = await publish(shelf, next);
    expect(again.kind).toBe(point === 'after switchTo' ? 'unchanged' : 'published');
    expect(await readCurrent(shelf)).toEqual(next);
  });
});

describe('removing versions of runs that lost', () => {
  it('removes a manifest that the head does not rest on, with its contents', async () => {
    const shelf = await shelfWithFirst();
    const stale = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'lost' });
    await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    shelf.discard = async () => {}; // as a run that died before it could take back what it stored
    await publishVersion({ memories: shelf, heads: shelf }, stale);
    expect(await shelf.manifestNumbers()).toEqual([1, 2, 3]);
    expect(await removeOrphanVersions({ memories: shelf, heads: shelf }, 'u', CLEAN_UP)).toEqual([3]);
    expect(await shelf.manifestNumbers()).toEqual([1, 2]);
    expect([...shelf.contents.values()].map(decodeUtf8)).not.toContain('lost');
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, 'MEMORY.md': 'm2' });
  });

  it('keeps a version that a note at work is about to switch to', async () => {
    const shelf = await shelfWithFirst();
    shelf.before = async (write) => {
      if (write !== 'switchTo') return;
      shelf.before = () => {};
      await removeOrphanVersions({ memories: shelf, heads: shelf }, 'u', CLEAN_UP);
    };
    await publishSmall(shelf, { ...FIRST, [NOTE]: 'use tabs' });
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, [NOTE]: 'use tabs' });
  });

  it('touches nothing below a chain whose history has expired', async () => {
    const shelf = await shelfWithFirst();
    await publish(shelf, { ...FIRST, 'MEMORY.md': 'm2' });
    await publish(shelf, { ...FIRST, 'MEMORY.md': 'm3' });
    shelf.manifests.delete(2);
    expect(await removeOrphanVersions({ memories: shelf, heads: shelf }, 'u', CLEAN_UP)).toEqual([]);
    expect(await shelf.manifestNumbers()).toEqual([1, 3]);
  });

  it('fails rather than judge when the head names a version without a manifest', async () => {
    const shelf = await shelfWithFirst();
    shelf.manifests.delete(1);
    await expect(removeOrphanVersions({ memories: shelf, heads: shelf }, 'u', CLEAN_UP)).rejects.toMatchObject({
      code: 'memory.manifest_missing',
    });
  });
});

describe('removing history', () => {
  const HISTORY = LIMITS.historyDays * DAY_MS;
  const stores = (shelf: VersionShelf) => ({ memories: shelf, heads: shelf });
  const cleanAt = (shelf: VersionShelf, now: number, holdsLock = async () => true) =>
    removeOrphanVersions(stores(shelf), 'u', { now, holdsLock });

  /** Versions 1 to `count`, made a day apart from day 1 on: consolidations, but for those named. */
  async function shelfWithDays(count: number, notes: readonly number[] = []): Promise<VersionShelf> {
    const shelf = await shelfWithFirst({ now: DAY_MS });
    for (let day = 2; day <= count; day++) {
      const files = { ...FIRST, 'MEMORY.md': `m${day}` };
      const now = day * DAY_MS;
      await (notes.includes(day)
        ? publishSmall(shelf, files, { now, reason: 'edit' })
        : publish(shelf, files, { now }));
    }
    return shelf;
  }

  it('removes versions whose successor is older than the history, and the contents that only they named', async () => {
    const shelf = await shelfWithDays(5);
    expect(await cleanAt(shelf, HISTORY + 3 * DAY_MS)).toEqual([1]);
    expect(await cleanAt(shelf, HISTORY + 3 * DAY_MS + 1)).toEqual([2]);
    expect(await shelf.manifestNumbers()).toEqual([3, 4, 5]);
    const texts = [...shelf.contents.values()].map(decodeUtf8);
    expect(texts.toSorted()).toEqual(['m3', 'm4', 'm5', 'r1', 'v1\none']);
    expect(await readCurrent(shelf)).toEqual({ ...FIRST, 'MEMORY.md': 'm5' });
  });

  it('keeps the head, the newest consolidation and all between them, however old', async () => {
    const shelf = await shelfWithDays(6, [2, 5, 6]);
    expect(await cleanAt(shelf, 10 * HISTORY)).toEqual([1, 2, 3]);
    expect(await shelf.manifestNumbers()).toEqual([4, 5, 6]);
    expect(await cleanAt(shelf, 10 * HISTORY)).toEqual([]);
  });

  it('finishes an expiry that broke off', async () => {
    const shelf = await shelfWithDays(6);
    shelf.manifests.delete(4);
    expect(await cleanAt(shelf, 10 * HISTORY)).toEqual([1, 2, 3, 5]);
    expect(await shelf.manifestNumbers()).toEqual([6]);
  });

  it('asks for the lock before each batch of 16 reads and before it removes, and removes nothing without it', async () => {
    const shelf = await shelfWithDays(33);
    for (const held of [0, 1, 2, 3]) {
      let asked = 0;
      expect(await cleanAt(shelf, 10 * HISTORY, async () => asked++ < held)).toEqual([]);
      expect(asked).toBe(held + 1);
    }
    expect(await shelf.manifestNumbers()).toHaveLength(33);
    expect(await cleanAt(shelf, 10 * HISTORY)).toHaveLength(32);
  });
});

it('never leaves a version of mixed files, whatever order publishers and notes act in', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const shelf = await shelfWithFirst();
      shelf.before = (write) => scheduler.schedule(Promise.resolve(), write);
      const run = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'm2', 'memory_summary.md': 'v1\ntwo' });
      const note = requestOver(shelf, { ...FIRST, [NOTE]: 'n' }, { fence: null, reason: 'note', model: null });
      const edit = requestOver(shelf, { ...FIRST, 'MEMORY.md': 'hand' }, { fence: null, reason: 'edit', model: null });
      const publishers = [run, note, edit].map((request) => publishVersion({ memories: shelf, heads: shelf }, request));
      await scheduler.waitFor(Promise.all(publishers));
      const files = await readCurrent(shelf);
      expect(files[NOTE]).toBe('n');
      const pair = [files['MEMORY.md'], files['memory_summary.md']];
      expect([
        ['m2', 'v1\ntwo'],
        ['hand', 'v1\none'],
      ]).toContainEqual(pair);
    }),
    { numRuns: 60 },
  );
});
