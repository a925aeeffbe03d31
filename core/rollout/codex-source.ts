import { asObject, asText, isObject, type JsonObject } from './json-value.ts';
import { redact } from './redact.ts';

/** How a Codex thread came to be, in our words (DV-16). */
export interface CodexOrigin {
  readonly source: string | null;
  readonly subagent: boolean;
  readonly parentThreadId: string | null;
}

/** The reviewer of approvals: its sessions are the machine talking to itself. */
const GUARDIAN = 'guardian';

/** Reads `source`, `thread_source` and `originator` of the first `session_meta`. A source that is not known is kept as it is. */
export function readOrigin(meta: JsonObject): CodexOrigin {
  const source = meta['source'];
  const spawned = subagentOf(source);
  const threadSource = asText(meta['thread_source']);
  const parentThreadId =
    asText(meta['parent_thread_id']) ?? spawned?.parentThreadId ?? rootThreadOf(meta, spawned) ?? null;
  const placed = ['agent_path', 'agent_nickname', 'agent_role'].some((key) => asText(meta[key]) !== null);
  const subagent =
    spawned !== undefined || threadSource === 'subagent' || (placed && !isRoot(meta)) || parentThreadId !== null;
  if (spawned?.name === GUARDIAN) return { source: 'internal', subagent, parentThreadId };
  if (spawned?.name === 'memory_consolidation' || threadSource === 'memory_consolidation') {
    return { source: 'memory_consolidation', subagent, parentThreadId };
  }
  return {
    source: subagent ? 'subagent' : plainSource(source, asText(meta['originator']) ?? ''),
    subagent,
    parentThreadId,
  };
}

/** The root of a tree of agents is no sub-agent, though it may have a name. */
function isRoot(meta: JsonObject): boolean {
  return asText(meta['agent_path']) === '/root';
}

/** The `session_id` of a sub-agent is its parent's (FORMAT.md 3.1). */
function rootThreadOf(meta: JsonObject, spawned: object | undefined): string | null {
  const sessionId = asText(meta['session_id']);
  const isTold = spawned !== undefined || asText(meta['thread_source']) === 'subagent';
  return isTold && sessionId !== asText(meta['id']) ? sessionId : null;
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
