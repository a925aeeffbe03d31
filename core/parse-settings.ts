import { InvalidInputError } from './errors.ts';
import {
  BOOLEAN_DEFAULTS,
  clampSetting,
  DEFAULT_SETTINGS,
  NEVER_SOURCES,
  NUMBER_RULES,
  type Settings,
} from './settings.ts';

const MAX_NAMES = 64;
const MAX_NAME_LENGTH = 128;
/** Upstream's former name of a key (behaviours 1.Y, TC-262). */
const ALIASES: Readonly<Record<string, string>> = {
  no_memories_if_mcp_or_web_search: 'disable_on_external_context',
};

type NumberKey = keyof typeof NUMBER_RULES;
type Values = Readonly<Record<string, unknown>>;

/**
 * Reads settings by their wire names: numbers are put into their range, what is not named keeps its value.
 * @param input a parsed JSON value
 * @param base what unnamed keys keep: the stored settings for a change, the defaults for a whole configuration
 * @throws InvalidInputError `settings.not_an_object`, `settings.unknown_key`, `settings.invalid_value` or
 *   `settings.conflict` (a key and its alias with different values); the message names the key and what would be right
 */
export function parseSettings(input: unknown, base: Settings = DEFAULT_SETTINGS): Settings {
  if (!isObject(input)) throw new InvalidInputError('settings.not_an_object', 'settings must be a JSON object');
  const values = resolveAliases(input);
  const number = (key: NumberKey, kept: number): number => (key in values ? readNumber(key, values[key]) : kept);
  const flag = (key: string, kept: boolean): boolean => (key in values ? readFlag(key, values[key]) : kept);
  return {
    maxRawMemoriesForConsolidation: number('max_raw_memories_for_consolidation', base.maxRawMemoriesForConsolidation),
    maxUnusedDays: number('max_unused_days', base.maxUnusedDays),
    maxRolloutAgeDays: number('max_rollout_age_days', base.maxRolloutAgeDays),
    maxRolloutsPerStartup: number('max_rollouts_per_startup', base.maxRolloutsPerStartup),
    minRolloutIdleHours: number('min_rollout_idle_hours', base.minRolloutIdleHours),
    minRateLimitRemainingPercent: number('min_rate_limit_remaining_percent', base.minRateLimitRemainingPercent),
    dailyTokenBudget: number('daily_token_budget', base.dailyTokenBudget),
    generateMemories: flag('generate_memories', base.generateMemories),
    useMemories: flag('use_memories', base.useMemories),
    disableOnExternalContext: flag('disable_on_external_context', base.disableOnExternalContext),
    allowedSources: readSources(values, base.allowedSources),
    allowedMcpServers: readNames(values, 'allowed_mcp_servers', base.allowedMcpServers),
    extractModel: readModel(values, 'extract_model', base.extractModel),
    consolidationModel: readModel(values, 'consolidation_model', base.consolidationModel),
    evidence: readEvidence(values, base.evidence),
  };
}

/** Settings by their wire names; `parseSettings` reads them back. */
export function settingsToJson(settings: Settings): Readonly<Record<string, unknown>> {
  return {
    max_raw_memories_for_consolidation: settings.maxRawMemoriesForConsolidation,
    max_unused_days: settings.maxUnusedDays,
    max_rollout_age_days: settings.maxRolloutAgeDays,
    max_rollouts_per_startup: settings.maxRolloutsPerStartup,
    min_rollout_idle_hours: settings.minRolloutIdleHours,
    min_rate_limit_remaining_percent: settings.minRateLimitRemainingPercent,
    daily_token_budget: settings.dailyTokenBudget,
    generate_memories: settings.generateMemories,
    use_memories: settings.useMemories,
    disable_on_external_context: settings.disableOnExternalContext,
    allowed_sources: settings.allowedSources,
    allowed_mcp_servers: settings.allowedMcpServers,
    extract_model: settings.extractModel,
    consolidation_model: settings.consolidationModel,
    evidence: settings.evidence,
  } satisfies Record<KnownKey, unknown>;
}

type KnownKey =
  | NumberKey
  | keyof typeof BOOLEAN_DEFAULTS
  | 'allowed_sources'
  | 'allowed_mcp_servers'
  | 'extract_model'
  | 'consolidation_model'
  | 'evidence';

const KEYS: ReadonlySet<string> = new Set([
  ...Object.keys(NUMBER_RULES),
  ...Object.keys(BOOLEAN_DEFAULTS),
  'allowed_sources',
  'allowed_mcp_servers',
  'extract_model',
  'consolidation_model',
  'evidence',
]);

function resolveAliases(input: Values): Values {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(input)) {
    const key = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
    if (!KEYS.has(key)) {
      const shown = /^\w{1,64}$/.test(name) ? name : '(not a plain name)';
      throw new InvalidInputError(
        'settings.unknown_key',
        `unknown setting ${shown}; known are ${[...KEYS].join(', ')}`,
        {
          details: { field: shown },
        },
      );
    }
    if (values.has(key) && values.get(key) !== value) {
      throw new InvalidInputError('settings.conflict', `${key} and its alias must not have different values`, {
        details: { field: key },
      });
    }
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

function readNumber(key: NumberKey, value: unknown): number {
  const { min, max } = NUMBER_RULES[key];
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw invalid(key, `must be a number from ${min} to ${max}`);
  return clampSetting(key, value);
}

function readFlag(key: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw invalid(key, 'must be true or false');
  return value;
}

function readSources(values: Values, kept: readonly string[]): readonly string[] {
  const sources = readNames(values, 'allowed_sources', kept);
  const never = sources.find((source) => NEVER_SOURCES.includes(source));
  if (never !== undefined) throw invalid('allowed_sources', `must not name ${never}, which is never extracted`);
  return sources;
}

function readNames(values: Values, key: string, kept: readonly string[]): readonly string[] {
  if (!(key in values)) return kept;
  const value = values[key];
  if (Array.isArray(value) && value.length <= MAX_NAMES && value.every(isName)) return [...new Set(value)];
  throw invalid(key, `must be a list of at most ${MAX_NAMES} texts of 1 to ${MAX_NAME_LENGTH} characters`);
}

function readModel(values: Values, key: string, kept: string | null): string | null {
  if (!(key in values)) return kept;
  const value = values[key];
  if (value === null || isName(value)) return value;
  throw invalid(key, `must be a model name of 1 to ${MAX_NAME_LENGTH} characters, or null for the default`);
}

function readEvidence(values: Values, kept: Settings['evidence']): Settings['evidence'] {
  const value = 'evidence' in values ? values['evidence'] : kept;
  if (value === 'tiered' || value === 'middle') return value;
  throw invalid('evidence', 'must be "tiered" or "middle"');
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH;
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(key: string, rule: string): InvalidInputError {
  return new InvalidInputError('settings.invalid_value', `${key} ${rule}`, { details: { field: key } });
}
