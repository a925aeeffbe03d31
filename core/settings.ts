import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts';

/**
 * Every tunable, with its default, its clamp and the reason, in one place.
 * A user's settings come first; limits that no user may change follow.
 */
interface NumberRule {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

/** Clamped as in behaviours 1.Y; the budget is ours (DV-21). */
export const NUMBER_RULES = {
  max_raw_memories_for_consolidation: { fallback: 256, min: 1, max: 4096 },
  max_unused_days: { fallback: 30, min: 0, max: 365 },
  max_rollout_age_days: { fallback: 10, min: 0, max: 90 },
  max_rollouts_per_startup: { fallback: 2, min: 1, max: 128 },
  min_rollout_idle_hours: { fallback: 6, min: 1, max: 48 },
  min_rate_limit_remaining_percent: { fallback: 25, min: 0, max: 100 },
  daily_token_budget: { fallback: 2_000_000, min: 0, max: 1_000_000_000 },
} as const satisfies Record<string, NumberRule>;

export const BOOLEAN_DEFAULTS = {
  generate_memories: true,
  use_memories: true,
  disable_on_external_context: false,
} as const;

/** Sources extracted without being asked for (DV-16). */
export const DEFAULT_ALLOWED_SOURCES: readonly string[] = ['cli', 'vscode', 'desktop', 'web', 'api', 'custom'];
/** Never extracted, whatever the settings say. */
export const NEVER_SOURCES: readonly string[] = ['internal', 'memory_consolidation'];

export interface Settings {
  readonly maxRawMemoriesForConsolidation: number;
  readonly maxUnusedDays: number;
  readonly maxRolloutAgeDays: number;
  readonly maxRolloutsPerStartup: number;
  readonly minRolloutIdleHours: number;
  readonly minRateLimitRemainingPercent: number;
  /** Tokens a user may spend a day (DV-21). */
  readonly dailyTokenBudget: number;
  readonly generateMemories: boolean;
  readonly useMemories: boolean;
  readonly disableOnExternalContext: boolean;
  readonly allowedSources: readonly string[];
  /** MCP servers whose use does not pollute a thread (DV-15). */
  readonly allowedMcpServers: readonly string[];
  readonly extractModel: string | null;
  readonly consolidationModel: string | null;
  /** Tiered rows (DV-13), or the middle cut of upstream's v1. */
  readonly evidence: 'tiered' | 'middle';
}

/** Limits and times that no user changes. */
export const LIMITS = {
  /** Above the longest function run (DV-2). */
  extractionLeaseMs: 20 * MINUTE_MS,
  /** A dead run is taken over within minutes (DV-2). */
  consolidationLeaseMs: 5 * MINUTE_MS,
  heartbeatMs: 60 * SECOND_MS,
  retryDelayMs: HOUR_MS,
  /** After a call that was never answered: three tries then span an outage of six hours. */
  silenceRetryMs: 3 * HOUR_MS,
  retryBudget: 3,
  /** The sixth claim at one watermark is refused (DV-3). */
  maxAttempts: 5,
  consolidationCooldownMs: 6 * HOUR_MS,
  /** A queued thread that waits longer turns the health red (user case A39). */
  staleQueueMs: 24 * HOUR_MS,
  /** Consolidation input that waits longer than this after a run could have started is an alarm (user case A6). */
  staleConsolidationMs: 6 * HOUR_MS,
  /** How long the same idempotency key gets the same answer (storage.md). */
  receiptMs: 24 * HOUR_MS,
  extractionConcurrency: 8,
  sweepEveryMs: 5 * MINUTE_MS,
  /** A due job that was queued or started is not handed on again for this long: a backlog must not be queued by every pass. */
  handedOnMs: 30 * MINUTE_MS,
  pruneBatch: 200,
  /** 70 % of the effective window, or this where the window is not known (behaviours M-05), tokens. */
  evidenceFallbackTokens: 150_000,
  evidenceWindowPercent: 70,
  /** Reasoning counts towards it (user case B24); doubled once when an answer is cut. */
  extractionOutputTokens: 16_384,
  /**
   * One model call, head and body. Node's fetch gives up on a silent server after 5 minutes of its own accord, and three
   * calls must fit an extraction's lease.
   */
  modelTimeoutMs: 280 * SECOND_MS,
  /** What an extraction needs besides its model call: to read the rollout, and to insist on writing down how it ended. */
  extractionReserveMs: 30 * SECOND_MS,
  /** Of that reserve, what an extraction may spend on insisting, all its writes together. */
  insistMs: 20 * SECOND_MS,
  /** With less time than this no call is made: it would hardly be answered, and might be paid for. */
  leastModelCallMs: 30 * SECOND_MS,
  /** Wait after a rate limit for which the provider named no time. */
  rateLimitWaitMs: 15 * MINUTE_MS,
  /**
   * A session without a human message is too short to learn from, and so is one without any tool call whose text is below
   * this, UTF-8 bytes of both sides: a greeting or a test. Low, since "always use pnpm here" is short too.
   */
  shortExchangeBytes: 100,
  summaryTokens: 2_500,
  readToolTokens: 20_000,
  listMaxResults: 2_000,
  searchMaxResults: 200,
  workspaceDiffBytes: 4_194_304,
  noteNameBytes: 128,
  noteSlugBytes: 80,
  noteBytes: 65_536,
  pendingNoteBytes: 1_024,
  extensionRetentionMs: 7 * DAY_MS,
  /** DV-23. */
  agentMaxTurns: 120,
  /** Tokens of one consolidation run, input counted with every call. Below a day's default budget. */
  agentMaxTokens: 1_500_000,
  /** Bytes that the agent may write in one run, each write counted whole: many times what a memory holds. */
  agentWriteBytes: 4 * 1_048_576,
  /** Estimated tokens of a conversation from which on old tool results are dropped. */
  agentConversationTokens: 100_000,
  /** Largest answer of a turn, reasoning included; doubled once when it was too small. */
  agentOutputTokens: 32_000,
  agentCallsPerTurn: 32,
  /** A consolidation whose material, our words included, is estimated at no more tokens is asked for in one call. */
  oneShotTokens: 64_000,
  /** With the heartbeat before it still within the lease: a holder never outlives its lease in one call. */
  agentCallTimeoutMs: 4 * MINUTE_MS,
  /** How often faults of the written files go back to the agent (DV-20). */
  maxRepairs: 2,
  /** One record of a rollout; longer ones are skipped and counted. */
  recordBytes: 16 * 1_048_576,
  /** A file over this in which nothing was recognised is a failure, not an empty session. */
  unrecognisedBytes: 20 * 1_024,
  /** Largest decompressed rollout. */
  rolloutBytes: 4 * 1_073_741_824,
  memoryFileBytes: 256 * 1_024,
  summaryFileBytes: 40 * 1_024,
  skillFileBytes: 64 * 1_024,
  /** A file below extensions/ that is sent by hand. */
  extensionFileBytes: 1_048_576,
  /** Of a file that is sent by hand: what every file system takes, with room for the folders above. */
  editPathBytes: 512,
  editNameBytes: 200,
  /** Text of a diff that one answer carries, and how long it may be at work on it. */
  versionDiffBytes: 4_000_000,
  versionDiffMs: 10_000,
  /** DV-19. */
  shrinkPercent: 40,
  historyDays: 90,
  /** How long the answers of a run are kept with the version that it made. */
  replayMs: 30 * DAY_MS,
  /** A record above this, uncompressed, is not kept: 120 turns with the largest answers are half of it. */
  replayBytes: 32 * 1_048_576,
  /** A file above this is fetched from where it lies: Lambda refuses answers over 6 MB, and bytes grow by a third on the way (user case C16). */
  inlineFileBytes: 4_300_000,
  /** A rollout above this is uploaded to where rollouts lie (api.md). */
  directUploadBytes: 5 * 1_048_576,
  threadPage: 100,
  /** Versions that one answer tells of: each is a read of its own. */
  versionPage: 50,
  /** Two requests for a consolidation within this time are one (api.md). */
  sameRequestMs: 10 * SECOND_MS,
  /** How long an address of a stored object works. */
  linkMs: 5 * MINUTE_MS,
} as const;

/** Puts a number into the range of its rule; what is not a finite number becomes the default. */
export function clampSetting(key: keyof typeof NUMBER_RULES, value: unknown): number {
  const rule = NUMBER_RULES[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) return rule.fallback;
  return Math.min(rule.max, Math.max(rule.min, Math.trunc(value)));
}

export const DEFAULT_SETTINGS: Settings = {
  maxRawMemoriesForConsolidation: NUMBER_RULES.max_raw_memories_for_consolidation.fallback,
  maxUnusedDays: NUMBER_RULES.max_unused_days.fallback,
  maxRolloutAgeDays: NUMBER_RULES.max_rollout_age_days.fallback,
  maxRolloutsPerStartup: NUMBER_RULES.max_rollouts_per_startup.fallback,
  minRolloutIdleHours: NUMBER_RULES.min_rollout_idle_hours.fallback,
  minRateLimitRemainingPercent: NUMBER_RULES.min_rate_limit_remaining_percent.fallback,
  dailyTokenBudget: NUMBER_RULES.daily_token_budget.fallback,
  generateMemories: BOOLEAN_DEFAULTS.generate_memories,
  useMemories: BOOLEAN_DEFAULTS.use_memories,
  disableOnExternalContext: BOOLEAN_DEFAULTS.disable_on_external_context,
  allowedSources: DEFAULT_ALLOWED_SOURCES,
  allowedMcpServers: [],
  extractModel: null,
  consolidationModel: null,
  evidence: 'tiered',
};

/**
 * A user's settings in a deployment with a budget of its own. Who chose exactly the built-in budget counts as having chosen
 * none.
 * @param dailyTokenBudget tokens; null: the deployment has none
 */
export function withDefaultBudget(settings: Settings, dailyTokenBudget: number | null): Settings {
  if (dailyTokenBudget === null || settings.dailyTokenBudget !== DEFAULT_SETTINGS.dailyTokenBudget) return settings;
  return { ...settings, dailyTokenBudget };
}
