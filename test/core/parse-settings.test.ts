import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettings, settingsToJson } from '../../core/parse-settings.ts';
import { DEFAULT_SETTINGS, NUMBER_RULES } from '../../core/settings.ts';

const NAME = fc.string({ minLength: 1, maxLength: 128 });
const NUMBERS = Object.fromEntries(
  Object.entries(NUMBER_RULES).map(([key, { min, max }]) => [
    key,
    fc.double({ min: min - 5, max: max + 5, noNaN: true }),
  ]),
);
/** Any change that a person may send. */
const CHANGE = fc.record(
  {
    ...NUMBERS,
    generate_memories: fc.boolean(),
    use_memories: fc.boolean(),
    disable_on_external_context: fc.boolean(),
    allowed_sources: fc.array(NAME, { maxLength: 64 }),
    allowed_mcp_servers: fc.array(NAME, { maxLength: 64 }),
    extract_model: fc.option(NAME),
    consolidation_model: fc.option(NAME),
    evidence: fc.constantFrom('tiered', 'middle'),
  },
  { requiredKeys: [] },
);

describe('settings by their wire names', () => {
  it('are the defaults where nothing is said', () => {
    expect(parseSettings({})).toEqual(DEFAULT_SETTINGS);
  });

  it.each<[string, keyof typeof DEFAULT_SETTINGS, readonly [number, number][]]>([
    [
      'max_raw_memories_for_consolidation',
      'maxRawMemoriesForConsolidation',
      [
        [0, 1],
        [256, 256],
        [5_000, 4_096],
      ],
    ],
    [
      'max_rollouts_per_startup',
      'maxRolloutsPerStartup',
      [
        [0, 1],
        [2, 2],
        [500, 128],
      ],
    ],
    [
      'min_rollout_idle_hours',
      'minRolloutIdleHours',
      [
        [0, 1],
        [6, 6],
        [72, 48],
      ],
    ],
    [
      'max_rollout_age_days',
      'maxRolloutAgeDays',
      [
        [-1, 0],
        [10, 10],
        [365, 90],
      ],
    ],
    [
      'max_unused_days',
      'maxUnusedDays',
      [
        [-3, 0],
        [30, 30],
        [400, 365],
      ],
    ],
    [
      'min_rate_limit_remaining_percent',
      'minRateLimitRemainingPercent',
      [
        [-1, 0],
        [25, 25],
        [101, 100],
      ],
    ],
    [
      'daily_token_budget',
      'dailyTokenBudget',
      [
        [-1, 0],
        [7, 7],
        [2e9, 1e9],
      ],
    ],
  ])('TC-261 %s is put into its range', (key, field, cases) => {
    for (const [given, expected] of cases) expect(parseSettings({ [key]: given })[field]).toBe(expected);
  });

  it('TC-262 know a key by its former name', () => {
    expect(parseSettings({ no_memories_if_mcp_or_web_search: true }).disableOnExternalContext).toBe(true);
    expect(parseSettings({ no_memories_if_mcp_or_web_search: true, disable_on_external_context: true })).toEqual(
      parseSettings({ disable_on_external_context: true }),
    );
  });

  it('keep what a change does not name', () => {
    const stored = parseSettings({
      generate_memories: false,
      use_memories: false,
      allowed_sources: ['exec', 'exec'],
      allowed_mcp_servers: ['docs'],
      extract_model: 'm1',
      consolidation_model: 'm2',
      evidence: 'middle',
      max_unused_days: 3,
    });
    expect(stored).toMatchObject({
      allowedSources: ['exec'],
      extractModel: 'm1',
      evidence: 'middle',
      useMemories: false,
    });
    expect(parseSettings({}, stored)).toEqual(stored);
    expect(parseSettings({ extract_model: null, max_unused_days: 4 }, stored)).toEqual({
      ...stored,
      extractModel: null,
      maxUnusedDays: 4,
    });
  });

  it('are the same after they were written and read back, whatever was set', () => {
    fc.assert(
      fc.property(CHANGE, CHANGE, (change, base) => {
        const settings = parseSettings(change);
        const written: unknown = JSON.parse(JSON.stringify(settingsToJson(settings)));
        expect(parseSettings(written)).toEqual(settings);
        expect(parseSettings(written, parseSettings(base))).toEqual(settings); // every key is written
      }),
    );
  });

  it.each<[string, unknown, string, string]>([
    ['a list', [], 'settings.not_an_object', 'object'],
    ['null', null, 'settings.not_an_object', 'object'],
    ['an unknown key', { max_age: 3 }, 'settings.unknown_key', 'max_age'],
    ['a key of every object', { toString: 3 }, 'settings.unknown_key', 'toString'],
    ['a camelCase key', { maxUnusedDays: 3 }, 'settings.unknown_key', 'maxUnusedDays'],
    [
      'a number as text',
      { max_unused_days: '3' },
      'settings.invalid_value',
      'max_unused_days must be a number from 0 to 365',
    ],
    ['no number', { max_unused_days: Number.NaN }, 'settings.invalid_value', 'max_unused_days'],
    ['a flag as number', { use_memories: 1 }, 'settings.invalid_value', 'use_memories must be true or false'],
    ['one source', { allowed_sources: 'cli' }, 'settings.invalid_value', 'allowed_sources'],
    ['an empty name', { allowed_sources: [''] }, 'settings.invalid_value', 'allowed_sources'],
    ['65 names', { allowed_mcp_servers: Array.from({ length: 65 }, () => 'a') }, 'settings.invalid_value', '64'],
    ['a source that is never taken', { allowed_sources: ['internal'] }, 'settings.invalid_value', 'internal'],
    ['a model without a name', { extract_model: '' }, 'settings.invalid_value', 'extract_model'],
    ['a model name too long', { consolidation_model: 'm'.repeat(129) }, 'settings.invalid_value', '128'],
    ['another way of evidence', { evidence: 'end' }, 'settings.invalid_value', 'evidence'],
    [
      'a key and its alias that differ',
      { disable_on_external_context: false, no_memories_if_mcp_or_web_search: true },
      'settings.conflict',
      'disable_on_external_context',
    ],
  ])('refuse %s and name it', (_what, input, code, named) => {
    expect(() => parseSettings(input)).toThrow(
      expect.objectContaining({ kind: 'invalid_input', code, message: expect.stringContaining(named) }),
    );
  });

  it('refuse a key from a hostile document without repeating it', () => {
    expect(() => parseSettings(JSON.parse('{"__proto__": 1}'))).toThrow(/unknown setting __proto__/);
    expect(() => parseSettings({ 'a\nb': 1 })).toThrow(/not a plain name/);
  });
});
