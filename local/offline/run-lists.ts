/** An input of a consolidation run, as the first message lists it. */
export interface ListedInput {
  /** Path of its rollout summary. */
  readonly path: string;
  readonly threadId: string;
  readonly project: string | null;
}

/** The lists of the first message (template `consolidation`, part `run`). */
export interface RunLists {
  readonly added: readonly ListedInput[];
  readonly retained: readonly ListedInput[];
  /** Paths of notes that no run has taken in. */
  readonly newNotes: readonly string[];
}

const INPUT = /^- (rollout_summaries\/\S+\.md) \(thread_id=([^,()\s]+)(?:, project=(.*))?\)$/;
const NOTE = /^- (extensions\/ad_hoc\/notes\/\S+)$/;

/** Reads the lists; a line that is none of them is passed over. */
export function readRunLists(message: string): RunLists {
  const added: ListedInput[] = [];
  const retained: ListedInput[] = [];
  const newNotes: string[] = [];
  let current = added;
  for (const line of message.split('\n')) {
    if (/^Added\b.*:$/.test(line)) current = added;
    else if (/^Retained\b.*:$/.test(line)) current = retained;
    const [, path, threadId, project] = INPUT.exec(line) ?? [];
    if (path !== undefined && threadId !== undefined)
      current.push({ path, threadId, project: project === undefined || project === 'unknown' ? null : project });
    const note = NOTE.exec(line)?.[1];
    if (note !== undefined) newNotes.push(note);
  }
  return { added, retained, newNotes };
}
