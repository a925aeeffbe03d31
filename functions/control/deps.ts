import type { Clock } from '../../core/ports/clock.ts';
import type { ConsolidationStarter } from '../../core/ports/consolidation-starter.ts';
import type { EraseMarks } from '../../core/ports/erase-marks.ts';
import type { HeadStore } from '../../core/ports/head-store.ts';
import type { JobQueue } from '../../core/ports/job-queue.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { MemoryStore } from '../../core/ports/memory-store.ts';
import type { ReplayStore } from '../../core/ports/replay-store.ts';
import type { RolloutStore } from '../../core/ports/rollout-store.ts';
import type { SettingsStore } from '../../core/ports/settings-store.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { TemplateStore } from '../../core/ports/template-store.ts';
import type { ThreadStore } from '../../core/ports/thread-store.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import type { UploadSigner } from '../../core/ports/upload-signer.ts';
import type { UserTraces } from '../../core/ports/user-traces.ts';
import type { Identify } from '../http/identity.ts';

/** What every group of routes needs. */
export interface ControlDeps {
  readonly identify: Identify;
  readonly threads: ThreadStore;
  readonly jobs: JobStore;
  readonly outputs: StageOneStore;
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly rollouts: RolloutStore;
  /** Of runs: what forgets and resets removes them. */
  readonly replays: Pick<ReplayStore, 'list' | 'read' | 'remove'>;
  readonly settings: SettingsStore;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly tokens: TokenSource;
}

/** What the control app needs; `wire.ts` of a Lambda puts it together. A local server mounts the groups it has the ports for. */
export interface ControlAppDeps extends ControlDeps {
  readonly uploads: UploadSigner;
  /** Of notes: what the consolidation agent is told of them. */
  readonly templates: TemplateStore;
  readonly consolidations: ConsolidationStarter;
  /** Of every technology that keeps something of a user. */
  readonly traces: readonly UserTraces[];
  readonly marks: EraseMarks;
  readonly telemetry: Telemetry;
  /** Default 25 s. */
  readonly requestTimeoutMs?: number;
}
