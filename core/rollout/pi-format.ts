import { parseTime } from '../time.ts';
import type { FormatReader, RolloutFormat, RolloutSink } from './format-reader.ts';
import { asList, asObject, asText, isObject, type JsonObject } from './json-value.ts';
import { PiTree } from './pi-tree.ts';
import type { RecordHead } from './record-head.ts';
import type { EvidenceTier } from './rollout.ts';
import { type KnownTools, readOutput, readParts, TurnItems } from './turn-items.ts';

const ROLES = new Set(['user', 'assistant', 'toolResult', 'bashExecution']);
const TOOLS: KnownTools = {
  web: new Set(['web_search', 'web_fetch', 'fetch', 'browser']),
  asking: new Set(['ask_user', 'question']),
};

/** Sessions of the pi coding agent: a header line with the directory, then one entry a line; results of tools are messages. */
export const piFormat: RolloutFormat = {
  agentKind: 'pi',
  recognises(record) {
    if (typeof record['timestamp'] !== 'string') return false;
    if (record['type'] === 'session') return asText(record['id']) !== null && typeof record['cwd'] === 'string';
    const role = asText(asObject(record['message'])['role']);
    return record['type'] === 'message' && role !== null && ROLES.has(role);
  },
  open: (sink) => new PiReader(sink),
};

class PiReader implements FormatReader {
  readonly #sink: RolloutSink;
  readonly #items: TurnItems;
  readonly #tree: PiTree;
  #known = false;

  constructor(sink: RolloutSink) {
    this.#sink = sink;
    this.#items = new TurnItems(sink, TOOLS);
    this.#tree = new PiTree(sink);
  }

  /** Every entry tells its place in the tree, behind what a head shows. */
  skim(_head: RecordHead): 'drop' | 'defer' | 'read' {
    return 'read';
  }

  /** Never asked for. */
  defer(_head: RecordHead, _bytes: Uint8Array): void {}

  read(record: JsonObject): boolean {
    if (record['type'] === 'session') return this.#readHeader(record);
    const message = record['message'];
    const isPrompt = record['type'] === 'message' && asObject(message)['role'] === 'user';
    if (isPrompt) this.#tree.prompt(record);
    else this.#tree.pass(record);
    // Changes of the model and the like are noise, and so are summaries: they repeat what was said.
    if (record['type'] !== 'message' || !isObject(message)) return false;
    switch (message['role']) {
      case 'user':
        return this.#items.message('human', 'user', readParts(message['content']));
      case 'assistant':
        return this.#readAssistant(message);
      case 'toolResult':
        this.#items.output({
          callId: asText(message['toolCallId']) ?? '',
          output: readOutput(message['content']),
          failed: message['isError'] === true,
        });
        return true;
      case 'bashExecution':
        return this.#readCommand(message, asText(record['id']) ?? '');
      default:
        return false;
    }
  }

  finish(): void {}

  /** The first header names the session; a fork names the file that it came from, which is no thread id. */
  #readHeader(header: JsonObject): boolean {
    if (this.#known) return false;
    this.#known = true;
    const version = header['version'];
    const cwd = asText(header['cwd']);
    if (cwd !== null) this.#sink.workIn(cwd);
    this.#sink.learn({
      threadId: asText(header['id']),
      formatVersion: typeof version === 'number' ? `v${version}` : 'v1',
      source: 'cli',
      startedAt: parseTime(asText(header['timestamp']) ?? ''),
    });
    return true;
  }

  #readAssistant(message: JsonObject): boolean {
    const parts = asList(message['content']).filter(isObject);
    const calls = parts.filter((part) => part['type'] === 'toolCall');
    let kept = this.#items.message(tierOf(message), 'assistant', readParts(message['content']));
    for (const call of calls) {
      this.#items.call({
        name: asText(call['name']) ?? 'tool',
        callId: asText(call['id']) ?? '',
        args: call['arguments'],
      });
      kept = true;
    }
    return kept;
  }

  /** A command that the person ran beside the conversation. */
  #readCommand(message: JsonObject, callId: string): boolean {
    this.#items.call({ name: 'bash', callId, args: { command: message['command'] } });
    const { exitCode, cancelled } = message;
    const failed = cancelled === true || (typeof exitCode === 'number' && exitCode !== 0);
    this.#items.output({ callId, output: message['output'], failed });
    return true;
  }
}

/** What was cut off, or goes on with a tool, is no answer yet. */
function tierOf(message: JsonObject): EvidenceTier {
  const reason = message['stopReason'];
  return reason === 'toolUse' || reason === 'aborted' || reason === 'error' ? 'commentary' : 'final';
}
