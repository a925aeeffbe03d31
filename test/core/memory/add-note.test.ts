import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import { addNote } from '../../../core/memory/add-note.ts';
import { openVersion } from '../../../core/memory/memory-files.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryJobStore } from '../../doubles/memory-job-store.ts';
import { VersionShelf } from '../consolidation/version-shelf.ts';

const NOW = Date.parse('2026-05-26T13:42:08Z');
const NAME = '2026-05-26T13-42-08-remember-review-style.md';
const FOLDER = 'extensions/ad_hoc/notes/';
const INSTRUCTIONS = 'extensions/ad_hoc/instructions.md';
const TEMPLATES = new FilesTemplateStore(join(import.meta.dirname, '../../../layers/templates'));

function depsOf(shelf: VersionShelf, jobs = new MemoryJobStore()) {
  return { heads: shelf, memories: shelf, jobs, templates: TEMPLATES, clock: new FixedClock(NOW) };
}

async function publish(
  shelf: VersionShelf,
  files: Record<string, string>,
  more: { readonly notesConsumed?: readonly string[] } = {},
) {
  await publishVersion(
    { heads: shelf, memories: shelf },
    {
      userKey: 'u',
      base: { manifest: shelf.manifests.get(shelf.current.version), epoch: shelf.current.epoch },
      fence: null,
      reason: 'consolidation',
      actor: 'consolidation',
      files: new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)])),
      inputs: [{ threadId: 't1', sourceUpdatedAt: 5 }],
      removed: [],
      notesConsumed: [],
      model: 'm',
      promptVersion: 'p',
      tokenUsage: NO_USAGE,
      now: 1,
      ...more,
    },
  );
}

async function textAt(shelf: VersionShelf, path: string): Promise<string> {
  return decodeUtf8(await (await openVersion({ heads: shelf, memories: shelf }, 'u')).read(path));
}

describe('addNote', () => {
  it('makes the consolidation due once it is published, and only then', async () => {
    const shelf = new VersionShelf();
    const jobs = new MemoryJobStore();
    await expect(addNote(depsOf(shelf, jobs), 'u', { note: ' ' })).rejects.toMatchObject({ code: 'note.empty' });
    expect(await jobs.get('u', { kind: 'consolidation' })).toBeUndefined();
    await addNote(depsOf(shelf, jobs), 'u', { filename: NAME, note: 'n' });
    expect(await jobs.get('u', { kind: 'consolidation' })).toMatchObject({ status: 'pending', inputWatermark: NOW });
  });

  it('makes the consolidation due when a note is sent again whose request died after its version', async () => {
    const shelf = new VersionShelf();
    const jobs = new MemoryJobStore();
    const dying = { enqueueConsolidation: () => Promise.reject(new Error('died')) };
    const note = { filename: NAME, note: 'n' };
    await expect(addNote({ ...depsOf(shelf), jobs: dying }, 'u', note)).rejects.toThrow('died');
    await expect(addNote(depsOf(shelf, jobs), 'u', note)).rejects.toMatchObject({ code: 'note.exists' });
    expect(await jobs.get('u', { kind: 'consolidation' })).toMatchObject({ status: 'pending', inputWatermark: NOW });
  });

  it('makes nothing due for a note that was taken in', async () => {
    const shelf = new VersionShelf();
    const jobs = new MemoryJobStore();
    await publish(shelf, { [`${FOLDER}${NAME}`]: 'n' }, { notesConsumed: [`${FOLDER}${NAME}`] });
    const again = addNote(depsOf(shelf, jobs), 'u', { filename: NAME, note: 'n' });
    await expect(again).rejects.toMatchObject({ code: 'note.exists' });
    expect(await jobs.get('u', { kind: 'consolidation' })).toBeUndefined();
  });

  it('TC-217 writes the note verbatim as a small version, pending at once', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': 'm', 'memory_summary.md': 'v1\ns' });
    shelf.writes.length = 0;
    const note = ' Prefer small reviews.\r\n\n';
    expect(await addNote(depsOf(shelf), 'u', { filename: NAME, note })).toEqual({
      path: `${FOLDER}${NAME}`,
      pending: true,
    });
    expect(await textAt(shelf, `${FOLDER}${NAME}`)).toBe(note);
    expect(await textAt(shelf, 'MEMORY.md')).toBe('m');
    expect(shelf.current).toMatchObject({
      version: 2,
      summary: 'v1\ns',
      publishedAt: NOW,
      pendingNotes: [{ path: `${FOLDER}${NAME}`, text: note }],
    });
    expect(shelf.manifests.get(2)).toMatchObject({
      parent: 1,
      reason: 'note',
      actor: 'user',
      inputs: [{ threadId: 't1', sourceUpdatedAt: 5 }],
      removed: [],
      model: null,
      tokenUsage: NO_USAGE,
    });
    expect(shelf.writes).toEqual([`putFile ${FOLDER}${NAME}`, `putFile ${INSTRUCTIONS}`, 'putManifest', 'switchTo']);
  });

  it('K-01 seeds the instructions on the first note, and never overwrites them', async () => {
    const shelf = new VersionShelf();
    await addNote(depsOf(shelf), 'u', { note: 'first' });
    expect(shelf.current.version).toBe(1);
    expect(await textAt(shelf, INSTRUCTIONS)).toBe((await TEMPLATES.get('ad_hoc_instructions')).text);
    const edited = new VersionShelf();
    await publish(edited, { [INSTRUCTIONS]: 'mine' });
    await addNote(depsOf(edited), 'u', { note: 'second' });
    expect(await textAt(edited, INSTRUCTIONS)).toBe('mine');
  });

  it('makes a name from time and text, and another for an equal note in the same second', async () => {
    const shelf = new VersionShelf();
    const made = [];
    for (let count = 0; count < 3; count++) made.push((await addNote(depsOf(shelf), 'u', { note: 'Use tabs' })).path);
    expect(made).toEqual(['', '-2', '-3'].map((end) => `${FOLDER}2026-05-26T13-42-08-use-tabs${end}.md`));
    expect(shelf.current.pendingNotes).toHaveLength(3);
  });

  it('TC-225 refuses the same filename twice and keeps the first content', async () => {
    const shelf = new VersionShelf();
    await addNote(depsOf(shelf), 'u', { filename: NAME, note: 'first' });
    await expect(addNote(depsOf(shelf), 'u', { filename: NAME, note: 'second' })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'note.exists',
    });
    expect(await textAt(shelf, `${FOLDER}${NAME}`)).toBe('first');
    expect(shelf.current.version).toBe(1);
  });

  it('checks the name before the text, and writes nothing when it refuses', async () => {
    const shelf = new VersionShelf();
    for (const [request, code] of [
      [{ filename: 'notes.md', note: ' ' }, 'note.name_pattern'],
      [{ filename: NAME, note: ' \n' }, 'note.empty'],
      [{ note: 'x'.repeat(65_537) }, 'note.too_large'],
    ] as const) {
      await expect(addNote(depsOf(shelf), 'u', request)).rejects.toMatchObject({ code });
    }
    expect(shelf.writes).toEqual([]);
  });

  it.each(['extensions', 'extensions/ad_hoc', 'extensions/ad_hoc/notes'])(
    'TC-226 refuses where %s is a file',
    async (path) => {
      const shelf = new VersionShelf();
      await publish(shelf, { [path]: 'x' });
      await expect(addNote(depsOf(shelf), 'u', { filename: NAME, note: 'n' })).rejects.toMatchObject({
        code: 'path.invalid',
      });
    },
  );

  it('stores no secret, neither in the text nor in a made name, and takes none as a name', async () => {
    const shelf = new VersionShelf();
    const secret = ['sk', 'abcdefghijklmnopqrstuvwx'].join('-');
    const { path } = await addNote(depsOf(shelf), 'u', { note: `${secret} is the key` });
    expect(path).not.toContain('abcdefghijkl');
    expect(await textAt(shelf, path)).not.toContain(secret);
    expect(JSON.stringify(shelf.current)).not.toContain(secret);
    const filename = `2026-05-26T13-42-08-${secret}.md`;
    await expect(addNote(depsOf(shelf), 'u', { filename, note: 'n' })).rejects.toMatchObject({
      code: 'note.secret_in_name',
    });
  });

  it('keeps both notes when two are added at once', async () => {
    const shelf = new VersionShelf();
    await Promise.all(['a', 'b', 'c', 'd'].map((note) => addNote(depsOf(shelf), 'u', { note })));
    expect(shelf.current.pendingNotes.map((note) => note.text)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('stores one of two equal filenames that race, and refuses the other', async () => {
    const shelf = new VersionShelf();
    const ends = await Promise.allSettled(
      ['a', 'b'].map((note) => addNote(depsOf(shelf), 'u', { filename: NAME, note })),
    );
    expect(ends.map((end) => end.status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = ends.findIndex((end) => end.status === 'fulfilled');
    expect(await textAt(shelf, `${FOLDER}${NAME}`)).toBe(['a', 'b'][winner]);
  });

  it('publishes on the new head when a consolidation switched first, and loses nothing of it', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': 'old', [INSTRUCTIONS]: 'i' });
    shelf.before = async (write) => {
      if (write !== 'switchTo') return;
      shelf.before = () => {};
      await publish(shelf, { 'MEMORY.md': 'new', [INSTRUCTIONS]: 'i' });
    };
    await addNote(depsOf(shelf), 'u', { note: 'n' });
    expect(await textAt(shelf, 'MEMORY.md')).toBe('new');
    expect(shelf.current.pendingNotes).toHaveLength(1);
  });

  it('does not make notes wait again that were taken in', async () => {
    const shelf = new VersionShelf();
    const old = `${FOLDER}${NAME}`;
    await publish(shelf, { [old]: 'old', [INSTRUCTIONS]: 'i' }, { notesConsumed: [old] });
    await addNote(depsOf(shelf), 'u', { note: 'new' });
    expect(shelf.current.pendingNotes.map((note) => note.text)).toEqual(['new']);
    expect(shelf.manifests.get(2)?.notesConsumed).toEqual([old]);
  });

  it('goes into the emptied memory when a reset comes first', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': 'old' });
    shelf.before = async (write) => {
      if (write !== 'switchTo') return;
      shelf.before = () => {};
      await shelf.reset();
    };
    await addNote(depsOf(shelf), 'u', { note: 'n' });
    const files = await openVersion({ heads: shelf, memories: shelf }, 'u');
    expect(files.paths).toEqual([INSTRUCTIONS, `${FOLDER}2026-05-26T13-42-08-n.md`]);
    expect(shelf.current.epoch).toBe(1);
  });

  it('gives up with a retryable failure when the head never stands still', async () => {
    const shelf = new VersionShelf();
    let count = 0;
    let inside = false;
    shelf.before = async (write) => {
      if (write !== 'switchTo' || inside) return;
      inside = true;
      await publish(shelf, { [INSTRUCTIONS]: `changed ${count++}` });
      inside = false;
    };
    await expect(addNote(depsOf(shelf), 'u', { note: 'n' })).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'memory.publish_contended',
    });
  });
});
