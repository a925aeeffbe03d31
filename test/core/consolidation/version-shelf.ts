import type { FileEntry, Head, Manifest } from '../../../core/consolidation/manifest.ts';
import { sha256Hex } from '../../../core/ids.ts';
import type { HeadStore, SwitchRequest } from '../../../core/ports/head-store.ts';
import type { MemoryStore, StagedObjects } from '../../../core/ports/memory-store.ts';

/**
 * One user's versions and head in memory, with every write recorded in order, and a place to let somebody else act between
 * two steps. Strict: an unknown content or a second user is an error.
 */
export class VersionShelf implements MemoryStore, HeadStore {
  readonly writes: string[] = [];
  readonly contents = new Map<string, Uint8Array>();
  readonly manifests = new Map<number, Manifest>();
  current: Head = { version: 0, publishedAt: null, summary: '', pendingNotes: [], places: [], epoch: 0, fence: null };
  /** Called before each write with its name; may change the shelf, or throw. */
  before: (write: string) => void | Promise<void> = () => {};
  /** Called after each write. */
  after: (write: string) => void | Promise<void> = () => {};

  async putFile(_userKey: string, path: string, content: Uint8Array): Promise<FileEntry> {
    return this.#write(`putFile ${path}`, () => {
      const sha256 = sha256Hex(content);
      this.contents.set(sha256, content.slice());
      return { versionId: sha256, sha256, bytes: content.length };
    });
  }

  async readFile(_userKey: string, path: string, entry: FileEntry): Promise<Uint8Array> {
    const content = this.contents.get(entry.versionId);
    if (content === undefined) throw new Error(`no content for ${path}`);
    return content;
  }

  async removeFiles(_userKey: string, files: StagedObjects['files']): Promise<void> {
    return this.#write('removeFiles', () => {
      for (const { entry } of files) this.contents.delete(entry.versionId);
    });
  }

  async putManifest(_userKey: string, manifest: Manifest): Promise<'stored' | 'taken'> {
    return this.#write('putManifest', () => {
      if (this.manifests.has(manifest.version)) return 'taken';
      this.manifests.set(manifest.version, manifest);
      return 'stored';
    });
  }

  async manifest(_userKey: string, version: number): Promise<Manifest | undefined> {
    return this.manifests.get(version);
  }

  async manifestNumbers(): Promise<readonly number[]> {
    return [...this.manifests.keys()].sort((a, b) => a - b);
  }

  async hide(): Promise<void> {}

  /** What was taken back, in order. */
  readonly discarded: StagedObjects[] = [];

  /** The contents stay: of the same hash, they may be another publisher's. */
  async discard(_userKey: string, staged: StagedObjects): Promise<void> {
    this.discarded.push(structuredClone({ files: staged.files, manifests: staged.manifests }));
    for (const manifest of staged.manifests)
      if (this.manifests.get(manifest.version) === manifest) this.manifests.delete(manifest.version);
  }

  async removeOrphans(_userKey: string, orphans: readonly number[]): Promise<number> {
    return this.#write('removeOrphans', () => {
      for (const number of orphans) this.manifests.delete(number);
      const named = new Set(
        [...this.manifests.values()].flatMap((item) => Object.values(item.files).map((e) => e.versionId)),
      );
      const stray = [...this.contents.keys()].filter((id) => !named.has(id));
      for (const id of stray) this.contents.delete(id);
      return stray.length;
    });
  }

  async read(): Promise<Head> {
    return this.current;
  }

  async setFence(_userKey: string, token: string): Promise<Head> {
    return this.#write('setFence', () => {
      this.current = { ...this.current, fence: token };
      return this.current;
    });
  }

  async switchTo(_userKey: string, request: SwitchRequest): Promise<'switched' | 'lost'> {
    return this.#write('switchTo', () => {
      const { from, epoch, fence, to } = request;
      const head = this.current;
      if (head.version !== from || head.epoch !== epoch || (fence !== null && head.fence !== fence)) return 'lost';
      if (!this.manifests.has(to.version)) throw new Error(`switch to ${to.version}, which has no manifest`);
      this.current = { ...head, ...to };
      return 'switched';
    });
  }

  async reset(): Promise<Head> {
    return this.#write('reset', () => {
      const { epoch } = this.current;
      this.current = {
        version: 0,
        publishedAt: null,
        summary: '',
        pendingNotes: [],
        places: [],
        epoch: epoch + 1,
        fence: null,
      };
      return this.current;
    });
  }

  async #write<T>(name: string, apply: () => T): Promise<T> {
    await this.before(name);
    const answer = apply();
    this.writes.push(name);
    await this.after(name);
    return answer;
  }
}
