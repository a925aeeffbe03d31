/** What marks the root of a project by default (behaviours W-03). */
export const ROOT_MARKERS: readonly string[] = ['.git'];

/**
 * The folders whose rules hold in a directory, from the project's root down to it (behaviours W-03): the root is the nearest
 * folder, from the directory upward, that is marked; where none is, only the directory itself counts.
 * @param upward the directory, its parent, and so on
 * @param marked those of them that hold a marker
 */
export function projectFolders(upward: readonly string[], marked: ReadonlySet<string>): readonly string[] {
  const root = upward.findIndex((folder) => marked.has(folder));
  return upward.slice(0, root < 0 ? 1 : root + 1).reverse();
}
