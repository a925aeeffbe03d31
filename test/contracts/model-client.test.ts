import { KeyedModelClient } from '../../adapters/openai/keyed-model-client.ts';
import { OpenAiModelClient } from '../../adapters/openai/openai-model-client.ts';
import { ModelWithinDeadline } from '../../core/agent/model-within-deadline.ts';
import type { ModelReply } from '../../core/ports/model-client.ts';
import { ScriptedModel, textReply, toolReply } from '../doubles/scripted-model.ts';
import {
  completedAnswer,
  errorAnswer,
  messageOutput,
  responsesAnswer,
  type ScriptedAnswer,
  startScriptedOpenAi,
} from '../support/scripted-openai.ts';
import { type ModelEnd, modelClientContract } from './model-client.contract.ts';

const REPLIES: Readonly<Record<ModelEnd, ModelReply>> = {
  text: textReply('hello'),
  tools: toolReply([{ name: 'read', arguments: { path: 'a' } }]),
  refused: { kind: 'refused', usage: null },
  length: { kind: 'incomplete', reason: 'length', usage: null },
  filter: { kind: 'incomplete', reason: 'filter', usage: null },
  too_long: { kind: 'too_long' },
  rate_limited: { kind: 'rate_limited', retryAfterMs: null },
  unavailable: { kind: 'unavailable', code: 'http_500' },
  misconfigured: { kind: 'misconfigured', code: 'invalid_api_key' },
};

const CUT = { status: 'incomplete' };
const ANSWERS: Readonly<Record<ModelEnd, ScriptedAnswer>> = {
  text: completedAnswer('hello'),
  tools: responsesAnswer([
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'call-1',
      name: 'read',
      arguments: '{"path":"a"}',
    },
  ]),
  refused: responsesAnswer([messageOutput({ type: 'refusal', refusal: 'no' })]),
  length: completedAnswer('hel', { ...CUT, incomplete_details: { reason: 'max_output_tokens' } }),
  filter: completedAnswer('', { ...CUT, incomplete_details: { reason: 'content_filter' } }),
  too_long: errorAnswer(400, { code: 'context_length_exceeded' }),
  rate_limited: errorAnswer(429, { code: 'rate_limit_exceeded' }),
  unavailable: errorAnswer(500, { code: 'server_error' }),
  misconfigured: errorAnswer(401, { code: 'invalid_api_key' }),
};

modelClientContract('double', async (...ends) => {
  const client = new ScriptedModel(ends.map((end) => REPLIES[end]));
  return { client, close: async () => client.assertDone() };
});

modelClientContract('OpenAI adapter', async (...ends) => {
  const server = await startScriptedOpenAi(ends.map((end) => ANSWERS[end]));
  const client = new OpenAiModelClient({ apiKey: 'any', baseUrl: server.baseUrl });
  return { client, close: () => server.close() };
});

modelClientContract('OpenAI adapter with a key that may change', async (...ends) => {
  const server = await startScriptedOpenAi(ends.map((end) => ANSWERS[end]));
  const keys = { current: async () => 'any', refresh: async () => 'any' };
  const client = new KeyedModelClient(keys, { baseUrl: server.baseUrl });
  return { client, close: () => server.close() };
});

modelClientContract('within a deadline', async (...ends) => {
  const inner = new ScriptedModel(ends.map((end) => REPLIES[end]));
  const client = new ModelWithinDeadline(inner, { remainingMs: () => 60_000, reserveMs: 5_000, leastMs: 1_000 });
  return { client, close: async () => inner.assertDone() };
});
