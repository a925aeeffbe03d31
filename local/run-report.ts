import type { Status } from '../core/control/read-status.ts';
import { outcomeName } from '../core/extraction/outcome.ts';
import { toDay } from '../core/time.ts';
import type { Home } from './home.ts';
import { lookStatus, lookThreads, type ThreadRow } from './look.ts';
import type { ModelSetup } from './model.ts';
import { adviceOnSettings, adviceOnSilence } from './model-advice.ts';
import type { RunResult } from './run.ts';

/** What one run did, as `stillroom run --json` prints it. */
export interface RunReport {
  readonly home: string;
  readonly model: { readonly label: string; readonly offline: boolean };
  /** Files of this run that gave no thread of their own, with why. */
  readonly files: readonly { readonly path: string; readonly outcome: string; readonly detail: string | null }[];
  readonly files_seen: number;
  /** Threads of the files of this run. */
  readonly threads: readonly ThreadRow[];
  /** Threads left for the next run by `--max`. */
  readonly left_over: number;
  readonly consolidation: Readonly<Record<string, unknown>>;
  readonly hand_edits: {
    readonly version: number | null;
    readonly paths: readonly string[];
    readonly ignored: readonly string[];
  };
  readonly model_calls: number;
  readonly memory: Status['memory'];
  /** Tokens of today on the account of this run's model; `budget` null: none applies. */
  readonly usage: {
    readonly calls: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly budget: number | null;
  };
  readonly summary: string;
}

/** Puts together what a person or a program wants to know after a run. */
export async function reportRun(home: Home, model: ModelSetup, result: RunResult): Promise<RunReport> {
  const status = await lookStatus(home);
  const ledger = model.offline ? home.offlineLedger : home.ledger;
  const day = await ledger.day(home.userKey, toDay(home.clock.now()));
  const seen = new Set(result.files.flatMap((file) => (file.kind === 'thread' ? [file.threadId] : [])));
  for (const threadId of result.due) seen.add(threadId);
  const ended = result.files.flatMap((file) => (file.kind === 'ended' ? [file] : []));
  return {
    home: home.folder,
    model: { label: model.label, offline: model.offline },
    files: ended.map((file) => ({
      path: file.path,
      outcome: outcomeName(file.outcome),
      detail: file.outcome.detail ?? null,
    })),
    files_seen: result.files.length,
    threads: (await lookThreads(home, null)).filter((row) => seen.has(row.thread_id)),
    left_over: result.leftOver,
    consolidation: consolidationToWire(result.consolidation),
    hand_edits: result.edits,
    model_calls: model.calls(),
    memory: status.memory,
    usage: {
      calls: day.calls,
      input_tokens: day.usage.inputTokens,
      output_tokens: day.usage.outputTokens,
      budget: model.offline ? null : home.settings.dailyTokenBudget,
    },
    summary: (await home.heads.read(home.userKey)).summary,
  };
}

/** What a person must know about a run that did not do all of its work; null when it did. */
export function findRunFault(result: RunResult): string | null {
  const { consolidation } = result;
  if (consolidation.kind === 'skipped') {
    const { code } = consolidation;
    return `the model cannot be used (${code}): ${adviceOnSettings(code)}; what is due stays due`;
  }
  if (result.unreachable !== null) {
    return `every session failed since the model could not be reached (${result.unreachable}): ${adviceOnSilence(result.unreachable)}; a run in an hour tries again`;
  }
  if (consolidation.kind === 'failed') {
    return consolidationFault(consolidation);
  }
  return null;
}

/** A consolidation's end with snake_case names and counts instead of lists, as the wire shows it. */
export function consolidationToWire(result: RunResult['consolidation']): Readonly<Record<string, unknown>> {
  switch (result.kind) {
    case 'published':
      return {
        kind: result.kind,
        version: result.version,
        added: result.added.length,
        retained: result.retained.length,
        removed: result.removed.length,
        way: result.way,
        turns: result.turns,
      };
    case 'refused':
      return { kind: result.kind, reason: result.reason };
    case 'failed':
      return { kind: result.kind, code: result.code, detail: result.detail };
    case 'unchanged':
      return { kind: result.kind, version: result.version };
    case 'skipped':
      return { kind: result.kind, code: result.code };
    case 'nothing':
      return { kind: result.kind };
  }
}

/** What a person must know about a consolidation that failed. */
export function consolidationFault({ code, detail }: { readonly code: string; readonly detail: string }): string {
  return `consolidation failed (${code}: ${detail}): the former memory stays as it was, the next run tries again`;
}
