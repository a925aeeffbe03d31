import { afterEach, describe, expect, it } from 'vitest';
import { OpenAiModelClient } from '../../../adapters/openai/openai-model-client.ts';
import { readUsage } from '../../../adapters/openai/read-usage.ts';
import { addUsage, NO_USAGE } from '../../../core/agent/token-usage.ts';
import type { ModelRequest } from '../../../core/ports/model-client.ts';
import { completedAnswer, type ScriptedOpenAi, startScriptedOpenAi } from '../../support/scripted-openai.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const REQUEST: ModelRequest = {
  purpose: 'extraction',
  model: 'm',
  instructions: 'Read.',
  items: [],
  reasoningEffort: 'low',
  maxOutputTokens: 100,
  timeoutMs: 5_000,
};

describe('readUsage', () => {
  it.each([1.5, 1e20, Number.NaN, Number.POSITIVE_INFINITY, -1, '12', true, [], {}])(
    'is not told where a number is %j',
    (bad) => {
      const good = { input: 10, cached: 2, cacheWrite: 1, output: 3, reasoning: 1, total: 13 };
      expect(readUsage(good)).toMatchObject({ inputTokens: 10, totalTokens: 13 });
      for (const name of Object.keys(good)) expect(readUsage({ ...good, [name]: bad })).toBeNull();
    },
  );

  it.each([
    ['nothing', {}],
    ['details alone', { cached: 4, reasoning: 2 }],
    ['input alone', { input: 10 }],
    ['output alone', { output: 10 }],
    ['only zeros', { input: 0, output: 0, total: 0 }],
  ])('is not told by %s', (_case, told) => {
    expect(readUsage(told)).toBeNull();
    expect(readUsage({ input: null, output: null, total: null, ...told })).toBeNull();
  });

  it.each([
    [
      { input: 10, output: 3, total: 5 },
      { inputTokens: 10, outputTokens: 3, totalTokens: 13 },
    ],
    [
      { input: 10, output: 3, total: 20 },
      { inputTokens: 10, outputTokens: 3, totalTokens: 20 },
    ],
    [
      { input: 10, output: 3 },
      { inputTokens: 10, outputTokens: 3, totalTokens: 13 },
    ],
    [
      { input: 10, total: 13 },
      { inputTokens: 10, outputTokens: 3, totalTokens: 13 },
    ],
    [
      { output: 3, total: 13 },
      { inputTokens: 10, outputTokens: 3, totalTokens: 13 },
    ],
    [{ total: 13 }, { inputTokens: 13, outputTokens: 0, totalTokens: 13 }],
    [
      { input: MAX, output: MAX },
      { inputTokens: MAX, outputTokens: MAX, totalTokens: MAX },
    ],
  ])('reads %j', (told, usage) => {
    expect(readUsage(told)).toMatchObject(usage);
  });

  it('stays a whole number that can be stored, however much is added up', () => {
    const most = { ...NO_USAGE, inputTokens: MAX, totalTokens: MAX };
    expect(addUsage(most, most)).toEqual(most);
  });
});

describe('a paid answer', () => {
  let server: ScriptedOpenAi | undefined;
  afterEach(async () => {
    const open = server;
    server = undefined;
    await open?.close();
  });

  it.each([
    'none',
    7,
    [],
    { input_tokens: '10' },
    { input_tokens: 1.5, output_tokens: 2 },
    { input_tokens_details: 3 },
  ])('is kept although its usage is %j', async (usage) => {
    server = await startScriptedOpenAi([completedAnswer('hello', { usage })]);
    const responses = new OpenAiModelClient({ apiKey: 'key', baseUrl: server.baseUrl });
    expect(await responses.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'hello', usage: null });
    await server.close();
    const choices = [{ finish_reason: 'stop', message: { content: 'hello' } }];
    const named = JSON.parse(
      JSON.stringify(usage ?? null)
        .replaceAll('input_', 'prompt_')
        .replaceAll('output_', 'completion_'),
    );
    server = await startScriptedOpenAi([{ json: { choices, ...(usage === undefined ? {} : { usage: named }) } }]);
    const chat = new OpenAiModelClient({ apiKey: 'key', baseUrl: server.baseUrl, apiMode: 'chat' });
    expect(await chat.respond(REQUEST)).toMatchObject({ kind: 'reply', text: 'hello', usage: null });
  });
});
