import { decodeUtf8Strict } from '../text.ts';

/** What stands at the head of a rollout summary file (behaviours H-02). */
export interface SourceHead {
  readonly threadId: string;
  readonly updatedAt: string | null;
  readonly rolloutPath: string | null;
}

/** @returns undefined where there is no such file, or no thread id at its head */
export function readSourceHead(content: Uint8Array | undefined): SourceHead | undefined {
  if (content === undefined) return undefined;
  const text = decodeUtf8Strict(content) ?? '';
  const end = text.indexOf('\n\n');
  const lines = (end < 0 ? text : text.slice(0, end)).split('\n');
  const fieldOf = (key: string): string | null =>
    lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2) ?? null;
  const threadId = fieldOf('thread_id');
  return threadId === null
    ? undefined
    : { threadId, updatedAt: fieldOf('updated_at'), rolloutPath: fieldOf('rollout_path') };
}
