import type { FileEntry } from '../consolidation/manifest.ts';

/** Addresses under which whole files can be fetched from where they lie, for those too large to pass through an answer. */
export interface FileLinks {
  /**
   * An address that serves exactly the content that the entry names, for `LIMITS.linkMs`, to whoever holds it.
   * @param path the file's path in the memory
   */
  link(userKey: string, path: string, entry: FileEntry): Promise<string>;
}
