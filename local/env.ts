import { homedir } from 'node:os';
import { join } from 'node:path';

/** What the local system takes from the environment; the only file here that reads it. */
export interface LocalEnv {
  /** `OPENAI_API_KEY`; null when unset or empty. */
  readonly openaiApiKey: string | null;
  /** `OPENAI_BASE_URL`; null = the provider's own. */
  readonly openaiBaseUrl: string | null;
  /** Where Codex keeps its sessions: `$CODEX_HOME/sessions`, else `~/.codex/sessions`. */
  readonly codexSessions: string;
  /** Where Claude Code keeps its sessions. */
  readonly claudeProjects: string;
}

/** Reads the environment once. */
export function readEnv(env: Readonly<Record<string, string | undefined>> = process.env): LocalEnv {
  return {
    openaiApiKey: env['OPENAI_API_KEY'] || null,
    openaiBaseUrl: env['OPENAI_BASE_URL'] || null,
    codexSessions: join(env['CODEX_HOME'] || join(homedir(), '.codex'), 'sessions'),
    claudeProjects: join(homedir(), '.claude', 'projects'),
  };
}
