import type { Clock } from '../../core/ports/clock.ts';
import type { HeadStore } from '../../core/ports/head-store.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { MemoryStore } from '../../core/ports/memory-store.ts';
import type { ReceiptStore } from '../../core/ports/receipt-store.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { TemplateStore } from '../../core/ports/template-store.ts';
import type { ThreadStore } from '../../core/ports/thread-store.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import type { Settings } from '../../core/settings.ts';
import type { Identify } from '../http/identity.ts';

/** What the tools work on. */
export interface MemoryToolDeps {
  readonly settings: (userKey: string) => Promise<Settings>;
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly stageOne: StageOneStore;
  readonly threads: Pick<ThreadStore, 'getMany'>;
  readonly jobs: JobStore;
  readonly receipts: ReceiptStore;
  readonly templates: TemplateStore;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Where the agent is told that the memory files lie. */
  readonly basePath: string;
}

/** What the MCP app needs; `wire.ts` of a Lambda and `local/` put it together. */
export interface McpAppDeps extends MemoryToolDeps {
  readonly identify: Identify;
  readonly tokens: TokenSource;
  /** Default 10 s. */
  readonly requestTimeoutMs?: number;
}
