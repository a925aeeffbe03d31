import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { InvalidInputError, NotFoundError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { RolloutStore } from '../../core/ports/rollout-store.ts';
import { NO_HINTS } from '../../core/thread/thread.ts';

/** A store whose rollouts may expand to `LIMIT` bytes. */
export interface RolloutStoreRig {
  readonly store: RolloutStore;
  readonly second: RolloutStore;
  /** Whether the store has a place for what an uploader says of a rollout. */
  readonly keepsHints: boolean;
  close(): Promise<void>;
}
export const ROLLOUT_LIMIT = 300_000;

export async function* chunksOf(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const ONE = Buffer.from('{"one":"é"}\n'.repeat(3_000));
const TWO = Buffer.from('{"two":2}\n'.repeat(3_000));
const SKIPPABLE_FRAME = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
const BOTH = Buffer.concat([ONE, TWO]);

const invalid = (code: string) =>
  expect.toSatisfy((error) => error instanceof InvalidInputError && error.code === code);
const notFound = expect.toSatisfy((error) => error instanceof NotFoundError && error.code === 'rollout.not_found');

/** What every RolloutStore must do. */
export function rolloutStoreContract(name: string, openRig: () => Promise<RolloutStoreRig>): void {
  describe(`RolloutStore: ${name}`, () => {
    let rig: RolloutStoreRig | undefined;
    const open = async () => {
      rig = await openRig();
      return rig;
    };
    const put = (store: RolloutStore, bytes: Uint8Array, threadId = 't1', userKey = 'local') =>
      store.put(userKey, threadId, chunksOf(bytes), '/sessions/r.jsonl', 1_234);
    const read = async (store: RolloutStore, threadId = 't1', userKey = 'local') =>
      readAll(await store.open(userKey, threadId));
    afterEach(async () => {
      await rig?.close();
      rig = undefined;
    });

    it('answers hash and size of the bytes as uploaded, and the path it was given', async () => {
      const { store } = await open();
      const packed = gzipSync(ONE);
      expect(await put(store, packed)).toEqual({
        sha256: sha256Hex(packed),
        bytes: packed.length,
        uploadedAt: 1_234,
        path: '/sessions/r.jsonl',
        order: null,
      });
    });

    it.each([
      ['plain text', ONE, ONE],
      ['nothing', Buffer.alloc(0), Buffer.alloc(0)],
      ['one byte', Buffer.from('x'), Buffer.from('x')],
      ['gzip', gzipSync(ONE), ONE],
      ['two gzip members', Buffer.concat([gzipSync(ONE), gzipSync(TWO)]), BOTH],
      ['zstd', zstdCompressSync(ONE), ONE],
      ['two zstd frames', Buffer.concat([zstdCompressSync(ONE), zstdCompressSync(TWO)]), BOTH],
      [
        'zstd frames with skippable ones',
        Buffer.concat([SKIPPABLE_FRAME, zstdCompressSync(ONE), SKIPPABLE_FRAME]),
        ONE,
      ],
      ['an empty gzip member', gzipSync(Buffer.alloc(0)), Buffer.alloc(0)],
      ['an empty zstd frame', zstdCompressSync(Buffer.alloc(0)), Buffer.alloc(0)],
    ])('opens %s as plain content', async (_name, stored, plain) => {
      const { store, second } = await open();
      await put(store, stored);
      expect((await read(second)).equals(plain)).toBe(true);
    });

    const twoGzip = Buffer.concat([gzipSync(ONE), gzipSync(TWO)]);
    const twoZstd = Buffer.concat([zstdCompressSync(ONE), zstdCompressSync(TWO)]);
    it.each([
      ['gzip', gzipSync(ONE).subarray(0, -5)],
      ['gzip, cut in its head', gzipSync(ONE).subarray(0, 6)],
      ['the second gzip member', twoGzip.subarray(0, -5)],
      ['zstd', zstdCompressSync(ONE).subarray(0, -5)],
      ['zstd, cut in its head', zstdCompressSync(ONE).subarray(0, 5)],
      ['the second zstd frame', twoZstd.subarray(0, -5)],
      ['the head of the second zstd frame', Buffer.concat([zstdCompressSync(ONE), twoZstd.subarray(0, 3)])],
      ['a skippable frame', SKIPPABLE_FRAME.subarray(0, -1)],
    ])('says that a cut archive is cut: %s', async (_name, stored) => {
      const { store } = await open();
      await put(store, stored);
      await expect(read(store)).rejects.toEqual(invalid('rollout.truncated'));
    });

    it.each([
      ['gzip with damaged content', damage(gzipSync(ONE), 20)],
      ['gzip with something behind it', Buffer.concat([gzipSync(ONE), Buffer.from('behind')])],
      ['zstd with something behind it', Buffer.concat([zstdCompressSync(ONE), Buffer.from('behind')])],
    ])('says that a damaged archive is damaged: %s', async (_name, stored) => {
      const { store } = await open();
      await put(store, stored);
      await expect(read(store)).rejects.toEqual(invalid('rollout.unreadable'));
    });

    it.each([
      ['plain', (bytes: Buffer) => bytes],
      ['gzip', (bytes: Buffer) => gzipSync(bytes)],
      ['zstd', (bytes: Buffer) => zstdCompressSync(bytes)],
      [
        'many zstd frames',
        (bytes: Buffer) => Buffer.concat([zstdCompressSync(bytes.subarray(1)), zstdCompressSync(Buffer.from('x'))]),
      ],
    ])('stops a rollout that expands over the limit: %s', async (_name, pack) => {
      const { store } = await open();
      await put(store, pack(Buffer.alloc(ROLLOUT_LIMIT, 'x')));
      expect(await read(store)).toHaveLength(ROLLOUT_LIMIT);
      await put(store, pack(Buffer.alloc(ROLLOUT_LIMIT + 1, 'x')));
      let bytes = 0;
      const reading = (async () => {
        for await (const chunk of await store.open('local', 't1')) bytes += chunk.length;
      })();
      await expect(reading).rejects.toEqual(invalid('rollout.too_large'));
      expect(bytes).toBeLessThanOrEqual(ROLLOUT_LIMIT);
    });

    it('replaces an earlier rollout of the thread', async () => {
      const { store } = await open();
      await put(store, BOTH);
      await put(store, TWO);
      expect((await read(store)).equals(TWO)).toBe(true);
    });

    it('keeps the earlier rollout when the upload fails in the middle, and passes the failure on', async () => {
      const { store } = await open();
      await put(store, ONE);
      const lost = new Error('connection lost');
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield TWO;
        throw lost;
      }
      await expect(store.put('local', 't1', failing(), 'p', 1)).rejects.toBe(lost);
      expect((await read(store)).equals(ONE)).toBe(true);
    });

    it('keeps one of two uploads whole when they race', async () => {
      const { store, second } = await open();
      await Promise.all([put(store, ONE), put(second, TWO)]);
      const kept = await read(store);
      expect(kept.equals(ONE) || kept.equals(TWO)).toBe(true);
    });

    it('can be read twice at once, and left in the middle', async () => {
      const { store } = await open();
      await put(store, gzipSync(BOTH));
      for await (const chunk of await store.open('local', 't1')) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      const [one, two] = await Promise.all([read(store), read(store)]);
      expect(one.equals(BOTH) && two.equals(BOTH)).toBe(true);
    });

    it('looks at what lies there: the same bytes have the same name, others another one', async () => {
      const { store, second } = await open();
      const packed = gzipSync(ONE);
      const stored = await put(store, packed);
      const seen = await second.look('local', 't1');
      expect(seen).toMatchObject({
        rollout: { sha256: stored.sha256, bytes: packed.length, order: null },
        hints: NO_HINTS,
      });
      expect(Number.isInteger(seen?.rollout.uploadedAt)).toBe(true);
      expect(seen?.rollout.path).not.toBe('');
      await put(store, packed);
      expect((await second.look('local', 't1'))?.rollout.sha256).toBe(stored.sha256);
      await put(store, TWO);
      expect((await second.look('local', 't1'))?.rollout).toMatchObject({ sha256: sha256Hex(TWO), bytes: TWO.length });
    });

    it('tells what the uploader said, where it has a place for it', async () => {
      const { store, second, keepsHints } = await open();
      const hints = { ...NO_HINTS, cwd: '/home/é/100 %', source: 'cli', sourceUpdatedAt: 5, ended: true };
      await store.put('local', 't1', chunksOf(ONE), 'p', 1_234, hints);
      expect((await second.look('local', 't1'))?.hints).toEqual(keepsHints ? hints : NO_HINTS);
    });

    it("sees nothing of what is not there, was removed, or is another user's", async () => {
      const { store } = await open();
      expect(await store.look('local', 't1')).toBeUndefined();
      await put(store, ONE, 't1', 'user1');
      for (const other of ['user10', 'user', 'local']) expect(await store.look(other, 't1')).toBeUndefined();
      await store.remove('user1', 't1');
      expect(await store.look('user1', 't1')).toBeUndefined();
    });

    it('does not find what is not there', async () => {
      const { store } = await open();
      await expect(store.open('local', 'nobody')).rejects.toEqual(notFound);
      expect(await store.remove('local', 'nobody')).toBe(false);
    });

    it('removes a rollout', async () => {
      const { store } = await open();
      await put(store, ONE);
      expect(await store.remove('local', 't1')).toBe(true);
      await expect(store.open('local', 't1')).rejects.toEqual(notFound);
      expect(await store.remove('local', 't1')).toBe(false);
    });

    it('shows nothing of one user to another', async () => {
      const { store } = await open();
      await put(store, ONE, 't1', 'user1');
      for (const other of ['user10', 'user', 'local']) {
        await expect(store.open(other, 't1')).rejects.toEqual(notFound);
        expect(await store.remove(other, 't1')).toBe(false);
      }
      expect((await read(store, 't1', 'user1')).equals(ONE)).toBe(true);
    });

    it.each(['../x', '..', '.', '', 'a/b', 'a\\b', 'a\0', 'x'.repeat(129)])('refuses the thread id %j', async (id) => {
      const { store } = await open();
      await expect(put(store, ONE, id)).rejects.toEqual(invalid('thread.invalid_id'));
      await expect(store.open('local', id)).rejects.toEqual(invalid('thread.invalid_id'));
      await expect(store.look('local', id)).rejects.toEqual(invalid('thread.invalid_id'));
      await expect(store.remove('local', id)).rejects.toEqual(invalid('thread.invalid_id'));
    });
  });
}

function damage(bytes: Buffer, at: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged[at] = (damaged[at] ?? 0) ^ 0xff;
  return damaged;
}
