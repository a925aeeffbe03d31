import type { TokenUsage } from '../agent/token-usage.ts';
import type { SnapshotRef } from '../extraction/stage-one-output.ts';

export type VersionReason = 'consolidation' | 'note' | 'edit' | 'forget' | 'restore' | 'import';

/** How a memory was worked on: by a loop of tool calls, or by one call that sees everything. */
export type ConsolidationWay = 'loop' | 'once';

/** Where one file's content lies. `versionId` is the store's own name of it, immutable. */
export interface FileEntry {
  readonly versionId: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The commit of one version (storage.md, "manifest"). Immutable once switched to. */
export interface Manifest {
  /** Rises; may have gaps, since a run that lost leaves its number behind. */
  readonly version: number;
  /** Version this one was built on; 0 = none. */
  readonly parent: number;
  readonly createdAt: number;
  readonly reason: VersionReason;
  /** Who caused it: `consolidation`, `user`, `cli`, … Never a person's name. */
  readonly actor: string;
  /** Snapshots that the memory rests on. A version that is no consolidation carries its parent's. */
  readonly inputs: readonly SnapshotRef[];
  /** Thread ids that the parent rested on and this one does not. */
  readonly removed: readonly string[];
  readonly files: Readonly<Record<string, FileEntry>>;
  /** Null where no model took part. */
  readonly model: string | null;
  readonly promptVersion: string | null;
  readonly tokenUsage: TokenUsage;
  /** How a model worked on it, and in how many turns; absent where none did, and in manifests from before this was kept. */
  readonly way?: ConsolidationWay;
  readonly turns?: number;
  /** What its outputs rest on. Absent where it was not known without reading more files, and in manifests from before this was kept: then the files tell (`indexProvenance`). */
  readonly provenance?: ProvenanceIndex;
  /** Paths of notes that this version took in; carried on by later versions as long as the note file exists. */
  readonly notesConsumed: readonly string[];
}

/** From parts of MEMORY.md, memory_summary.md and skills/ to threads, as numbers: for every path, rows of a line and places in `threads`. */
export interface ProvenanceIndex {
  /** Ids, ascending. */
  readonly threads: readonly string[];
  readonly blocks: Readonly<Record<string, readonly (readonly number[])[]>>;
}

/** A note that no consolidation has taken in yet: shown to readers at once. */
export interface PendingNote {
  readonly path: string;
  /** The first 1 KB of it. */
  readonly text: string;
}

/** A directory that sessions of a project worked in, as a scope key of its own (storage.md, "Identity"). */
export interface ProjectPlace {
  readonly directory: string;
  readonly project: string;
}

/** What a read needs, in one item (storage.md, `head`). The switch of this item is the only commit point of a publish. */
export interface Head {
  /** 0 = nothing published yet. */
  readonly version: number;
  readonly publishedAt: number | null;
  /** memory_summary.md, whole. */
  readonly summary: string;
  readonly pendingNotes: readonly PendingNote[];
  /** Pending notes that a store had no room for in `pendingNotes`: the oldest; they are among the files. Absent = none. */
  readonly notesLeftOut?: number;
  /** Directories of the projects in MEMORY.md: leads a reader's directory to its project without another read. */
  readonly places: readonly ProjectPlace[];
  /** Raised by a reset: a run of an older epoch cannot commit. */
  readonly epoch: number;
  /** Ownership token of the last consolidation claim; only its holder may commit a consolidation. */
  readonly fence: string | null;
}
