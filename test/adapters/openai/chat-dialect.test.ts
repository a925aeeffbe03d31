import { afterEach, describe, expect, it } from 'vitest';
import { OpenAiModelClient } from '../../../adapters/openai/openai-model-client.ts';
import type { ModelRequest } from '../../../core/ports/model-client.ts';
import {
  errorAnswer,
  type ScriptedAnswer,
  type ScriptedOpenAi,
  startScriptedOpenAi,
} from '../../support/scripted-openai.ts';

const REQUEST: ModelRequest = {
  purpose: 'consolidation',
  model: 'local-model',
  instructions: 'Work.',
  items: [
    { kind: 'message', role: 'user', text: 'go' },
    { kind: 'opaque', json: '{"type":"reasoning"}' },
    { kind: 'message', role: 'assistant', text: 'reading' },
    { kind: 'tool_call', callId: 'c1', name: 'read', arguments: '{"path":"a"}' },
    { kind: 'tool_call', callId: 'c2', name: 'read', arguments: '{"path":"b"}' },
    { kind: 'tool_result', callId: 'c1', text: 'A' },
    { kind: 'tool_result', callId: 'c2', text: 'B' },
    { kind: 'tool_call', callId: 'c3', name: 'finish', arguments: '{}' },
    { kind: 'tool_result', callId: 'c3', text: 'no' },
  ],
  output: { name: 'answer', schema: { type: 'object' } },
  tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
  reasoningEffort: 'medium',
  maxOutputTokens: 50,
  timeoutMs: 5_000,
};

let server: ScriptedOpenAi | undefined;
afterEach(async () => {
  const open = server;
  server = undefined;
  await open?.close();
});

async function respond(script: readonly ScriptedAnswer[]) {
  server = await startScriptedOpenAi(script);
  return new OpenAiModelClient({ apiKey: 'key', baseUrl: server.baseUrl, apiMode: 'chat' }).respond(REQUEST);
}

function chatAnswer(message: object, more: object = {}): ScriptedAnswer {
  return {
    json: {
      model: 'local-model-q4',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message }, ...more }],
      usage: { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 2 } },
    },
  };
}

describe('OpenAiModelClient over Chat Completions', () => {
  it('puts the calls of one turn into one message and answers them in order', async () => {
    await respond([chatAnswer({ content: 'done' })]);
    const call = (id: string, name: string, args: string) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    });
    expect(server?.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server?.requests[0]?.body).toEqual({
      model: 'local-model',
      messages: [
        { role: 'system', content: 'Work.' },
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: 'reading',
          tool_calls: [call('c1', 'read', '{"path":"a"}'), call('c2', 'read', '{"path":"b"}')],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'A' },
        { role: 'tool', tool_call_id: 'c2', content: 'B' },
        { role: 'assistant', content: null, tool_calls: [call('c3', 'finish', '{}')] },
        { role: 'tool', tool_call_id: 'c3', content: 'no' },
      ],
      max_completion_tokens: 50,
      store: false,
      prompt_cache_key: 'stillroom-consolidation',
      service_tier: 'flex',
      reasoning_effort: 'medium',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
      tools: [
        {
          type: 'function',
          function: { name: 'read', description: 'Reads.', parameters: { type: 'object' }, strict: true },
        },
      ],
    });
  });

  it('reads text, tool calls and usage, and drops printed reasoning', async () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }];
    expect(await respond([chatAnswer({ content: '<think>a } b</think>\n\nhello', tool_calls: calls })])).toEqual({
      kind: 'reply',
      text: 'hello',
      toolCalls: [{ callId: 'c1', name: 'read', arguments: '{}' }],
      items: [
        { kind: 'message', role: 'assistant', text: 'hello' },
        { kind: 'tool_call', callId: 'c1', name: 'read', arguments: '{}' },
      ],
      usage: {
        inputTokens: 7,
        cachedInputTokens: 2,
        cacheWriteInputTokens: 0,
        outputTokens: 1,
        reasoningOutputTokens: 0,
        totalTokens: 8,
      },
      model: 'local-model-q4',
      rateLimits: [],
    });
  });

  it.each<[string, ScriptedAnswer, object]>([
    ['a refusal', chatAnswer({ content: null, refusal: 'no' }), { kind: 'refused' }],
    [
      'a cut answer',
      chatAnswer({ content: '{' }, { finish_reason: 'length' }),
      { kind: 'incomplete', reason: 'length' },
    ],
    [
      'a filter',
      chatAnswer({ content: '' }, { finish_reason: 'content_filter' }),
      { kind: 'incomplete', reason: 'filter' },
    ],
    ['no choices', { json: { choices: [] } }, { kind: 'unavailable', code: 'response_not_understood' }],
  ])('maps %s', async (_case, answer, expected) => {
    expect(await respond([answer])).toMatchObject(expected);
  });

  it('comes down to what an old server knows', async () => {
    const unknown = (name: string) => errorAnswer(400, { message: `Unrecognized request argument supplied: ${name}` });
    const parts = ['max_completion_tokens', 'store', 'prompt_cache_key', 'service_tier', 'reasoning_effort'];
    const reply = await respond([...parts.map(unknown), chatAnswer({ content: 'ok' })]);
    expect(reply).toMatchObject({ kind: 'reply', text: 'ok' });
    expect(Object.keys(server?.requests.at(-1)?.body ?? {}).sort()).toEqual(
      ['max_tokens', 'messages', 'model', 'response_format', 'tools'].sort(),
    );
  });
});
