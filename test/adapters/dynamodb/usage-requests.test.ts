import { describe, expect, it } from 'vitest';
import {
  dayUsage,
  openAttribute,
  readDay,
  reserveCall,
  settleCall,
} from '../../../adapters/dynamodb/usage-requests.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { toDay } from '../../../core/time.ts';
import { NOW } from '../../support/sample-state.ts';

const CALL = { callId: 'run/1', purpose: 'extraction', subject: 't', model: 'm', now: NOW } as const;
const DAY = toDay(NOW);
const KEY = { pk: 'user#u', sk: `usage#${DAY}` };
const OPEN = openAttribute('run/1');

describe('a reservation', () => {
  it('is one update of the day: once an id, and only while it fits', () => {
    expect(reserveCall('u', { ...CALL, tokens: 60, dailyLimit: 100 })).toEqual({
      Key: KEY,
      UpdateExpression: 'SET #open = :open, #expires_at = :expires_at ADD #committed :tokens, #calls :one',
      ConditionExpression:
        'attribute_not_exists(#open) AND (attribute_not_exists(#committed) OR #committed <= :most_before)',
      ExpressionAttributeNames: {
        '#open': OPEN,
        '#expires_at': 'expires_at',
        '#committed': 'committed',
        '#calls': 'calls',
      },
      ExpressionAttributeValues: {
        ':open': { tokens: 60, started_at: NOW },
        ':expires_at': Date.parse(`${DAY}T00:00:00Z`) / 1_000 + 91 * 86_400,
        ':tokens': 60,
        ':one': 1,
        ':most_before': 40,
      },
    });
  });

  it('takes a negative estimate as nothing', () => {
    const values = reserveCall('u', { ...CALL, tokens: -5, dailyLimit: 100 }).ExpressionAttributeValues;
    expect(values).toMatchObject({ ':tokens': 0, ':open': { tokens: 0 }, ':most_before': 100 });
  });

  it('has an attribute that does not tell the id and is another for each', () => {
    expect(OPEN).toMatch(/^open#[0-9a-f]{32}$/);
    expect(openAttribute('run/2')).not.toBe(OPEN);
  });
});

it('a settlement is one update that gives back what was not used, only while the call is open as it was read', () => {
  const used = { ...NO_USAGE, inputTokens: 30, cachedInputTokens: 10, outputTokens: 5, totalTokens: 20 };
  expect(settleCall('u', DAY, { callId: 'run/1', reserved: 60 }, used)).toEqual({
    Key: KEY,
    UpdateExpression:
      'REMOVE #open ADD #committed :change, #input_tokens :input_tokens, ' +
      '#cached_input_tokens :cached_input_tokens, #cache_write_input_tokens :cache_write_input_tokens, ' +
      '#output_tokens :output_tokens, #reasoning_output_tokens :reasoning_output_tokens, #total_tokens :total_tokens',
    ConditionExpression: '#open.#tokens = :reserved',
    ExpressionAttributeNames: {
      '#open': OPEN,
      '#tokens': 'tokens',
      '#committed': 'committed',
      '#input_tokens': 'input_tokens',
      '#cached_input_tokens': 'cached_input_tokens',
      '#cache_write_input_tokens': 'cache_write_input_tokens',
      '#output_tokens': 'output_tokens',
      '#reasoning_output_tokens': 'reasoning_output_tokens',
      '#total_tokens': 'total_tokens',
    },
    ExpressionAttributeValues: {
      ':reserved': 60,
      ':change': 35 - 60, // input and output, where they say more than the total
      ':input_tokens': 30,
      ':cached_input_tokens': 10,
      ':cache_write_input_tokens': 0,
      ':output_tokens': 5,
      ':reasoning_output_tokens': 0,
      ':total_tokens': 20,
    },
  });
});

describe("a day's item", () => {
  it('reads as its counters and what its open calls have reserved', () => {
    const stored = readDay({
      ...KEY,
      committed: 95,
      calls: 3,
      input_tokens: 30,
      total_tokens: 35,
      [OPEN]: { tokens: 60, started_at: NOW },
      [openAttribute('run/2')]: { tokens: 0, started_at: NOW },
      expires_at: 100,
    });
    expect(stored).toMatchObject({ committed: 95, expiresAt: 100_000 });
    expect(dayUsage(DAY, stored)).toEqual({
      day: DAY,
      calls: 3,
      usage: { ...NO_USAGE, inputTokens: 30, totalTokens: 35 },
      reservedTokens: 60,
    });
  });

  it.each([
    ['committed', 'secret content', 'committed'],
    ['calls', 1.5, 'calls'],
    [OPEN, { tokens: 'secret content', started_at: 1 }, 'open'],
  ])('that has a bad %s is a defect that names it and quotes nothing', (attribute, value, named) => {
    const failure = { code: 'table.item_unreadable', details: { item: 'usage', attribute: named } };
    expect(() => readDay({ ...KEY, [attribute]: value })).toThrow(expect.objectContaining(failure));
  });
});
