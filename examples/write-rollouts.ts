/**
 * Writes `examples/rollouts/` from the notation in `examples/sessions/`: `node examples/write-rollouts.ts`.
 * The files are committed; a test holds them equal to what this makes.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudePath, renderClaude } from './formats/claude.ts';
import { codexPath, codexThreadId, renderCodex } from './formats/codex.ts';
import { bareThreadId, renderCodexBare } from './formats/codex-bare.ts';
import type { Session } from './session.ts';
import { HARBOR_API } from './sessions/harbor-api.ts';
import { LANTERN } from './sessions/lantern.ts';
import { TIDEGAUGE } from './sessions/tidegauge.ts';

/** A sample file: its path below `examples/rollouts/` and the session it comes from. */
export interface SampleRollout {
  readonly path: string;
  readonly text: string;
  readonly session: Session;
}

/** All samples, in the order of the session lists. Deterministic: no clock, no randomness. */
export function buildSampleRollouts(): readonly SampleRollout[] {
  return [...HARBOR_API, ...TIDEGAUGE, ...LANTERN].map((session) => ({ ...render(session), session }));
}

function render(session: Session): { path: string; text: string } {
  const { format } = session;
  switch (format.agent) {
    case 'codex':
      return { path: `codex/${codexPath(session, codexThreadId(session))}`, text: renderCodex(session, format) };
    case 'codex-bare':
      return { path: `codex/${codexPath(session, bareThreadId(session))}`, text: renderCodexBare(session) };
    case 'claude':
      return { path: `claude/${claudePath(session)}`, text: renderClaude(session, format) };
  }
}

if (import.meta.main) {
  const root = join(import.meta.dirname, 'rollouts');
  rmSync(root, { recursive: true, force: true });
  for (const { path, text } of buildSampleRollouts()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(`${path}: ${text.trimEnd().split('\n').length} records`);
  }
}
