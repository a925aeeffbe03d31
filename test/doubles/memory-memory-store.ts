import type { FileEntry, Manifest } from '../../core/consolidation/manifest.ts';
import { manifestToJson, parseManifest } from '../../core/consolidation/manifest-json.ts';
import { DefectError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { MemoryStore, StagedObjects } from '../../core/ports/memory-store.ts';

interface Shelf {
  readonly contents: Map<string, Uint8Array>;
  /** Stored as text, so that nobody changes a manifest through a reference. */
  readonly manifests: Map<number, string>;
}

/** Versions held in memory. Tests may look at, and damage, what is stored through `shelf`. */
export class MemoryMemoryStore implements MemoryStore {
  readonly #shelves = new Map<string, Shelf>();

  /** What is stored for a user. */
  shelf(userKey: string): Shelf {
    const known = this.#shelves.get(userKey) ?? { contents: new Map(), manifests: new Map() };
    this.#shelves.set(userKey, known);
    return known;
  }

  async putFile(userKey: string, _path: string, content: Uint8Array): Promise<FileEntry> {
    const sha256 = sha256Hex(content);
    this.shelf(userKey).contents.set(sha256, content.slice());
    return { versionId: sha256, sha256, bytes: content.length };
  }

  async readFile(userKey: string, _path: string, entry: FileEntry): Promise<Uint8Array> {
    const content = this.shelf(userKey).contents.get(entry.versionId);
    if (content === undefined || sha256Hex(content) !== entry.sha256) {
      throw new DefectError('memory.content_gone', 'a file of a published version is missing or damaged');
    }
    return content.slice();
  }

  async putManifest(userKey: string, manifest: Manifest): Promise<'stored' | 'taken'> {
    const { manifests } = this.shelf(userKey);
    if (manifests.has(manifest.version)) return 'taken';
    manifests.set(manifest.version, JSON.stringify(manifestToJson(manifest)));
    return 'stored';
  }

  async manifest(userKey: string, version: number): Promise<Manifest | undefined> {
    const text = this.shelf(userKey).manifests.get(version);
    return text === undefined ? undefined : parseManifest(text, version);
  }

  async manifestNumbers(userKey: string): Promise<readonly number[]> {
    return [...this.shelf(userKey).manifests.keys()].sort((left, right) => left - right);
  }

  async hide(): Promise<void> {}

  /** As in files: contents of the same hash may be another publisher's. */
  async discard(userKey: string, { manifests: staged }: StagedObjects): Promise<void> {
    const { manifests } = this.shelf(userKey);
    for (const manifest of staged) {
      const isOurs = manifests.get(manifest.version) === JSON.stringify(manifestToJson(manifest));
      if (isOurs) manifests.delete(manifest.version);
    }
  }

  async removeFiles(userKey: string, files: StagedObjects['files']): Promise<void> {
    for (const { entry } of files) this.shelf(userKey).contents.delete(entry.versionId);
  }

  async removeOrphans(userKey: string, orphanManifests: readonly number[]): Promise<number> {
    const { contents, manifests } = this.shelf(userKey);
    for (const version of orphanManifests) manifests.delete(version);
    const named = new Set<string>();
    for (const [version, text] of manifests) {
      for (const entry of Object.values(parseManifest(text, version).files)) named.add(entry.versionId);
    }
    const orphans = [...contents.keys()].filter((versionId) => !named.has(versionId));
    for (const versionId of orphans) contents.delete(versionId);
    return orphans.length;
  }
}
