import { ClaudeThread } from './claude-thread.ts';
import { ClaudeTurns } from './claude-turns.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asObject, asText, isObject, type JsonObject } from './json-value.ts';
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
  readonly #thread: ClaudeThread;
  #known = false;
  #subagent = false;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#turns = new ClaudeTurns(sink);
    this.#thread = new ClaudeThread(sink);
  }

  skim(head: RecordHead): 'drop' | 'defer' | 'read' {
    return head.type !== undefined && BOOKKEEPING.has(head.type) ? 'drop' : 'read';
  }

  /** Never asked for: which lines matter stands inside them. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(record: JsonObject, timeMs: number | undefined): boolean {
    switch (record['type']) {
      case 'user':
      case 'assistant':
        this.#learn(record, timeMs);
        return this.#readTurn(record);
      case 'attachment':
        return this.#readAttachment(record);
      case 'worktree-state':
        this.#learnWorktree(asObject(record['worktreeSession']));
        return false;
      default:
        this.#thread.pass(record);
        return false;
    }
  }

  finish(): void {}

  /** A meta record is the harness's, a summary restates, and a copied one belongs to the session that was forked (D19). */
  #readTurn(record: JsonObject): boolean {
    const message = record['message'];
    const isSidechain = record['isSidechain'] === true;
    if (this.#thread.isRepeated(record)) return false;
    if (!isSidechain) this.#thread.pass(record);
    if (record['isMeta'] === true || record['isCompactSummary'] === true || isObject(record['forkedFrom']))
      return false;
    if (!isObject(message) || isSynthetic(record, message)) return false;
    const speaker = record['type'] === 'user' ? 'user' : 'assistant';
    const byAgent = isSidechain ? speaker === 'user' || !this.#subagent : speaker === 'user' && isFromAgent(record);
    const onPrompt = (): void => this.#thread.prompt(record);
    return this.#turns.read({ message, speaker, byAgent, onPrompt });
  }

  /** What the person said while the assistant worked is handed over as an attachment; all others restate or remind. */
  #readAttachment(record: JsonObject): boolean {
    this.#thread.pass(record);
    const attachment = asObject(record['attachment']);
    if (attachment['type'] !== 'queued_command' || record['isSidechain'] === true) return false;
    if (attachment['isMeta'] === true || isObject(record['forkedFrom']) || this.#thread.isRepeated(record))
      return false;
    const mode = asText(attachment['commandMode']);
    if (mode !== null && mode !== 'prompt') return false;
    const message = { content: attachment['prompt'] };
    return this.#turns.read({ message, speaker: 'user', byAgent: isFromAgent(attachment) });
  }

  #learnWorktree(session: JsonObject): void {
    const worktree = asText(session['worktreePath']);
    const original = asText(session['originalCwd']);
    if (worktree !== null && original !== null) this.#sink.joinWorktree(worktree, original);
  }

  #learn(record: JsonObject, timeMs: number | undefined): void {
    const cwd = asText(record['cwd']);
    if (!this.#known) this.#learnSession(record, timeMs);
    else if (record['isSidechain'] === true && !this.#subagent) return;
    if (cwd !== null) this.#sink.workIn(cwd);
  }

  #learnSession(record: JsonObject, timeMs: number | undefined): void {
    this.#known = true;
    const sessionId = asText(record['sessionId']);
    const agentId = asText(record['agentId']);
    this.#subagent = record['isSidechain'] === true && agentId !== null;
    this.#sink.learn({
      threadId: this.#subagent ? `agent-${agentId}` : sessionId,
      parentThreadId: this.#subagent ? sessionId : null,
      formatVersion: asText(record['version']),
      source: this.#subagent ? 'subagent' : sourceOf(record),
      subagent: this.#subagent,
      cwd: asText(record['cwd']),
      gitBranch: asText(record['gitBranch']),
      startedAt: timeMs,
    });
  }
}

/** Errors of the API and stand-ins for an answer that was not asked for: nothing the assistant said. */
function isSynthetic(record: JsonObject, message: JsonObject): boolean {
  return record['isApiErrorMessage'] === true || message['model'] === '<synthetic>';
}

/** Newer versions say where a text in the user's role came from. */
function isFromAgent(record: JsonObject): boolean {
  const origin = asObject(record['origin']);
  return 'senderTaskId' in origin || 'from' in origin || origin['kind'] === 'task-notification';
}

/** An entry point that is not known is kept as it is. */
function sourceOf(record: JsonObject): string | null {
  const entryPoint = asText(record['entrypoint']);
  return entryPoint === null ? null : (ENTRY_POINTS[entryPoint] ?? entryPoint);
}
