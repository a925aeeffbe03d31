/** The compact notation in which the sample sessions are written; `formats/` turns it into the files that agents write. */

/** A repository that the sample user works in. `repository` null = not under git. */
export interface Project {
  readonly name: string;
  readonly cwd: string;
  readonly repository: string | null;
  readonly branch: string;
  readonly commit: string;
  /** Text of the project's AGENTS.md, which an agent puts in front of each session. */
  readonly rules: string;
  readonly timezone: string;
}

export type Step =
  | { readonly kind: 'user'; readonly text: string }
  /** What the agent says while it works. */
  | { readonly kind: 'say'; readonly text: string }
  /** The agent's answer; it ends the turn. */
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'run'; readonly command: string; readonly exitCode: number; readonly output: string }
  /** `hunk`: lines of an update patch, each starting with `+`, `-` or a space. */
  | { readonly kind: 'edit'; readonly path: string; readonly hunk: readonly string[] }
  | { readonly kind: 'create'; readonly path: string; readonly content: string }
  /** The agent hands a part to a sub-agent, whose own session is a file of its own. */
  | { readonly kind: 'spawn'; readonly task: string; readonly reply: string }
  | { readonly kind: 'wait'; readonly minutes: number };

export type AgentFormat =
  | { readonly agent: 'codex'; readonly version: string; readonly model: string; readonly originator: string }
  | { readonly agent: 'codex-bare' }
  | { readonly agent: 'claude'; readonly version: string; readonly model: string; readonly title: string };

/** Who started a sub-agent: the key of the parent session and the path of the new agent in the tree. */
export interface Parent {
  readonly session: Session;
  readonly agentPath: string;
  readonly nickname: string;
}

export interface Session {
  /** Names the session among the samples; every id in its file is derived from it. */
  readonly key: string;
  readonly project: Project;
  readonly format: AgentFormat;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly steps: readonly Step[];
  readonly parent?: Parent;
}

export const user = (text: string): Step => ({ kind: 'user', text });
export const say = (text: string): Step => ({ kind: 'say', text });
export const answer = (text: string): Step => ({ kind: 'answer', text });
export const run = (command: string, exitCode: number, output: string): Step => ({
  kind: 'run',
  command,
  exitCode,
  output,
});
export const edit = (path: string, hunk: readonly string[]): Step => ({ kind: 'edit', path, hunk });
export const create = (path: string, content: string): Step => ({ kind: 'create', path, content });
export const spawn = (task: string, reply: string): Step => ({ kind: 'spawn', task, reply });
export const wait = (minutes: number): Step => ({ kind: 'wait', minutes });
