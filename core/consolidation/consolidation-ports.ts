import type { TokenUsage } from '../agent/token-usage.ts';
import type { ClaimRefusal } from '../job/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { ModelClient } from '../ports/model-client.ts';
import type { ReplayStore } from '../ports/replay-store.ts';
import type { StageOneStore } from '../ports/stage-one-store.ts';
import type { StepRunner } from '../ports/step-runner.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import type { TokenSource } from '../ports/token-source.ts';
import type { UsageLedger } from '../ports/usage-ledger.ts';
import type { Settings } from '../settings.ts';
import type { ConsolidationWay } from './manifest.ts';

/** All that a consolidation touches. */
export interface ConsolidationPorts {
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
  readonly threads: ThreadStore;
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly replays: Pick<ReplayStore, 'put' | 'list' | 'remove'>;
  readonly templates: TemplateStore;
  readonly model: ModelClient;
  readonly steps: StepRunner;
  readonly ledger: UsageLedger;
  readonly clock: Clock;
  readonly tokens: TokenSource;
  readonly telemetry: Telemetry;
}

export interface ConsolidationRequest {
  readonly userKey: string;
  readonly settings: Settings;
  /** Used where the user's settings name no consolidation model. */
  readonly model: string;
  /** True when a person asked for it now: skips the cooldown and a waiting retry. */
  readonly immediate?: boolean;
  /** ms since the epoch after which no model call may be running; absent: none. */
  readonly deadline?: number;
  /** A run whose material has no more tokens is asked for in one call (`LIMITS.oneShotTokens`); absent or 0: never. */
  readonly oneShotTokens?: number;
}

/** Thread ids by what happened to their snapshot since the last consolidation (DV-12), each ascending. */
export interface InputChanges {
  readonly added: readonly string[];
  readonly retained: readonly string[];
  readonly removed: readonly string[];
}

/** How a consolidation ended. Only `published` made a version. */
export type ConsolidationResult =
  | ({
      readonly kind: 'published';
      readonly version: number;
      readonly way: ConsolidationWay;
      readonly turns: number;
      readonly usage: TokenUsage;
      /** What the agent said it did; content, not for logs. */
      readonly report: string;
    } & InputChanges)
  /** Nothing changed since the last version, or the agent left everything as it was. */
  | { readonly kind: 'unchanged'; readonly version: number; readonly turns: number; readonly usage: TokenUsage }
  /** No inputs and no files: nothing to consolidate (DV-11). */
  | { readonly kind: 'nothing' }
  /** Not claimed: somebody else runs, or it is not time yet. */
  | { readonly kind: 'refused'; readonly reason: ClaimRefusal; readonly retryAt: number | null }
  /**
   * The old version stays; only where the job could not be ended after the switch, the next run finds the new one and ends
   * it. `code` is in the job's last error as well; `detail` is content-free.
   */
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly detail: string;
      readonly turns: number;
      readonly usage: TokenUsage;
    };
