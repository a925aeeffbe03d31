import type { FileEntry, Manifest } from '../consolidation/manifest.ts';

/** What was stored by one call of publishing. */
export interface StagedObjects {
  readonly manifests: readonly Manifest[];
  readonly files: readonly { readonly path: string; readonly entry: FileEntry }[];
}

/**
 * Immutable file contents and manifests. Nothing here is visible to a reader until `HeadStore.switchTo` names it.
 */
export interface MemoryStore {
  /** Stores one file's content. @throws UnavailableError `memory.write_failed` */
  putFile(userKey: string, path: string, content: Uint8Array): Promise<FileEntry>;

  /**
   * The content of a file as a manifest names it.
   * @throws DefectError `memory.content_gone` when it is missing or does not match its hash
   */
  readFile(userKey: string, path: string, entry: FileEntry): Promise<Uint8Array>;

  /** Stores a manifest under its number, never over another one. */
  putManifest(userKey: string, manifest: Manifest): Promise<'stored' | 'taken'>;

  /** @returns undefined when there is no such manifest. @throws DefectError `memory.manifest_unreadable` */
  manifest(userKey: string, version: number): Promise<Manifest | undefined>;

  /** Numbers of all stored manifests, ascending; those of runs that lost included. */
  manifestNumbers(userKey: string): Promise<readonly number[]>;

  /**
   * After a switch: takes paths that are in no current version any more out of the store's listing. Contents of older versions
   * stay readable by their entries. Best effort: what fails is left for a later run and told by the adapter's telemetry.
   */
  hide(userKey: string, paths: readonly string[]): Promise<void>;

  /**
   * Takes back what one call of publishing stored and will never commit. Never what a remaining manifest names, nor a manifest
   * that lies under the number of one of these but is another. Best effort, as `hide`: what stays is for `removeOrphans`.
   */
  discard(userKey: string, staged: StagedObjects): Promise<void>;

  /**
   * Removes contents for good, whether they are there or not: what a person had forgotten must not lie in the history. The caller
   * answers for no version that is to be read naming them. @throws UnavailableError `memory.write_failed`
   */
  removeFiles(userKey: string, files: StagedObjects['files']): Promise<void>;

  /** Removes manifests that nobody can come to any more, and contents that no remaining manifest names. @returns how many contents went */
  removeOrphans(userKey: string, orphanManifests: readonly number[]): Promise<number>;
}
