import { homedir } from 'node:os';
import { join } from 'node:path';
import { InvalidInputError } from '../core/errors.ts';

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

/**
 * Reads the environment once.
 * @throws InvalidInputError `env.invalid_url` when OPENAI_BASE_URL is no address
 */
export function readEnv(env: Readonly<Record<string, string | undefined>> = process.env): LocalEnv {
  return {
    openaiApiKey: env['OPENAI_API_KEY'] || null,
    openaiBaseUrl: readUrl('OPENAI_BASE_URL', env['OPENAI_BASE_URL']),
    codexSessions: join(env['CODEX_HOME'] || join(homedir(), '.codex'), 'sessions'),
    claudeProjects: join(homedir(), '.claude', 'projects'),
  };
}

function readUrl(name: string, value: string | undefined): string | null {
  if (value === undefined || value === '') return null;
  if (/^https?:\/\//i.test(value) && URL.canParse(value)) return value;
  throw new InvalidInputError('env.invalid_url', `${name} must be an address such as https://host/v1`, {
    details: { field: name },
  });
}
