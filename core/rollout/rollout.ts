/**
 * What is understood of one rollout. Readers (one file a format, chosen by content) put what records say into a
 * `RolloutSink`; everything after that is the same for every agent.
 */

/** Who speaks in an evidence row, best first (behaviours TI-02). */
export const EVIDENCE_TIERS = ['human', 'final', 'other_agent', 'commentary', 'context', 'tool'] as const;
export type EvidenceTier = (typeof EVIDENCE_TIERS)[number];

/** The labels of the tiers as they stand in the evidence (behaviours TI-02). */
export const TIER_LABELS: Readonly<Record<EvidenceTier, string>> = {
  human: 'human user',
  final: 'assistant final',
  other_agent: 'other agent',
  commentary: 'assistant commentary',
  context: 'harness context',
  tool: 'tool',
};

/** One row of evidence: the text is the redacted JSON of the item (behaviours TI-05), already cut to its own limit. */
export interface EvidenceRow {
  readonly tier: EvidenceTier;
  readonly text: string;
  /** Where the work was in another project than the session's own: its key, redacted (user case A13). */
  readonly project?: string | undefined;
}

/**
 * A stretch of the conversation, from one prompt of the person to the next. When the person goes back to before it, it is
 * taken back: what was said and tried there is neither evidence nor counted.
 */
export interface Passage {
  readonly isTakenBack: boolean;
}

/** How much of one tier became evidence. */
export interface TierShare {
  /** Items that were met. */
  readonly items: number;
  /** Items of which there is a row. */
  readonly rows: number;
  /** UTF-8 bytes of these rows, labels counted. */
  readonly bytes: number;
}

/** What of a rollout became evidence. */
export interface EvidenceShares {
  readonly tiers: Readonly<Record<EvidenceTier, TierShare>>;
  /** Commands that failed and later passed, and those of them of which all four rows are whole. */
  readonly pairs: { readonly found: number; readonly kept: number };
}

/** What else the session looked at, for pollution (behaviours 1.Q, DV-15). */
export interface ExternalContext {
  readonly webSearch: boolean;
  readonly toolSearch: boolean;
  /** Names of MCP servers whose tools were called, sorted. */
  readonly mcpServers: readonly string[];
}

/** Facts of the thread as its rollout tells them; null = the rollout does not say. Times in ms. */
export interface RolloutFacts {
  readonly agentKind: string;
  /** Version of the agent that wrote it, or the name of the era (`bare`). */
  readonly formatVersion: string | null;
  readonly threadId: string | null;
  readonly source: string | null;
  readonly subagent: boolean;
  readonly ephemeral: boolean;
  readonly parentThreadId: string | null;
  readonly memoryMode: string | null;
  readonly cwd: string | null;
  readonly repository: string | null;
  readonly gitBranch: string | null;
  /** First line of the first human message, redacted, at most 200 characters. */
  readonly title: string | null;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly humanMessages: number;
  readonly assistantMessages: number;
  readonly toolCalls: number;
  /** UTF-8 bytes of human and assistant text. */
  readonly conversationBytes: number;
  readonly externalContext: ExternalContext;
}

/** What was met while reading; shown by `stillroom threads` and `inspect`. */
export interface RolloutCounts {
  readonly bytes: number;
  readonly records: number;
  /** Non-empty lines that are no JSON object. */
  readonly broken: number;
  /** Records over the size limit, skipped without being kept in memory. */
  readonly oversized: number;
  /** The last line was cut in the middle of a record. */
  readonly tornTail: boolean;
  /** Records by kind (`response_item/message`, …), and how many of each were dropped. */
  readonly byKind: Readonly<Record<string, number>>;
  readonly droppedByKind: Readonly<Record<string, number>>;
  /** Secrets replaced, by kind; never the values. */
  readonly redactions: Readonly<Record<string, number>>;
}

/**
 * What was wrong in a rollout that was read all the same, in the small form that the catalogue keeps and `stillroom threads`
 * shows.
 */
export type RolloutDamage = Pick<RolloutCounts, 'broken' | 'oversized' | 'tornTail' | 'redactions'>;

/** A rollout that was read, or why it could not be. `evidence` is empty when it was not asked for. */
export type RolloutReading =
  | {
      readonly kind: 'read';
      readonly facts: RolloutFacts;
      readonly counts: RolloutCounts;
      readonly evidence: string;
      /** Null where no tiered evidence was asked for. */
      readonly shares: EvidenceShares | null;
    }
  | {
      readonly kind: 'failed';
      readonly reason: 'unrecognised_format' | 'unreadable' | 'too_large';
      /** Content-free: numbers, limits, names of record kinds. */
      readonly detail: string;
      readonly counts: RolloutCounts;
    };
