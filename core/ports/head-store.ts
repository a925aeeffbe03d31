import type { Head } from '../consolidation/manifest.ts';

export interface SwitchRequest {
  /** The version that must be current. */
  readonly from: number;
  readonly epoch: number;
  /** The consolidation's token that must still be the fence; null for a small version (note, edit), which needs none. */
  readonly fence: string | null;
  readonly to: Pick<Head, 'version' | 'publishedAt' | 'summary' | 'pendingNotes' | 'places'>;
}

/** The one item that says which version is current. */
export interface HeadStore {
  /** A user without a head reads as version 0, epoch 0, no fence. */
  read(userKey: string): Promise<Head>;

  /**
   * Writes a claimer's token right after its claim was won, or a fresh one that nobody holds; makes the commit of every run
   * under another token fail. @returns the head after it
   */
  setFence(userKey: string, token: string): Promise<Head>;

  /** The commit point of publishing: one conditional change. A lost reply to a change that was applied counts as won. */
  switchTo(userKey: string, request: SwitchRequest): Promise<'switched' | 'lost'>;

  /**
   * Forgets what is published: version 0, no summary, no notes, no fence, and the next epoch, so that no run that began
   * before can commit (DV-18). @returns the head after it
   */
  reset(userKey: string): Promise<Head>;
}
