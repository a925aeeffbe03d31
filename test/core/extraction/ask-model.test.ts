import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { type Ask, askModel } from '../../../core/extraction/ask-model.ts';
import { insistWithin } from '../../../core/extraction/insist.ts';
import type { ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import { HOUR_MS, MINUTE_MS } from '../../../core/time.ts';
import { BookedLedger } from '../../doubles/booked-ledger.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import { saying, TURN_USAGE } from '../agent/agent-script.ts';
import { NOW } from './sample-session.ts';

const GOOD = saying(JSON.stringify({ raw_memory: 'm', rollout_summary: 's', rollout_slug: 'x' }));
const EMPTY = saying('{"raw_memory":"","rollout_summary":"","rollout_slug":""}');
const INVALID = saying('nothing to say');
const LONG: ModelReply = { kind: 'too_long' };
const CUT: ModelReply = { kind: 'incomplete', reason: 'length', usage: TURN_USAGE };

async function ask(script: readonly ModelReply[], more: Partial<Ask> & { refuseFrom?: number } = {}) {
  const model = new ScriptedModel(script);
  const ledger = new BookedLedger();
  ledger.refuseFrom = more.refuseFrom ?? Number.POSITIVE_INFINITY;
  const built: (readonly [number | null, number])[] = [];
  const build = async (evidenceTokens: number | null, maxOutputTokens: number): Promise<ModelRequest> => {
    built.push([evidenceTokens, maxOutputTokens]);
    return {
      purpose: 'extraction',
      model: 'm-1',
      instructions: 'i'.repeat(40),
      items: [{ kind: 'message', role: 'user', text: 'e'.repeat(4 * (evidenceTokens ?? 101)) }],
      reasoningEffort: 'low',
      maxOutputTokens,
      timeoutMs: 1,
    };
  };
  const { end, usage } = await askModel(
    { model, ledger, now: () => NOW, insist: insistWithin(new FixedClock(NOW)) },
    {
      userKey: 'u',
      threadId: 't',
      runId: 't:1:token',
      model: 'm-1',
      dailyTokenBudget: 9_000,
      maxOutputTokens: 50,
      evidenceTokens: 101,
      build,
      ...more,
    },
  );
  model.assertDone();
  return { end, usage, ledger, built };
}

describe('askModel', () => {
  it('reserves input and largest output before the call, and settles what the provider reported', async () => {
    const { end, usage, ledger } = await ask([GOOD]);
    expect(end).toEqual({
      kind: 'done',
      outcome: { kind: 'extracted' },
      texts: { rawMemory: 'm', rolloutSummary: 's', slug: 'x' },
    });
    expect(usage).toEqual(TURN_USAGE);
    expect(ledger.reservations).toEqual([
      {
        callId: 't:1:token:1',
        purpose: 'extraction',
        subject: 't',
        model: 'm-1',
        now: NOW,
        tokens: 10 + 101 + 50,
        dailyLimit: 9_000,
      },
    ]);
    expect([...ledger.settled]).toEqual([['t:1:token:1', TURN_USAGE]]);
  });

  it.each<[string, ModelReply, object]>([
    ['no output', EMPTY, { kind: 'done', outcome: { kind: 'no_output' }, texts: null }],
    [
      'TC-087 an invalid answer: failed, retry after an hour',
      INVALID,
      { outcome: { kind: 'failed', reason: 'model_invalid' }, retry: HOUR_MS, spendsRetry: true },
    ],
    [
      'a refusal: never again',
      { kind: 'refused', usage: TURN_USAGE },
      { outcome: { kind: 'failed', reason: 'model_refused' }, retry: 'never' },
    ],
    [
      'a content filter: never again',
      { kind: 'incomplete', reason: 'filter', usage: null },
      { outcome: { kind: 'failed', reason: 'filtered' }, retry: 'never' },
    ],
    [
      'a rate limit: deferred until it resets, at no cost',
      { kind: 'rate_limited', retryAfterMs: 7_000 },
      { outcome: { kind: 'deferred', reason: 'rate_limit' }, retry: 7_000, spendsRetry: false },
    ],
    [
      'a rate limit without a time: a quarter of an hour',
      { kind: 'rate_limited', retryAfterMs: null },
      { outcome: { kind: 'deferred', reason: 'rate_limit' }, retry: 15 * MINUTE_MS, spendsRetry: false },
    ],
    [
      'no answer: retried late, since it may have been paid for',
      { kind: 'unavailable', code: 'timeout' },
      { outcome: { reason: 'model_unavailable', detail: 'timeout' }, retry: 3 * HOUR_MS, spendsRetry: true },
    ],
    [
      'a provider that turns everybody away: no retry is spent, however long it lasts',
      { kind: 'unavailable', code: 'http_503' },
      { outcome: { reason: 'model_unavailable', detail: 'http_503' }, retry: HOUR_MS, spendsRetry: false },
    ],
    [
      'a wrong setting: due again as soon as it is repaired, at no cost',
      { kind: 'misconfigured', code: 'model_not_found' },
      { outcome: { reason: 'configuration', detail: 'model_not_found' }, retry: 0, spendsRetry: false },
    ],
  ])('ends with %s', async (_case, reply, expected) => {
    expect((await ask([reply])).end).toMatchObject(expected);
  });

  it.each<[ModelReply, object | null]>([
    [{ kind: 'refused', usage: TURN_USAGE }, TURN_USAGE],
    [{ kind: 'incomplete', reason: 'filter', usage: null }, null],
    [{ kind: 'unavailable', code: 'timeout' }, null],
    [{ kind: 'unavailable', code: 'connection_lost' }, null],
    [{ kind: 'unavailable', code: 'http_503' }, NO_USAGE],
    [{ kind: 'rate_limited', retryAfterMs: null }, NO_USAGE],
    [{ kind: 'misconfigured', code: 'x' }, NO_USAGE],
  ])('settles what %j may have cost', async (reply, settled) => {
    const { ledger } = await ask([reply]);
    expect(ledger.settled.get('t:1:token:1')).toEqual(settled);
  });

  it('halves the evidence once when it does not fit, counts both calls, and notes the limit', async () => {
    const { end, built, ledger } = await ask([LONG, GOOD]);
    expect(built).toEqual([
      [null, 50],
      [50, 50],
    ]);
    expect(end.outcome).toEqual({ kind: 'extracted', detail: 'evidence_tokens=50 model=m-1' });
    expect(ledger.reservations.map((each) => each.callId)).toEqual(['t:1:token:1', 't:1:token:2']);
    expect(ledger.settled.get('t:1:token:1')).toEqual(NO_USAGE);
  });

  it('gives up when half does not fit either, and leaves a smaller limit for the next run', async () => {
    const { end } = await ask([LONG, LONG]);
    expect(end).toMatchObject({
      outcome: { kind: 'failed', reason: 'too_large', detail: expect.stringContaining('evidence_tokens=25 model=m-1') },
      retry: HOUR_MS,
    });
  });

  it('doubles the output cap once when the answer was cut, and sums the usage', async () => {
    const { end, built, usage } = await ask([CUT, GOOD]);
    expect(built).toEqual([
      [null, 50],
      [null, 100],
    ]);
    expect(end.outcome).toEqual({ kind: 'extracted' });
    expect(usage?.totalTokens).toBe(2 * TURN_USAGE.totalTokens);
  });

  it('fails when the doubled answer is cut too', async () => {
    const { end } = await ask([CUT, CUT]);
    expect(end).toMatchObject({
      outcome: { kind: 'failed', reason: 'model_invalid', detail: 'cut at 100 output tokens' },
    });
  });

  it('makes three calls at the very most', async () => {
    const { end, built } = await ask([LONG, CUT, CUT]);
    expect(built).toHaveLength(3);
    expect(end.outcome).toMatchObject({ reason: 'model_invalid' });
  });

  it('defers to the next UTC midnight when the budget is used up, without a call and without spending a retry', async () => {
    const { end, ledger } = await ask([], { refuseFrom: 0 });
    expect(end).toEqual({
      kind: 'failed',
      outcome: { kind: 'deferred', reason: 'budget', detail: '7 of 9000 tokens of the day used' },
      retry: 12 * HOUR_MS,
      spendsRetry: false,
    });
    expect(ledger.settled.size).toBe(0);
  });

  it('spends a retry when the budget ends after a paid call, so that no day pays for it again and again', async () => {
    const { end } = await ask([CUT], { refuseFrom: 1 });
    expect(end).toMatchObject({ outcome: { kind: 'deferred', reason: 'budget' }, spendsRetry: true });
  });
});
