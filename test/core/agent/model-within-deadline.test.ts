import { describe, expect, it } from 'vitest';
import { ModelWithinDeadline } from '../../../core/agent/model-within-deadline.ts';
import { paidUsage } from '../../../core/agent/paid-usage.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import type { ModelReply, ModelRequest } from '../../../core/ports/model-client.ts';
import { ScriptedModel, textReply } from '../../doubles/scripted-model.ts';

const REQUEST: ModelRequest = {
  purpose: 'extraction',
  model: 'model-1',
  instructions: 'Answer.',
  items: [],
  reasoningEffort: 'low',
  maxOutputTokens: 10,
  timeoutMs: 280_000,
};
const OUT_OF_TIME: ModelReply = { kind: 'unavailable', code: 'model.out_of_time' };

async function askWith(remainingMs: number): Promise<{ reply: ModelReply; timeouts: readonly number[] }> {
  const inner = new ScriptedModel();
  inner.expect(textReply('hello'));
  const model = new ModelWithinDeadline(inner, { remainingMs: () => remainingMs, reserveMs: 30_000, leastMs: 10_000 });
  const reply = await model.respond(REQUEST);
  return { reply, timeouts: inner.requests.map((request) => request.timeoutMs) };
}

describe('ModelWithinDeadline', () => {
  it.each([
    [900_000, 280_000],
    [310_000, 280_000],
    [309_999.9, 279_999],
    [100_000, 70_000],
    [40_000, 10_000],
  ])('C37 with %i ms left a call gets %i ms, its own limit at most', async (left, timeoutMs) => {
    const { reply, timeouts } = await askWith(left);
    expect(reply.kind).toBe('reply');
    expect(timeouts).toEqual([timeoutMs]);
  });

  it.each([39_999, 30_000, 0, -5])('makes no call with %i ms left, and none is paid for', async (left) => {
    const { reply, timeouts } = await askWith(left);
    expect(reply).toEqual(OUT_OF_TIME);
    expect(timeouts).toEqual([]);
    expect(paidUsage(reply)).toEqual(NO_USAGE);
  });

  it('asks for the time left before each call', async () => {
    const inner = new ScriptedModel([textReply('a'), textReply('b')]);
    let left = 200_000;
    const model = new ModelWithinDeadline(inner, { remainingMs: () => left, reserveMs: 0, leastMs: 1 });
    await model.respond(REQUEST);
    left = 50_000;
    await model.respond(REQUEST);
    expect(inner.requests.map((request) => request.timeoutMs)).toEqual([200_000, 50_000]);
    inner.assertDone();
  });
});
