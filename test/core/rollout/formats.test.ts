import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../../core/rollout/formats.ts';
import type { JsonObject } from '../../../core/rollout/json-value.ts';
import { readText, toLines } from '../../support/read-records.ts';

const time = '2026-01-02T03:04:05.678Z';
/** What makes a record one of a format; the other fields of it may be anything. */
const KNOWN: readonly JsonObject[] = [
  { timestamp: time, type: 'session_meta', payload: { id: 'a' } },
  { type: 'message', id: null, role: 'user', content: [] },
  { type: 'user', uuid: 'u', sessionId: 's', timestamp: time },
  { sessionId: 's', projectHash: 'h', startTime: time },
  { type: 'gemini', id: 'm', timestamp: time },
  { type: 'session', id: 'a', timestamp: time, cwd: '/work/app' },
  { type: 'message', timestamp: time, message: { role: 'toolResult' } },
  { type: 'assistant.message', timestamp: time, data: {} },
  { role: 'assistant', content: null },
  { type: 'response_item', payload: [] },
];
const OTHER_KEYS = [
  'message',
  'content',
  'toolCalls',
  'tool_calls',
  'data',
  '$set',
  '$rewindTo',
  'parentId',
  'id',
  'cwd',
];

const parts = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(
    fc.dictionary(
      fc.constantFrom('type', 'text', 'name', 'args', 'result', 'function', 'arguments', 'inlineData', 'id', 'status'),
      fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('toolCall', 'image', 'ask_user')),
    ),
    { maxLength: 3 },
  ),
);

describe('the formats', () => {
  it('each record that tells a format tells one alone', () => {
    for (const record of KNOWN) {
      const kinds = FORMATS.filter((format) => format.recognises(record, 'line')).map((format) => format.agentKind);
      expect([record, kinds.length]).toEqual([record, 1]);
    }
    expect(new Set(FORMATS.map((format) => format.agentKind)).size).toBe(FORMATS.length);
  });

  it('survive records of any shape, and read them the same whatever the chunks are', async () => {
    const records = fc.array(
      fc
        .tuple(fc.constantFrom(...KNOWN), fc.dictionary(fc.constantFrom(...OTHER_KEYS), parts), fc.boolean())
        .map(([known, others, wins]) => (wins ? { ...others, ...known } : { ...known, ...others })),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 200 }), async (list, size) => {
        for (const text of [toLines(...list), JSON.stringify(list), JSON.stringify({ messages: list }, null, 1)]) {
          expect(await readText(text, size)).toEqual(await readText(text));
        }
      }),
      { numRuns: 300 },
    );
  });
});
