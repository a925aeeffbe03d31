import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import { DAY_MS, toDay } from '../../../core/time.ts';
import type { ScriptEntry } from '../../doubles/scripted-model.ts';
import { NOW } from '../../support/sample-state.ts';
import { finishing, listing, saying, TURN_USAGE, writing } from '../agent/agent-script.ts';
import { benchWith, type ConsolidationBench, USER } from './consolidation-bench.ts';

const costing = (reply: ModelReply, totalTokens: number): ModelReply =>
  'usage' in reply ? { ...reply, usage: { ...TURN_USAGE, totalTokens } } : reply;
const usedToday = async (bench: ConsolidationBench): Promise<number> =>
  (await bench.ledger.day(USER, toDay(bench.clock.now()))).usage.totalTokens;
/** A cooldown, a waiting retry and a used-up retry budget do not stand in the way of what a person asks for. */
const retry = (bench: ConsolidationBench, script: readonly ScriptEntry[], dailyTokenBudget: number) =>
  bench.run(script, { settings: { ...DEFAULT_SETTINGS, dailyTokenBudget } });

interface BadEnd {
  readonly code: string;
  readonly script: readonly ModelReply[];
}

const ENDS: readonly BadEnd[] = [
  { code: 'agent.loop', script: [listing('.'), listing('.'), listing('.')] },
  { code: 'agent.no_tool_call', script: [saying('all done'), saying('really')] },
  { code: 'agent.token_budget', script: [costing(listing('.'), LIMITS.agentMaxTokens)] },
  {
    code: 'artifacts.invalid',
    script: [writing('MEMORY.md', 'garbage'), finishing('1'), finishing('2'), finishing('3')],
  },
  { code: 'model.refused', script: [{ kind: 'refused', usage: TURN_USAGE }] },
  { code: 'model.unavailable', script: [{ kind: 'unavailable', code: 'timeout' }] },
];

describe('the budget of the day', () => {
  it.each(ENDS)('counts every call of a run that ended as $code and is begun again', async ({ code, script }) => {
    const bench = await benchWith('t1');
    expect(await retry(bench, script, 100_000_000)).toMatchObject({ kind: 'failed', code });
    const once = await usedToday(bench);
    expect(once).toBeGreaterThan(0);
    expect(await retry(bench, script, 100_000_000)).toMatchObject({ kind: 'failed', code });
    expect(await usedToday(bench)).toBe(2 * once);
    expect(await bench.ledger.day(USER, toDay(NOW))).toMatchObject({ calls: 2 * script.length, reservedTokens: 0 });
  });

  it('ends the retries of a run that never gets anywhere, until the next day', async () => {
    const bench = await benchWith('t1');
    const turn = costing(listing('.'), 50_000);
    expect(await retry(bench, [turn, turn, turn], 200_000)).toMatchObject({ code: 'agent.loop' });
    expect(await retry(bench, [turn], 200_000)).toMatchObject({
      kind: 'failed',
      code: 'budget.daily_tokens',
      turns: 2,
    });
    expect(await retry(bench, [], 200_000)).toMatchObject({ kind: 'failed', code: 'budget.daily_tokens' });
    expect(await usedToday(bench)).toBe(200_000);
    const job = await bench.jobs.get(USER, { kind: 'consolidation' });
    expect(job).toMatchObject({
      status: 'error',
      lastError: 'budget.daily_tokens',
      retryAt: NOW - (NOW % DAY_MS) + DAY_MS,
    });
    bench.clock.set(job?.retryAt ?? NOW);
    const [first, ...rest] = bench.goodScript('t1');
    const settings = { ...DEFAULT_SETTINGS, dailyTokenBudget: 200_000 };
    const next = await bench.run([first ?? finishing(), ...rest], { settings, immediate: false });
    expect(next).toMatchObject({ kind: 'published' });
  });
});
