import type { Status } from '../core/control/read-status.ts';
import { formatTable } from './console.ts';

/** The status for a person: the same figures as the JSON, a line each. */
export function formatStatus(
  status: Status,
  folder: string,
  offline: { readonly calls: number; readonly tokens: number },
): string {
  const outcomes = Object.entries(status.threads.by_outcome).map(([name, count]) => `${count} ${name}`);
  const { extraction, memory, usage } = status;
  const used = usage.today.input_tokens + usage.today.output_tokens;
  return formatTable([
    ['health', status.health],
    ['home', folder],
    ['threads', `${status.threads.total}${outcomes.length === 0 ? '' : `: ${outcomes.join(', ')}`}`],
    ['redacted', redactedText(status.threads.redactions)],
    [
      'extraction',
      `${extraction.queued} queued, ${extraction.running} running, ${extraction.failed} failed, ${extraction.deferred} deferred`,
    ],
    ['consolidation', consolidationText(status)],
    [
      'memory',
      memory.version === 0
        ? 'nothing published yet'
        : `version ${memory.version} of ${memory.published_at}, ${memory.files} files, ${memory.bytes} bytes`,
    ],
    [
      'tokens today',
      `${used} of ${usage.budget} in ${usage.today.calls} calls (${usage.today.input_tokens} in, ${usage.today.cached_tokens} of them cached, ${usage.today.output_tokens} out)`,
    ],
    ['offline today', `${offline.tokens} tokens in ${offline.calls} calls of the stand-in, free`],
  ]);
}

/** How many secrets were kept from the model and the memory, the most frequent kinds first. */
function redactedText(redactions: Status['threads']['redactions']): string {
  const kinds = Object.entries(redactions).sort(([, left], [, right]) => right - left);
  const sum = kinds.reduce((total, [, times]) => total + times, 0);
  const shown = kinds.map(([kind, times]) => `${times} ${kind}`).join(', ');
  return sum === 0 ? 'no secrets' : `${sum} ${sum === 1 ? 'secret' : 'secrets'}: ${shown}`;
}

function consolidationText({ consolidation, threads, memory }: Status): string {
  const isIdle = consolidation.status === 'none' || consolidation.status === 'done';
  // A run over nothing is no success to be proud of: what failed before it is why (user case A7).
  if (isIdle && memory.version === 0) return `nothing to consolidate, ${countFailed(threads.by_outcome)} failed`;
  const parts: string[] = [consolidation.status];
  if (consolidation.last_success_at !== null) parts.push(`last success ${consolidation.last_success_at}`);
  if (consolidation.last_error !== null) parts.push(`last error ${consolidation.last_error}`);
  if (consolidation.next_at !== null) parts.push(`next ${consolidation.next_at}`);
  if (consolidation.stale) parts.push('stale');
  return parts.join(', ');
}

/** Those that are tried again included. */
function countFailed(byOutcome: Status['threads']['by_outcome']): number {
  return Object.entries(byOutcome).reduce((sum, [name, count]) => sum + (name.startsWith('failed') ? count : 0), 0);
}
