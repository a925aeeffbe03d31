import { asObject, asText, isObject, type JsonObject } from './json-value.ts';
import { redact } from './redact.ts';

/** How a Codex thread came to be, in our words (DV-16). */
export interface CodexOrigin {
  readonly source: string | null;
  readonly subagent: boolean;
  readonly parentThreadId: string | null;
}

/** Reads `source`, `thread_source` and `originator` of the first `session_meta`. A source that is not known is kept as it is. */
export function readOrigin(meta: JsonObject): CodexOrigin {
  const source = meta['source'];
  const spawned = subagentOf(source);
  const threadSource = asText(meta['thread_source']);
  const parentThreadId = asText(meta['parent_thread_id']) ?? spawned?.parentThreadId ?? null;
  const subagent = spawned !== undefined || threadSource === 'subagent';
  if (spawned?.name === 'memory_consolidation' || threadSource === 'memory_consolidation') {
    return { source: 'memory_consolidation', subagent, parentThreadId };
  }
  return {
    source: subagent ? 'subagent' : plainSource(source, asText(meta['originator']) ?? ''),
    subagent,
    parentThreadId,
  };
}

/** `{"subagent": …}` in its forms: a word, a spawn, or another kind by name. */
function subagentOf(source: unknown): { name: string | null; parentThreadId: string | null } | undefined {
  if (source === 'subagent') return { name: null, parentThreadId: null };
  if (!isObject(source)) return undefined;
  const spawned = source['subagent'] ?? source['sub_agent'];
  if (spawned === undefined) return undefined;
  const spawn = asObject(asObject(spawned)['thread_spawn']);
  const name = asText(spawned) ?? asText(asObject(spawned)['other']);
  return { name, parentThreadId: asText(spawn['parent_thread_id']) };
}

function plainSource(source: unknown, originator: string): string | null {
  if (isObject(source)) {
    const kind = Object.keys(source)[0] ?? null;
    if (kind === 'internal')
      return asText(source['internal']) === 'memory_consolidation' ? 'memory_consolidation' : 'internal';
    return kind;
  }
  // Redacted before its case is lost: it tells a key from a word.
  const told = redact(asText(source) ?? '').toLowerCase() || null;
  if (told === 'vscode' || told === null) return sourceOfOriginator(originator) ?? told;
  return told;
}

/** `vscode` is also what other clients of the app server write, and the oldest versions write no source. */
function sourceOfOriginator(originator: string): string | null {
  const name = originator.toLowerCase();
  if (name.includes('desktop')) return 'desktop';
  if (name.includes('exec')) return 'exec';
  if (name.includes('vscode')) return 'vscode';
  if (name.includes('mcp')) return 'mcp';
  if (name === 'codex_cli_rs' || name === 'codex-tui' || name === 'codex_cli') return 'cli';
  return null;
}
