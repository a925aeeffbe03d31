import { describe, expect, it } from 'vitest';
import type { ModelClient, ModelReply, ModelRequest } from '../../core/ports/model-client.ts';

/** The ends that a provider can bring about. */
export type ModelEnd =
  | 'text'
  | 'tools'
  | 'refused'
  | 'length'
  | 'filter'
  | 'too_long'
  | 'rate_limited'
  | 'unavailable'
  | 'misconfigured';

/** A client whose provider ends its next calls in these ways, in this order. */
export type OpenModel = (
  ...ends: readonly ModelEnd[]
) => Promise<{ readonly client: ModelClient; close(): Promise<void> }>;

const REQUEST: ModelRequest = {
  purpose: 'consolidation',
  model: 'some-model',
  instructions: 'Answer.',
  items: [{ kind: 'message', role: 'user', text: 'question' }],
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
  reasoningEffort: 'low',
  maxOutputTokens: 100,
  timeoutMs: 5_000,
};

/** Every model client keeps to this. The providers of all grounds answer `hello`, or call `read` with `{"path":"a"}` as `call-1`. */
export function modelClientContract(name: string, open: OpenModel): void {
  const ask = async (ends: readonly ModelEnd[], check: (client: ModelClient) => Promise<void>): Promise<void> => {
    const { client, close } = await open(...ends);
    await check(client);
    await close();
  };

  describe(`model client: ${name}`, () => {
    it('answers a text with what to append to the conversation and what it cost', () =>
      ask(['text'], async (client) => {
        const reply = await client.respond(REQUEST);
        expect(reply).toMatchObject({ kind: 'reply', text: 'hello', toolCalls: [] });
        if (reply.kind !== 'reply') return;
        expect(reply.items).toContainEqual({ kind: 'message', role: 'assistant', text: 'hello' });
        expect(reply.usage?.totalTokens).toBeGreaterThanOrEqual(0);
      }));

    it('answers tool calls whose items can be sent back with their results', () =>
      ask(['tools', 'text'], async (client) => {
        const reply = await client.respond(REQUEST);
        const call = { callId: 'call-1', name: 'read', arguments: '{"path":"a"}' };
        expect(reply).toMatchObject({ kind: 'reply', toolCalls: [call] });
        if (reply.kind !== 'reply') return;
        expect(reply.items).toContainEqual({ kind: 'tool_call', ...call });
        const result = { kind: 'tool_result', callId: 'call-1', text: '{}' } as const;
        const next = await client.respond({ ...REQUEST, items: [...REQUEST.items, ...reply.items, result] });
        expect(next).toMatchObject({ kind: 'reply', text: 'hello' });
      }));

    it.each<[ModelEnd, Partial<ModelReply>]>([
      ['refused', { kind: 'refused' }],
      ['length', { kind: 'incomplete', reason: 'length' }],
      ['filter', { kind: 'incomplete', reason: 'filter' }],
      ['too_long', { kind: 'too_long' }],
      ['rate_limited', { kind: 'rate_limited' }],
      ['unavailable', { kind: 'unavailable' }],
      ['misconfigured', { kind: 'misconfigured' }],
    ])('%s is a value, never an exception, and the next call is not touched by it', (end, wanted) =>
      ask([end, 'text'], async (client) => {
        expect(await client.respond(REQUEST)).toMatchObject(wanted);
        expect(await client.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'hello' });
      }),
    );

    it('leaves the request as it was', () =>
      ask(['text'], async (client) => {
        const before = structuredClone(REQUEST);
        await client.respond(REQUEST);
        expect(REQUEST).toEqual(before);
      }));
  });
}
