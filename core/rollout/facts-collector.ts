import { ConversationTally } from './conversation-tally.ts';
import type { EvidenceCollector, PendingItem } from './evidence-collector.ts';
import type { RolloutSink, ThreadSighting } from './format-reader.ts';
import type { ItemSetting } from './held-items.ts';
import { redact } from './redact.ts';
import type { EvidenceTier, Passage, RolloutFacts } from './rollout.ts';
import { WorkPlaces } from './work-places.ts';

const MAX_MCP_SERVERS = 100;
const SERVER_IN_NAME = /^mcp__(.+?)__/;
/** Times outside of these are no times of a session: a broken clock, or a number taken for a time. 2000 and 2100. */
const EARLIEST_MS = 946_684_800_000;
const LATEST_MS = 4_102_444_800_000;

type Known = { -readonly [Key in keyof ThreadSighting]: ThreadSighting[Key] };

/** Gathers the facts of a thread while its rollout is read, and hands its items on as evidence. */
export class FactsCollector implements RolloutSink {
  readonly #evidence: EvidenceCollector;
  readonly #known: Known = {};
  readonly #conversation = new ConversationTally();
  readonly #places = new WorkPlaces();
  readonly #mcpServers = new Set<string>();
  /** Shared by all items until the project or the passage changes. */
  #setting: ItemSetting | undefined;
  #memoryMode: string | null = null;
  #firstAt: number | null = null;
  #lastAt: number | null = null;
  #toolCalls = 0;
  #webSearch = false;
  #toolSearch = false;

  constructor(evidence: EvidenceCollector) {
    this.#evidence = evidence;
  }

  /** A record of this time went by. */
  at(timeMs: number | undefined): void {
    if (timeMs === undefined || timeMs < EARLIEST_MS || timeMs >= LATEST_MS) return;
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
    this.at(sighting.endedAt);
  }

  isIn(cwd: string | undefined): boolean {
    return this.#places.isIn(cwd);
  }

  learnPlace(cwd: string, repository: string): void {
    this.#places.learn(cwd, repository);
  }

  workIn(cwd: string, isTold = false): void {
    const moved = this.#places.moveTo(cwd);
    this.learn({ cwd });
    if (!moved) return;
    this.#setting = { ...this.#setting, project: this.#places.label };
    if (isTold) return;
    const json = JSON.stringify({ type: 'turn_context', cwd });
    this.item({ tier: 'context', isToolOutput: false, toJson: () => json });
  }

  joinWorktree(worktree: string, original: string): void {
    this.#places.joinWorktree(worktree, original);
  }

  begin(passage: Passage): void {
    this.#setting = { ...this.#setting, passage };
    this.#conversation.begin(passage);
  }

  setMemoryMode(mode: string): void {
    this.#memoryMode = mode;
  }

  item(item: PendingItem): void {
    this.#evidence.add(item, this.#setting);
  }

  said(tier: EvidenceTier, text: string, goesOn = false): void {
    if (tier === 'human' || tier === 'final' || tier === 'commentary') this.#conversation.add(tier, text, goesOn);
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
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      toolCalls: this.#toolCalls,
      ...this.#conversation.sum(),
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
