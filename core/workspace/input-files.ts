import { encodeUtf8 } from '../text.ts';
import { toFileTime } from '../time.ts';
import { assignStems } from './file-stem.ts';
import type { FileTree } from './file-tree.ts';

export const RAW_MEMORIES_PATH = 'raw_memories.md';
/** raw_memories.md while nothing is selected. */
export const NO_RAW_MEMORIES = '# Raw Memories\n\nNo raw memories yet.\n';
export const ROLLOUT_SUMMARIES_FOLDER = 'rollout_summaries/';

/** One selected stage-one output with what its thread's catalogue entry adds. */
export interface WorkspaceInput {
  readonly threadId: string;
  /** ms. */
  readonly sourceUpdatedAt: number;
  readonly rawMemory: string;
  readonly rolloutSummary: string;
  readonly slug: string | null;
  /** Null is written as `unknown`. */
  readonly cwd: string | null;
  readonly rolloutPath: string;
  readonly gitBranch: string | null;
}

/**
 * Writes the selected outputs into the workspace (behaviours H-01..H-05): `raw_memories.md` and one file a thread in
 * `rollout_summaries/`, where every other `*.md` goes. All other files stay.
 * @param inputs in the order they are to be written: ascending thread ids
 * @param maxInputs keeps the first of them; default: all
 */
export function syncInputs(tree: FileTree, inputs: readonly WorkspaceInput[], maxInputs = inputs.length): FileTree {
  const chosen = inputs.slice(0, Math.max(0, maxInputs));
  const stems = assignStems(chosen);
  const stemOf = (input: WorkspaceInput): string => stems.get(input.threadId) ?? input.threadId;
  const synced = new Map([...tree].filter(([path]) => !isRolloutSummary(path)));
  for (const input of chosen) {
    synced.set(`${ROLLOUT_SUMMARIES_FOLDER}${stemOf(input)}.md`, encodeUtf8(rolloutSummaryFile(input)));
  }
  synced.set(RAW_MEMORIES_PATH, encodeUtf8(rawMemoriesFile(chosen, stemOf)));
  return synced;
}

function isRolloutSummary(path: string): boolean {
  const name = path.startsWith(ROLLOUT_SUMMARIES_FOLDER) ? path.slice(ROLLOUT_SUMMARIES_FOLDER.length) : '';
  return name.endsWith('.md') && !name.includes('/');
}

/** behaviours H-01. */
function rawMemoriesFile(inputs: readonly WorkspaceInput[], stemOf: (input: WorkspaceInput) => string): string {
  if (inputs.length === 0) return NO_RAW_MEMORIES;
  const blocks = inputs.map((input) =>
    [
      `## Thread \`${input.threadId}\``,
      `updated_at: ${toFileTime(input.sourceUpdatedAt)}`,
      `cwd: ${shownCwd(input)}`,
      `rollout_path: ${oneLine(input.rolloutPath)}`,
      `rollout_summary_file: ${stemOf(input)}.md`,
      '',
      trimWhiteSpace(input.rawMemory),
      '\n',
    ].join('\n'),
  );
  return `# Raw Memories\n\nMerged stage-1 raw memories (stable ascending thread-id order):\n\n${blocks.join('')}`;
}

/** behaviours H-02: the order of the head lines differs from H-01, and the summary is not trimmed. */
function rolloutSummaryFile(input: WorkspaceInput): string {
  return [
    `thread_id: ${input.threadId}`,
    `updated_at: ${toFileTime(input.sourceUpdatedAt)}`,
    `rollout_path: ${oneLine(input.rolloutPath)}`,
    `cwd: ${shownCwd(input)}`,
    ...(input.gitBranch === null ? [] : [`git_branch: ${oneLine(input.gitBranch)}`]),
    '',
    `${input.rolloutSummary}\n`,
  ].join('\n');
}

function shownCwd(input: WorkspaceInput): string {
  return input.cwd === null || input.cwd === '' ? 'unknown' : oneLine(input.cwd);
}

/** A path with a line end in it must not add lines to the head of a file. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ');
}

/** Trims all Unicode white space at both ends, NEL included, which `String.trim` leaves. */
function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text[start])) start++;
  while (end > start && isWhiteSpace(text[end - 1])) end--;
  return text.slice(start, end);
}

function isWhiteSpace(char: string | undefined): boolean {
  return char !== undefined && /\p{White_Space}/u.test(char);
}
