import { ClaudeTurns } from './claude-turns.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asText, isObject, type JsonObject } from './json-value.ts';
import type { RecordHead } from './record-head.ts';

/** Bookkeeping that Claude Code writes between the lines of a conversation. */
const BOOKKEEPING = new Set([
  'file-history-snapshot',
  'summary',
  'queue-operation',
  'progress',
  'last-prompt',
  'mode',
  'permission-mode',
  'ai-title',
  'custom-title',
  'agent-name',
  'attachment',
]);
const ENTRY_POINTS: Readonly<Record<string, string>> = {
  cli: 'cli',
  'claude-vscode': 'vscode',
  'claude-desktop': 'desktop',
  'sdk-cli': 'exec',
  'sdk-py': 'exec',
  'sdk-ts': 'exec',
  mcp: 'mcp',
};

/** Claude Code sessions: one object a line with a top-level `type`; the conversation is in `user` and `assistant` lines. */
export const claudeFormat: RolloutFormat = {
  agentKind: 'claude-code',
  recognises(record) {
    const type = record['type'];
    const conversation = (type === 'user' || type === 'assistant' || type === 'system') && 'uuid' in record;
    return conversation && typeof record['sessionId'] === 'string';
  },
  open: (sink) => new ClaudeReader(sink),
};

class ClaudeReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #turns: ClaudeTurns;
  #known = false;
  #subagent = false;
  #cwd: string | null = null;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#turns = new ClaudeTurns(sink);
  }

  skim(head: RecordHead): 'drop' | 'defer' | 'read' {
    return head.type !== undefined && BOOKKEEPING.has(head.type) ? 'drop' : 'read';
  }

  /** Never asked for: which lines matter stands inside them. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(record: JsonObject, timeMs: number | undefined): boolean {
    const type = record['type'];
    if (type !== 'user' && type !== 'assistant') return false;
    this.#learn(record, timeMs);
    if (record['isMeta'] === true || record['isCompactSummary'] === true) return false;
    const message = record['message'];
    if (!isObject(message)) return false;
    const sidechain = record['isSidechain'] === true;
    const speaker = type === 'user' ? 'user' : 'assistant';
    return this.#turns.read({ message, speaker, byAgent: sidechain && (speaker === 'user' || !this.#subagent) });
  }

  finish(): void {}

  #learn(record: JsonObject, timeMs: number | undefined): void {
    const cwd = asText(record['cwd']);
    if (this.#known) {
      if (cwd !== null && cwd !== this.#cwd && record['isSidechain'] !== true) {
        this.#cwd = cwd;
        this.#turns.moved(cwd);
      }
      return;
    }
    this.#known = true;
    this.#cwd = cwd;
    const sessionId = asText(record['sessionId']);
    const agentId = asText(record['agentId']);
    this.#subagent = record['isSidechain'] === true && agentId !== null;
    this.#sink.learn({
      threadId: this.#subagent ? `agent-${agentId}` : sessionId,
      parentThreadId: this.#subagent ? sessionId : null,
      formatVersion: asText(record['version']),
      source: this.#subagent ? 'subagent' : sourceOf(record),
      subagent: this.#subagent,
      cwd,
      gitBranch: asText(record['gitBranch']),
      startedAt: timeMs,
    });
  }
}

/** An entry point that is not known is kept as it is. */
function sourceOf(record: JsonObject): string | null {
  const entryPoint = asText(record['entrypoint']);
  return entryPoint === null ? null : (ENTRY_POINTS[entryPoint] ?? entryPoint);
}
