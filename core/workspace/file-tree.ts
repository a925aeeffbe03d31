/**
 * Files of a memory by workspace path: relative, `/` separated, never hidden, never with `.` or `..` steps
 * (see `workspace-path.ts`). Contents are bytes, since a person may put anything below `extensions/`.
 */
export type FileTree = ReadonlyMap<string, Uint8Array>;
