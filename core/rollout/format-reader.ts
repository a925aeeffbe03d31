import type { PendingItem } from './evidence-collector.ts';
import type { JsonObject } from './json-value.ts';
import type { RecordHead } from './record-head.ts';
import type { EvidenceTier, Passage } from './rollout.ts';

/** What a record may tell of its thread; a field that is already known is not changed by a later sighting. */
export interface ThreadSighting {
  readonly threadId?: string | null;
  readonly formatVersion?: string | null;
  readonly source?: string | null;
  readonly subagent?: boolean;
  readonly ephemeral?: boolean;
  readonly parentThreadId?: string | null;
  readonly cwd?: string | null;
  readonly repository?: string | null;
  readonly gitBranch?: string | null;
  readonly startedAt?: number | undefined;
  /** When the session was last active, ms. */
  readonly endedAt?: number | undefined;
}

/** Where a record stood: on a line of its own, or in a list of a JSON document. */
export type RecordPlace = 'line' | 'element';

/** Where readers put what they understand; from here on everything is the same for every agent. */
export interface RolloutSink {
  learn(sighting: ThreadSighting): void;
  /** Whether the work is in this directory now. */
  isIn(cwd: string | undefined): boolean;
  /**
   * The work goes on here. The first place is the session's own; rows that belong to other projects are marked (A13).
   * @param isTold true: an item that follows says so itself
   */
  workIn(cwd: string, isTold?: boolean): void;
  /** The remote of the repository at a directory. */
  learnPlace(cwd: string, repository: string): void;
  /** A directory is a worktree of the repository at `original` (A10). */
  joinWorktree(worktree: string, original: string): void;
  /** What follows belongs to this passage, until the next one. */
  begin(passage: Passage): void;
  /** The last one holds. */
  setMemoryMode(mode: string): void;
  /** An item that may become an evidence row. */
  item(item: PendingItem): void;
  /**
   * Something a person or the assistant said, for the counts and the title.
   * @param goesOn true: a further part of the message that was told of last
   */
  said(tier: EvidenceTier, text: string, goesOn?: boolean): void;
  /** A tool was called. MCP servers are told from the name (`mcp__server__tool`) or the namespace. */
  calledTool(name: string | null, namespace?: string | null): void;
  looked(at: 'web_search' | 'tool_search'): void;
  usedMcpServer(server: string): void;
}

/**
 * One agent's format. To add one: write a file with such a value, and put it into the list in `formats.ts`.
 */
export interface RolloutFormat {
  readonly agentKind: string;
  /** Names of the lists whose elements are its records, where one object holds a whole session. */
  readonly lists?: readonly string[];
  /**
   * Read as loosely as traces are (behaviours V-01, V-02): a line that is no UTF-8 is Latin-1, a line may hold a list of
   * records, prose between them is passed over.
   */
  readonly isLoose?: true;
  /** Its records carry no id of their session. */
  readonly isUnnamed?: true;
  /** Whether a record is of this format, by its content and place alone. No record is of two formats. */
  recognises(record: JsonObject, place: RecordPlace): boolean;
  /** Whether what an object holds beside its list is of this format. */
  recognisesHead?(fields: JsonObject): boolean;
  open(sink: RolloutSink): FormatReader;
}

/** Reads the records of one rollout, in order. */
export interface FormatReader {
  /**
   * Looks at a record's head before it is decoded: `drop` = it can never matter, `defer` = it is wanted as an item whose
   * text can wait, `read` = parse it. Only called for heads that are sure.
   */
  skim(head: RecordHead): 'drop' | 'defer' | 'read';
  /** Takes a deferred record. The bytes are only valid during the call. */
  defer(head: RecordHead, bytes: Uint8Array): void;
  /** @returns false when the record was dropped */
  read(record: JsonObject, timeMs: number | undefined): boolean;
  /**
   * What an object holds beside its list of records. `begins`: before the list; else what came behind it.
   * @returns false when nothing of it is of use
   */
  readHead?(fields: JsonObject, begins: boolean): boolean;
  /** The rollout is over. */
  finish(): void;
}
