import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenAiModelClient } from '../../../adapters/openai/openai-model-client.ts';
import { AGENT_TOOL_DEFINITIONS } from '../../../core/agent/agent-tools.ts';
import { AgentWorkspace } from '../../../core/agent/agent-workspace.ts';
import { runToolCalls } from '../../../core/agent/tool-call.ts';
import type { ModelItem } from '../../../core/ports/model-client.ts';
import { type OfflineModel, startOfflineModel } from '../../../local/offline/server.ts';
import { human, stageOneBody, stageOneMessage } from './evidence-rows.ts';

let model: OfflineModel;
beforeAll(async () => {
  model = await startOfflineModel();
});
afterAll(() => model.close());

const post = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${model.baseUrl}/responses`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
const MESSAGE = stageOneMessage([human('Add a route. Always use pnpm.')]);

describe('the offline model on the wire', () => {
  it('listens on loopback only', () => {
    expect(model.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  });

  it('answers a request for a JSON schema as the Responses API does, under its own name', async () => {
    const response = await post(JSON.stringify(stageOneBody(MESSAGE)));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'offline-rules-1',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text' }] }],
    });
  });

  it('gives the same bytes for the same request', async () => {
    const body = JSON.stringify(stageOneBody(MESSAGE));
    const [one, two] = await Promise.all([post(body), post(body)]);
    expect(await one.text()).toBe(await two.text());
  });

  it('is understood by the openai adapter, token usage included', async () => {
    const client = new OpenAiModelClient({ apiKey: 'offline', baseUrl: model.baseUrl });
    const reply = await client.respond({
      purpose: 'extraction',
      model: 'offline-rules-1',
      instructions: 'x'.repeat(400),
      items: [{ kind: 'message', role: 'user', text: MESSAGE }],
      output: { name: 'stage_one', schema: { type: 'object' } },
      reasoningEffort: 'low',
      maxOutputTokens: 1_000,
      timeoutMs: 10_000,
    });
    expect(reply).toMatchObject({ kind: 'reply', model: 'offline-rules-1', toolCalls: [] });
    if (reply.kind !== 'reply') return;
    expect(reply.text).toContain('Always use pnpm.');
    expect(reply.usage?.inputTokens).toBeGreaterThan(MESSAGE.length / 4);
    expect(reply.usage?.outputTokens).toBeGreaterThan(0);
  });

  it('plays the agent by tool calls over the same adapter, and goes on from their results', async () => {
    const client = new OpenAiModelClient({ apiKey: 'offline', baseUrl: model.baseUrl });
    const workspace = new AgentWorkspace(new Map());
    let items: readonly ModelItem[] = [{ kind: 'message', role: 'user', text: 'Mode: first build' }];
    const names: string[] = [];
    while (!names.includes('finish')) {
      const reply = await client.respond({
        purpose: 'consolidation',
        model: 'offline-rules-1',
        instructions: 'Keep the memory.',
        items,
        tools: AGENT_TOOL_DEFINITIONS,
        reasoningEffort: 'medium',
        maxOutputTokens: 1_000,
        timeoutMs: 10_000,
      });
      if (reply.kind !== 'reply') throw new Error(reply.kind);
      names.push(...reply.toolCalls.map((call) => call.name));
      const results = await runToolCalls(reply.toolCalls, workspace);
      items = [
        ...items,
        ...reply.items,
        ...results.map(({ callId, text }) => ({ kind: 'tool_result', callId, text }) as const),
      ];
      if (names.length > 30) throw new Error('no end');
    }
    expect(names[0]).toBe('read');
    expect([...workspace.files.keys()].sort()).toEqual(['MEMORY.md', 'memory_summary.md']);
  });

  it.each([
    ['no JSON', 'nonsense', 400],
    ['no input', '{"model":"m"}', 400],
    ['neither schema nor tools', '{"model":"m","input":"hello"}', 400],
    ['a stream', JSON.stringify({ ...stageOneBody(MESSAGE), stream: true }), 400],
  ])('refuses a request with %s in the error shape of the API', async (_, body, status) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('knows no other path', async () => {
    expect((await fetch(`${model.baseUrl}/models`)).status).toBe(404);
  });

  it('after close nothing answers', async () => {
    const other = await startOfflineModel();
    await other.close();
    await expect(fetch(`${other.baseUrl}/responses`)).rejects.toThrow();
  });
});
