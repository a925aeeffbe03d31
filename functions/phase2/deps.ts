import type { DurableContext } from '@aws/durable-execution-sdk-js';
import type { ConsolidationPorts } from '../../core/consolidation/consolidation-ports.ts';
import type { SettingsStore } from '../../core/ports/settings-store.ts';
import type { StepRunner } from '../../core/ports/step-runner.ts';
import type { TelemetryFields } from '../../core/ports/telemetry.ts';

/** What the function's telemetry can besides the port. */
export interface Tracing {
  /** Adds ids to every log line from now on; null ends it. */
  correlate(ids: { readonly request_id?: string | null; readonly run_id?: string | null }): void;
  /** Writes the metrics that wait. */
  flush(): void;
  withSpan<T>(name: string, attributes: TelemetryFields, work: () => Promise<T>): Promise<T>;
}

/** One execution as its steps see it. */
export interface StepSetting {
  readonly userKey: string;
  readonly context: Pick<DurableContext, 'step' | 'wait'>;
  /** ms that the present invocation may still run. */
  readonly remainingMs: () => number;
  /** With less than this left after a turn, the execution is suspended and goes on in a fresh invocation. */
  readonly reserveMs: number;
}

/** What consolidations need. Made once a process; nothing in it belongs to one user. */
export interface Phase2Deps extends Omit<ConsolidationPorts, 'steps'> {
  readonly settings: Pick<SettingsStore, 'read'>;
  readonly tracing: Tracing;
  /** Where the turns of one execution are kept. */
  readonly stepsOf: (setting: StepSetting) => StepRunner;
  /** For users who chose none. */
  readonly consolidationModel: string;
  /** Tokens a day for users who chose none; null: the built-in default. */
  readonly dailyTokenBudget: number | null;
  /** A run whose material has no more tokens is asked for in one call; 0: never. */
  readonly oneShotTokens: number;
}
