import { parseTime } from '../time.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asList, asObject, asText, isObject, type JsonObject, parseJson } from './json-value.ts';
import { RecentIds } from './recent-ids.ts';
import type { RecordHead } from './record-head.ts';
import type { EvidenceTier } from './rollout.ts';
import { type KnownTools, readParts, TurnItems } from './turn-items.ts';

const EVENT = /^(?:session|user|assistant|tool|subagent|system|hook|skill)\.[a-z_]+$/;
const TOOLS: KnownTools = {
  web: new Set(['web_search', 'web_fetch', 'fetch_webpage']),
  asking: new Set(['ask_user']),
};

/** Copilot CLI: one event a line, with a dotted name and its data; a sub-agent's events stand among the session's. */
export const copilotFormat: RolloutFormat = {
  agentKind: 'copilot-cli',
  recognises(record) {
    const type = asText(record['type']);
    return type !== null && EVENT.test(type) && isObject(record['data']) && typeof record['timestamp'] === 'string';
  },
  open: (sink) => new CopilotReader(sink),
};

class CopilotReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #items: TurnItems;
  /** A call stands in the message that asks for it, and again where it begins. */
  readonly #calls = new RecentIds();
  #known = false;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#items = new TurnItems(sink, TOOLS);
  }

  /** The time stands behind the data, so a record must be read. */
  skim(_head: RecordHead): 'drop' | 'defer' | 'read' {
    return 'read';
  }

  /** Never asked for. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(record: JsonObject): boolean {
    const data = asObject(record['data']);
    switch (record['type']) {
      case 'session.start':
      case 'session.resume':
      case 'session.context_changed':
        return this.#readSession(data);
      case 'user.message':
        return this.#readUser(data);
      case 'assistant.message':
        return this.#readAssistant(data);
      case 'tool.execution_start':
        return this.#readStart(data);
      case 'tool.execution_complete':
        return this.#readComplete(data);
      case 'system.notification':
        return this.#items.message('other_agent', 'user', notification(data));
      case 'abort':
        this.#items.notice({ type: 'turn_aborted', reason: asText(data['reason']) });
        return true;
      default:
        return false;
    }
  }

  finish(): void {}

  /** The first start names the session; a resume may say that the work moved on. */
  #readSession(data: JsonObject): boolean {
    const context = isObject(data['context']) ? data['context'] : data;
    const cwd = asText(context['cwd']);
    const repository = remoteOf(context);
    if (cwd !== null && repository !== null) this.#sink.learnPlace(cwd, repository);
    const moves = cwd !== null && !this.#sink.isIn(cwd);
    if (moves) this.#sink.workIn(cwd);
    if (this.#known) return moves;
    this.#known = true;
    this.#sink.learn({
      threadId: asText(data['sessionId']),
      formatVersion: asText(data['copilotVersion']),
      source: 'cli',
      repository,
      gitBranch: asText(context['branch']),
      startedAt: parseTime(asText(data['startTime']) ?? ''),
    });
    return true;
  }

  /** What the person typed, not what the program made of it. A task for a sub-agent is another agent speaking. */
  #readUser(data: JsonObject): boolean {
    const content = [...readParts(data['content']), ...readParts(data['attachments'])];
    return this.#items.message(isNested(data) ? 'other_agent' : 'human', 'user', content);
  }

  #readAssistant(data: JsonObject): boolean {
    const requests = asList(data['toolRequests']).filter(isObject);
    const tier: EvidenceTier = isNested(data) ? 'other_agent' : requests.length > 0 ? 'commentary' : 'final';
    let kept = this.#items.message(tier, 'assistant', readParts(data['content']));
    for (const request of requests) kept = this.#readCall(request, asText(request['name'])) || kept;
    return kept;
  }

  #readStart(data: JsonObject): boolean {
    const server = asText(data['mcpServerName']);
    if (server !== null) this.#sink.usedMcpServer(server);
    return this.#readCall(data, asText(data['toolName']));
  }

  #readCall(call: JsonObject, name: string | null): boolean {
    const callId = asText(call['toolCallId']) ?? '';
    if (callId !== '' && !this.#calls.add(callId)) return false;
    const args = call['arguments'];
    this.#items.call({
      name: name ?? 'tool',
      callId,
      args: typeof args === 'string' ? (parseJson(args) ?? args) : args,
    });
    return true;
  }

  #readComplete(data: JsonObject): boolean {
    const failed = data['success'] === false;
    const result = data['result'] ?? data['error'];
    const output = isObject(result) ? (result['content'] ?? result['message'] ?? '') : (result ?? '');
    this.#items.output({ callId: asText(data['toolCallId']) ?? '', output, failed });
    return true;
  }
}

/** Said to or by a sub-agent. */
function isNested(data: JsonObject): boolean {
  return asText(data['parentToolCallId']) !== null || asText(data['parentAgentTaskId']) !== null;
}

/** Of a sub-agent that is done; other notices are the program's. */
function notification(data: JsonObject): readonly JsonObject[] {
  const kind = asText(asObject(data['kind'])['type']) ?? '';
  return kind.startsWith('agent_') ? readParts(data['content']) : [];
}

/** `owner/name` on a host is a remote; without a host it is not told where. */
function remoteOf(context: JsonObject): string | null {
  const repository = asText(context['repository']);
  const host = asText(context['repositoryHost']);
  return repository === null || host === null ? repository : `https://${host}/${repository}`;
}
