import { projectKey } from '../thread/scope.ts';
import { redact } from './redact.ts';

/** A directory as agents write them: POSIX, Windows, UNC. */
const DIRECTORY = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;
/** Directories that hold many projects, as keys: what lies inside says nothing of their own project. */
const HOLDS_MANY = /^(?:[a-z]:)?\/(?:(?:root|(?:home|Users)(?:\/[^/]+)?)?)$/;
const MAX_LABEL_UNITS = 200;
const MAX_KNOWN = 1_000;

/**
 * The directory and the project in force while a session goes on (user case A13). A directory inside one whose project is
 * known belongs to the same project, unless that one is a home or a root; so does a worktree that a record names as one, and
 * a directory with the same remote (A10).
 */
export class WorkPlaces {
  /** Projects by the key of a directory. */
  readonly #known = new Map<string, string>();
  #own: string | undefined;
  #cwd: string | null = null;
  #project: string | undefined;

  /** The project that the work is in now, redacted; undefined while it is the session's own. */
  get label(): string | undefined {
    return this.#project === this.#own ? undefined : labelOf(this.#project ?? '');
  }

  isIn(cwd: string | undefined): boolean {
    return cwd === this.#cwd;
  }

  /** @returns true when the work moved here from elsewhere; the first place is the session's own */
  moveTo(cwd: string): boolean {
    if (!DIRECTORY.test(cwd)) return false;
    const directory = projectKey({ repository: null, cwd });
    const project = this.#projectOf(directory);
    this.#remember(directory, project);
    const moved = this.#cwd !== null && this.#cwd !== cwd;
    this.#own ??= project;
    this.#cwd = cwd;
    this.#project = project;
    return moved;
  }

  learn(cwd: string, repository: string): void {
    if (DIRECTORY.test(cwd)) this.#remember(projectKey({ repository: null, cwd }), projectKey({ repository, cwd }));
  }

  /** `worktree` is another checkout of the repository at `original`. */
  joinWorktree(worktree: string, original: string): void {
    if (!DIRECTORY.test(worktree) || !DIRECTORY.test(original)) return;
    const project = this.#projectOf(projectKey({ repository: null, cwd: original }));
    this.#remember(projectKey({ repository: null, cwd: worktree }), project);
  }

  #projectOf(directory: string): string {
    for (let at = directory; at !== ''; at = parentOf(at)) {
      const project = this.#known.get(at);
      if (project !== undefined && (at === directory || !HOLDS_MANY.test(at))) return project;
    }
    return directory;
  }

  #remember(directory: string, project: string): void {
    if (this.#known.size < MAX_KNOWN) this.#known.set(directory, project);
  }
}

function parentOf(directory: string): string {
  return directory.slice(0, Math.max(0, directory.lastIndexOf('/')));
}

/** Fits between brackets on one line: the key itself holds no line end. */
function labelOf(project: string): string {
  return [...redact(project)].slice(0, MAX_LABEL_UNITS).join('').replace(/[[\]]/g, encodeURIComponent);
}
