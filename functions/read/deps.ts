import type { Clock } from '../../core/ports/clock.ts';
import type { FileLinks } from '../../core/ports/file-links.ts';
import type { HeadStore } from '../../core/ports/head-store.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import type { MemoryStore } from '../../core/ports/memory-store.ts';
import type { ReceiptStore } from '../../core/ports/receipt-store.ts';
import type { StageOneStore } from '../../core/ports/stage-one-store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { TemplateStore } from '../../core/ports/template-store.ts';
import type { ThreadStore } from '../../core/ports/thread-store.ts';
import type { TokenSource } from '../../core/ports/token-source.ts';
import type { UsageLedger } from '../../core/ports/usage-ledger.ts';
import type { Settings } from '../../core/settings.ts';
import type { Identify } from '../http/identity.ts';

/** What the read app needs; `wire.ts` of a Lambda and `local/` put it together. */
export interface ReadAppDeps {
  /** @throws DeniedError `auth.*` when it is not known who asks */
  readonly identify: Identify;
  readonly settings: (userKey: string) => Promise<Settings>;
  readonly heads: HeadStore;
  readonly memories: MemoryStore;
  readonly threads: ThreadStore;
  readonly stageOne: StageOneStore;
  readonly jobs: JobStore;
  readonly ledger: UsageLedger;
  readonly receipts: ReceiptStore;
  readonly templates: TemplateStore;
  readonly clock: Clock;
  readonly tokens: TokenSource;
  readonly telemetry: Telemetry;
  /** Where the agent is told that the memory files lie: a folder, or the address of the files endpoint. */
  readonly basePath: string;
  /** Where answers have a largest size; absent: files of any size are answered whole. */
  readonly links?: FileLinks;
  /** Default 10 s. */
  readonly requestTimeoutMs?: number;
}
