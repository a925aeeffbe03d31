/** A line of a task's `### rollout_summary_files`: which file the task rests on, with the values at the head of that file. */
export interface SourceLine {
  readonly path: string;
  readonly cwd: string;
  readonly rolloutPath: string;
  readonly updatedAt: string;
  readonly threadId: string;
  readonly line: number;
}

export type SourceValues = Omit<SourceLine, 'line'>;

const START = '- ';
const KEYS = [', thread_id=', ', updated_at=', ', rollout_path='] as const;

/**
 * Reads `- rollout_summaries/<stem>.md (cwd=…, rollout_path=…, updated_at=…, thread_id=…)`. Paths may hold commas, brackets and
 * spaces, so it is read from its end. Linear.
 * @returns undefined where it is not such a line
 */
export function parseSourceLine(line: string): SourceValues | undefined {
  const open = line.indexOf(' (cwd=');
  if (open < 0 || !line.startsWith(START) || !line.endsWith(')')) return undefined;
  const path = line.slice(START.length, open);
  let rest = line.slice(open + ' (cwd='.length, -1);
  const values: string[] = [];
  for (const key of KEYS) {
    const at = rest.lastIndexOf(key);
    if (at < 0) return undefined;
    values.push(rest.slice(at + key.length));
    rest = rest.slice(0, at);
  }
  const [threadId = '', updatedAt = '', rolloutPath = ''] = values;
  const whole =
    /^rollout_summaries\/[^/\s]+\.md$/.test(path) && /^[^,()\s]+$/.test(threadId) && /^[^,()]+$/.test(updatedAt);
  return whole ? { path, cwd: rest, rolloutPath, updatedAt, threadId } : undefined;
}

/** The line that `parseSourceLine` reads. */
export function renderSourceLine(source: SourceValues): string {
  const { path, cwd, rolloutPath, updatedAt, threadId } = source;
  return `${START}${path} (cwd=${cwd}, rollout_path=${rolloutPath}, updated_at=${updatedAt}, thread_id=${threadId})`;
}
