/** The scope key of a project: which threads share a memory (storage.md, "Identity"; user cases A10, A12). */

const UNKNOWN = 'unknown';
/** Keys stand in lines of the memory's files, between semicolons: what would end their place there is percent-encoded. */
const UNSAFE = /[;\p{Cc}\u2028\u2029]/gu;

export interface ProjectSighting {
  /** Git remote as the agent recorded it: any URL form or `host:path`. */
  readonly repository: string | null;
  readonly cwd: string | null;
  /** The common git directory where the agent recorded it: joins the worktrees of a repository without a remote. */
  readonly gitDirectory?: string | null;
}

/**
 * The scope key of a thread: the normalised git remote, else the common git directory, else the normalised directory,
 * else `unknown`. A remote that names no other machine (`../x`) says nothing and is passed over.
 * Keys of remotes start with a host, keys of directories with `/`, `//`, a drive or `./`: they never meet.
 */
export function projectKey(of: ProjectSighting): string {
  const key =
    normalizeRemote(of.repository ?? '') ??
    normalizeGitDirectory(of.gitDirectory ?? '') ??
    normalizeDirectory(of.cwd ?? '') ??
    UNKNOWN;
  return key.replace(UNSAFE, encodeURIComponent);
}

/** `host/path` of a git remote; the directory of a local one; undefined where it names nothing. */
function normalizeRemote(remote: string): string | undefined {
  const text = remote.trim().normalize('NFC');
  if (text === '') return undefined;
  const file = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(text);
  if (file) return normalizeGitDirectory(dropFileSlash(file[1] ?? ''));
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?(\[[^\]/]*\]|[^/?#:@]*)(?::\d*)?(\/[^?#]*)?/i.exec(text);
  if (url) return joinRemote(url[1] ?? '', url[2] ?? '');
  if (isAbsolute(text)) return normalizeGitDirectory(text);
  const scp = /^(?:[^@/\\\s]+@)?(\[[^\]/]*\]|[^:/\\\s@]+):([^?#]*)/.exec(text);
  if (scp) return joinRemote(scp[1] ?? '', scp[2] ?? '');
  const bare = /^([^:/\\\s@]+\.[^:/\\\s@]+)\/([^?#]*)/.exec(text);
  return bare && !text.startsWith('.') ? joinRemote(bare[1] ?? '', bare[2] ?? '') : undefined;
}

function joinRemote(host: string, path: string): string | undefined {
  const segments = path.split('/').filter((segment) => segment !== '');
  const last = segments.pop();
  if (last === undefined || host === '') return undefined;
  const name = last.replace(/\.git$/i, '');
  if (name !== '') segments.push(name);
  return segments.length === 0 ? undefined : [host.toLowerCase(), ...segments].join('/');
}

/** The directory that a git directory belongs to: `/x/repo/.git/worktrees/a` and `/srv/repo.git` lose their git parts. */
function normalizeGitDirectory(path: string): string | undefined {
  const directory = normalizeDirectory(path);
  if (directory === undefined) return undefined;
  return directory.replace(/\/\.git(?:\/worktrees\/[^/]+)?$/, '').replace(/(?<=[^/])\.git$/, '') || '/';
}

/**
 * One spelling a directory: Windows and WSL paths become `c:/…` with a lower-case drive, UNC becomes `//server/share`,
 * dot segments, doubled and trailing slashes go. POSIX paths stay case-sensitive and keep their back slashes.
 */
function normalizeDirectory(directory: string): string | undefined {
  const path = toSlashes(directory.normalize('NFC'));
  if (path.trim() === '') return undefined;
  const drive = /^([a-z]):(?=\/|$)/i.exec(path) ?? /^\/mnt\/([a-z])(?=\/|$)/.exec(path);
  if (drive) return `${(drive[1] ?? '').toLowerCase()}:/${cleanSegments(path.slice(drive[0].length))}`;
  if (path.startsWith('//')) return `//${cleanSegments(path)}`;
  if (path.startsWith('/')) return `/${cleanSegments(path)}`;
  return `./${cleanSegments(path)}`;
}

/** Turns back slashes of Windows paths only: in a POSIX path they are part of a name. */
function toSlashes(path: string): string {
  const file = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(path);
  if (file) return dropFileSlash(file[1] ?? '');
  if (!/^(?:[a-z]:(?:[\\/]|$)|\\\\)/i.test(path)) return path;
  return path
    .replaceAll('\\', '/')
    .replace(/^\/\/[?.]\/UNC\//i, '//')
    .replace(/^\/\/[?.]\//, '');
}

function dropFileSlash(path: string): string {
  return /^\/[a-z]:/i.test(path) ? path.slice(1) : path;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || path.startsWith('\\\\') || /^[a-z]:/i.test(path);
}

function cleanSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') kept.pop();
    else kept.push(segment);
  }
  return kept.join('/');
}
