import { utf8Length } from '../text.ts';
import type { EvidenceCollector, PendingItem } from './evidence-collector.ts';
import type { RolloutSink, ThreadSighting } from './format-reader.ts';
import { redact } from './redact.ts';
import type { EvidenceTier, RolloutFacts } from './rollout.ts';

const TITLE_UNITS = 200;
const MAX_MCP_SERVERS = 100;
const SERVER_IN_NAME = /^mcp__(.+?)__/;

type Known = { -readonly [Key in keyof ThreadSighting]: ThreadSighting[Key] };

/** Gathers the facts of a thread while its rollout is read, and hands its items on as evidence. */
export class FactsCollector implements RolloutSink {
  readonly #evidence: EvidenceCollector;
  readonly #known: Known = {};
  readonly #mcpServers = new Set<string>();
  #memoryMode: string | null = null;
  #title: string | null = null;
  #firstAt: number | null = null;
  #lastAt: number | null = null;
  #humanMessages = 0;
  #assistantMessages = 0;
  #toolCalls = 0;
  #conversationBytes = 0;
  #webSearch = false;
  #toolSearch = false;

  constructor(evidence: EvidenceCollector) {
    this.#evidence = evidence;
  }

  /** A record of this time went by. */
  at(timeMs: number | undefined): void {
    if (timeMs === undefined) return;
    if (this.#firstAt === null || timeMs < this.#firstAt) this.#firstAt = timeMs;
    if (this.#lastAt === null || timeMs > this.#lastAt) this.#lastAt = timeMs;
  }

  learn(sighting: ThreadSighting): void {
    const known = this.#known;
    known.threadId ??= sighting.threadId ?? null;
    known.formatVersion ??= sighting.formatVersion ?? null;
    known.source ??= sighting.source ?? null;
    known.parentThreadId ??= sighting.parentThreadId ?? null;
    known.cwd ??= sighting.cwd ?? null;
    known.repository ??= sighting.repository ?? null;
    known.gitBranch ??= sighting.gitBranch ?? null;
    if (sighting.subagent !== undefined) known.subagent ??= sighting.subagent;
    if (sighting.ephemeral !== undefined) known.ephemeral ??= sighting.ephemeral;
    this.at(sighting.startedAt);
  }

  setMemoryMode(mode: string): void {
    this.#memoryMode = mode;
  }

  item(item: PendingItem): void {
    this.#evidence.add(item);
  }

  said(tier: EvidenceTier, text: string): void {
    if (tier === 'human') {
      this.#humanMessages++;
      this.#title ??= titleOf(text);
    } else if (tier === 'final' || tier === 'commentary') this.#assistantMessages++;
    else return;
    this.#conversationBytes += utf8Length(text);
  }

  calledTool(name: string | null, namespace: string | null = null): void {
    this.#toolCalls++;
    const server = SERVER_IN_NAME.exec(`${namespace ?? ''}__`)?.[1] ?? SERVER_IN_NAME.exec(name ?? '')?.[1];
    if (server !== undefined) this.usedMcpServer(server);
  }

  looked(at: 'web_search' | 'tool_search'): void {
    if (at === 'web_search') this.#webSearch = true;
    else this.#toolSearch = true;
  }

  usedMcpServer(server: string): void {
    if (server !== '' && this.#mcpServers.size < MAX_MCP_SERVERS) this.#mcpServers.add(server);
  }

  /** What is known at the end. Texts that a person or a machine chose (paths, names, addresses) are redacted. */
  facts(agentKind: string): RolloutFacts {
    const known = this.#known;
    return {
      agentKind,
      formatVersion: known.formatVersion ?? null,
      threadId: known.threadId ?? null,
      source: known.source ?? null,
      subagent: known.subagent ?? false,
      ephemeral: known.ephemeral ?? false,
      parentThreadId: known.parentThreadId ?? null,
      memoryMode: this.#memoryMode,
      cwd: redactKnown(known.cwd),
      repository: redactKnown(known.repository),
      gitBranch: redactKnown(known.gitBranch),
      title: this.#title,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      humanMessages: this.#humanMessages,
      assistantMessages: this.#assistantMessages,
      toolCalls: this.#toolCalls,
      conversationBytes: this.#conversationBytes,
      externalContext: {
        webSearch: this.#webSearch,
        toolSearch: this.#toolSearch,
        mcpServers: [...this.#mcpServers].sort(),
      },
    };
  }
}

function redactKnown(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : redact(text);
}

/** The first line that says something, redacted before it is cut, cut between characters. */
function titleOf(text: string): string | null {
  const line = redact(text)
    .split('\n')
    .map((each) => each.trim())
    .find((each) => each !== '' && each !== '[image omitted]' && each !== '[audio omitted]');
  return line === undefined ? null : [...line.slice(0, 2 * TITLE_UNITS)].slice(0, TITLE_UNITS).join('');
}
