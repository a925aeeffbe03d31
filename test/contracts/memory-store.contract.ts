import { afterEach, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../core/agent/token-usage.ts';
import type { FileEntry, Manifest } from '../../core/consolidation/manifest.ts';
import { DefectError } from '../../core/errors.ts';
import type { MemoryStore } from '../../core/ports/memory-store.ts';
import { decodeUtf8, encodeUtf8 } from '../../core/text.ts';

/** A store to try, with the means to damage what it holds. Contents that nothing names may be removed at once. */
export interface MemoryStoreRig {
  readonly store: MemoryStore;
  /** Another client of the same storage. */
  readonly second: MemoryStore;
  /** Changes the stored bytes of a file behind the store's back. */
  damageContent(userKey: string, path: string, entry: FileEntry): Promise<void>;
  damageManifest(userKey: string, version: number): Promise<void>;
  close(): Promise<void>;
}

export function aManifest(version: number, more: Partial<Manifest> = {}): Manifest {
  return {
    version,
    parent: version - 1,
    createdAt: 1_700_000_000_123,
    reason: 'consolidation',
    actor: 'consolidation',
    inputs: [{ threadId: 't1', sourceUpdatedAt: 5 }],
    removed: ['t0'],
    files: {},
    model: 'model-x',
    promptVersion: 'consolidation@1',
    tokenUsage: { ...NO_USAGE, inputTokens: 7, totalTokens: 7 },
    notesConsumed: ['extensions/ad_hoc/notes/2026-01-01T00-00-00-x.md'],
    ...more,
  };
}

const refusal = (code: string) => expect.toSatisfy((error) => error instanceof DefectError && error.code === code);

/** What every MemoryStore must do. */
export function memoryStoreContract(name: string, openRig: () => Promise<MemoryStoreRig>): void {
  describe(`MemoryStore: ${name}`, () => {
    let rig: MemoryStoreRig | undefined;
    const open = async () => {
      rig = await openRig();
      return rig;
    };
    const put = (store: MemoryStore, text: string, userKey = 'local', path = 'MEMORY.md') =>
      store.putFile(userKey, path, encodeUtf8(text));
    afterEach(async () => {
      await rig?.close();
      rig = undefined;
    });

    it.each([
      ['text', encodeUtf8('# Memory é\n')],
      ['nothing', new Uint8Array()],
      ['any bytes', Uint8Array.from({ length: 256 }, (_, at) => at)],
    ])('reads back %s as it was stored, with its hash and size', async (_name, content) => {
      const { store, second } = await open();
      const entry = await store.putFile('local', 'a/b.md', content);
      expect(entry.bytes).toBe(content.length);
      expect(entry.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(Buffer.from(await second.readFile('local', 'a/b.md', entry))).toEqual(Buffer.from(content));
    });

    it('keeps an older content when the same path is stored again', async () => {
      const { store } = await open();
      const first = await put(store, 'one');
      const later = await put(store, 'two');
      expect(decodeUtf8(await store.readFile('local', 'MEMORY.md', first))).toBe('one');
      expect(decodeUtf8(await store.readFile('local', 'MEMORY.md', later))).toBe('two');
    });

    it('stores equal content twice without harm, also at the same moment', async () => {
      const { store, second } = await open();
      const entries = await Promise.all([put(store, 'same'), put(second, 'same'), put(store, 'same')]);
      for (const entry of entries) {
        expect(decodeUtf8(await second.readFile('local', 'MEMORY.md', entry))).toBe('same');
      }
    });

    it('fails for content that does not match its hash', async () => {
      const { store, damageContent } = await open();
      const entry = await put(store, 'whole');
      await damageContent('local', 'MEMORY.md', entry);
      await expect(store.readFile('local', 'MEMORY.md', entry)).rejects.toEqual(refusal('memory.content_gone'));
    });

    it('stores content again where the stored bytes were damaged', async () => {
      const { store, damageContent } = await open();
      await damageContent('local', 'MEMORY.md', await put(store, 'whole'));
      const entry = await put(store, 'whole');
      expect(decodeUtf8(await store.readFile('local', 'MEMORY.md', entry))).toBe('whole');
    });

    it('fails for content that is not there, whatever its name says', async () => {
      const { store } = await open();
      const entry = await put(store, 'x');
      await put(store, 'later'); // a store may give the current content where that is the same
      for (const versionId of ['0'.repeat(64), '../../etc/passwd', '']) {
        await expect(store.readFile('local', 'MEMORY.md', { ...entry, versionId })).rejects.toEqual(
          refusal('memory.content_gone'),
        );
      }
    });

    it('shows nothing of one user to another', async () => {
      const { store } = await open();
      const entry = await put(store, 'mine', 'user1');
      await store.putManifest('user1', aManifest(1));
      for (const other of ['user10', 'user', 'local']) {
        await expect(store.readFile(other, 'MEMORY.md', entry)).rejects.toEqual(refusal('memory.content_gone'));
        expect(await store.manifest(other, 1)).toBeUndefined();
        expect(await store.manifestNumbers(other)).toEqual([]);
      }
    });

    it('reads a manifest back with every field', async () => {
      const { store, second } = await open();
      const files = { 'MEMORY.md': await put(store, 'm'), 'skills/ä b/SKILL.md': await put(store, 's') };
      const full = aManifest(3, { parent: 1, files });
      const bare = aManifest(4, { inputs: [], removed: [], model: null, promptVersion: null, notesConsumed: [] });
      expect(await store.putManifest('local', full)).toBe('stored');
      expect(await store.putManifest('local', bare)).toBe('stored');
      expect(await second.manifest('local', 3)).toEqual(full);
      expect(await second.manifest('local', 4)).toEqual(bare);
    });

    it('answers undefined for a manifest that is not there', async () => {
      const { store } = await open();
      expect(await store.manifest('local', 1)).toBeUndefined();
    });

    it('fails for a manifest that cannot be read', async () => {
      const { store, damageManifest } = await open();
      await store.putManifest('local', aManifest(1));
      await damageManifest('local', 1);
      await expect(store.manifest('local', 1)).rejects.toEqual(refusal('memory.manifest_unreadable'));
    });

    it('never replaces a manifest', async () => {
      const { store, second } = await open();
      await store.putManifest('local', aManifest(1, { actor: 'first' }));
      expect(await second.putManifest('local', aManifest(1, { actor: 'second' }))).toBe('taken');
      expect((await store.manifest('local', 1))?.actor).toBe('first');
    });

    it('gives a number to exactly one of many publishers that race for it', async () => {
      const { store, second } = await open();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          (at % 2 === 0 ? store : second).putManifest('local', aManifest(1, { actor: `p${at}` })),
        ),
      );
      expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1);
      expect((await store.manifest('local', 1))?.actor).toBe(`p${answers.indexOf('stored')}`);
    });

    it('lists manifest numbers in ascending order, gaps and all', async () => {
      const { store } = await open();
      for (const version of [10, 9, 2, 100]) await store.putManifest('local', aManifest(version));
      expect(await store.manifestNumbers('local')).toEqual([2, 9, 10, 100]);
    });

    it('keeps hidden contents readable by their entries, and shows a path again that comes back', async () => {
      const { store, second } = await open();
      const [a, b] = [await put(store, 'old', 'local', 'a'), await put(store, 'kept', 'local', 'b')];
      await store.putManifest('local', aManifest(1, { files: { a, b } }));
      await store.hide('local', ['a']);
      await store.hide('local', ['a', 'never-there']);
      expect(decodeUtf8(await second.readFile('local', 'a', a))).toBe('old');
      const again = await put(store, 'new', 'local', 'a');
      await store.putManifest('local', aManifest(2, { files: { a: again, b } }));
      expect(await store.removeOrphans('local', [])).toBe(0);
      const texts = await Promise.all([second.readFile('local', 'a', again), second.readFile('local', 'b', b)]);
      expect(texts.map(decodeUtf8)).toEqual(['new', 'kept']);
      expect(decodeUtf8(await second.readFile('local', 'a', a))).toBe('old');
    });

    it('removes orphan manifests and the contents that nothing names any more', async () => {
      const { store } = await open();
      const shared = await put(store, 'shared', 'local', 'a');
      const lost = await put(store, 'lost', 'local', 'b');
      const staged = await put(store, 'staged', 'local', 'b');
      await store.putManifest('local', aManifest(1, { files: { a: shared } }));
      await store.putManifest('local', aManifest(2, { files: { a: shared, b: lost } }));
      expect(await store.removeOrphans('local', [2, 77])).toBe(2);
      expect(await store.manifestNumbers('local')).toEqual([1]);
      expect(decodeUtf8(await store.readFile('local', 'a', shared))).toBe('shared');
      for (const entry of [lost, staged]) {
        await expect(store.readFile('local', 'b', entry)).rejects.toEqual(refusal('memory.content_gone'));
      }
    });

    it('takes back manifests of a publisher that lost, and nothing that another manifest names', async () => {
      const { store, second } = await open();
      const kept = await put(store, 'kept', 'local', 'a');
      const lost = await put(store, 'lost', 'local', 'b');
      const theirs = aManifest(3, { files: { a: kept }, actor: 'somebody else' });
      await store.putManifest('local', aManifest(1, { files: { a: kept } }));
      await store.putManifest('local', aManifest(2, { files: { a: kept, b: lost } }));
      await second.putManifest('local', theirs);
      const manifests = [
        aManifest(2, { files: { a: kept, b: lost } }),
        aManifest(3, { files: { a: kept } }),
        aManifest(9),
      ];
      for (let time = 0; time < 2; time++)
        await store.discard('local', { manifests, files: [{ path: 'b', entry: lost }] });
      expect(await second.manifestNumbers('local')).toEqual([1, 3]);
      expect(await second.manifest('local', 3)).toEqual(theirs);
      expect(decodeUtf8(await second.readFile('local', 'a', kept))).toBe('kept');
      expect(await store.putManifest('local', aManifest(2))).toBe('stored');
    });

    it('removes contents for good, and no other content of the path, of another path or of another user', async () => {
      const { store, second } = await open();
      const gone = await put(store, 'one', 'local', 'a');
      const newer = await put(store, 'two', 'local', 'a');
      const other = await put(store, 'three', 'local', 'b');
      const theirs = await put(store, 'one', 'user1', 'a');
      await store.putManifest('local', aManifest(1, { files: { a: gone, b: other } }));
      for (let time = 0; time < 2; time++) await store.removeFiles('local', [{ path: 'a', entry: gone }]);
      await store.removeFiles('local', []);
      await expect(second.readFile('local', 'a', gone)).rejects.toEqual(refusal('memory.content_gone'));
      expect(decodeUtf8(await second.readFile('local', 'a', newer))).toBe('two');
      expect(decodeUtf8(await second.readFile('local', 'b', other))).toBe('three');
      expect(decodeUtf8(await second.readFile('user1', 'a', theirs))).toBe('one');
      expect(await second.manifest('local', 1)).toBeDefined();
    });

    it('removes nothing where every content is named, nor anything of another user', async () => {
      const { store } = await open();
      await store.putManifest('local', aManifest(1, { files: { a: await put(store, 'x', 'local', 'a') } }));
      const other = await put(store, 'x', 'user1', 'a');
      expect(await store.removeOrphans('local', [])).toBe(0);
      expect(decodeUtf8(await store.readFile('user1', 'a', other))).toBe('x');
    });

    it('removes no content while a manifest cannot be read', async () => {
      const { store, damageManifest } = await open();
      const entry = await put(store, 'x', 'local', 'a');
      await store.putManifest('local', aManifest(1, { files: { a: entry } }));
      await damageManifest('local', 1);
      await expect(store.removeOrphans('local', [])).rejects.toEqual(refusal('memory.manifest_unreadable'));
      expect(decodeUtf8(await store.readFile('local', 'a', entry))).toBe('x');
    });
  });
}
