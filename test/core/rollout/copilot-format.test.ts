import { describe, expect, it } from 'vitest';
import { type Fields, labelsOf, toLines, understand } from '../../support/read-records.ts';

let clock = Date.UTC(2026, 0, 4);

function event(type: string, data: Fields): Fields {
  clock += 1_000;
  return { type, data, id: `e-${clock}`, timestamp: new Date(clock).toISOString(), parentId: null };
}

const context = { cwd: '/work/app', repository: 'example/app', repositoryHost: 'github.com', branch: 'main' };
const start = (extra: Fields = {}): Fields =>
  event('session.start', { sessionId: 's-1', copilotVersion: '1.0.77', context, ...extra });
const user = (content: string, extra: Fields = {}): Fields =>
  event('user.message', { content, attachments: [], ...extra });
const assistant = (content: string, requests: readonly Fields[] = [], extra: Fields = {}): Fields =>
  event('assistant.message', { content, toolRequests: requests, ...extra });
const request = (toolCallId: string, name: string, args: unknown = '{"a":1}'): Fields => ({
  type: 'function',
  toolCallId,
  name,
  arguments: args,
});
const done = (toolCallId: string, content: unknown, extra: Fields = {}): Fields =>
  event('tool.execution_complete', { toolCallId, success: true, result: { content, detailedContent: null }, ...extra });

describe('Copilot CLI events', () => {
  it('tell their thread', async () => {
    const { facts } = await understand(
      toLines(start(), user('list'), assistant('done'), event('session.shutdown', {})),
    );
    expect(facts).toMatchObject({
      agentKind: 'copilot-cli',
      formatVersion: '1.0.77',
      threadId: 's-1',
      source: 'cli',
      cwd: '/work/app',
      repository: 'https://github.com/example/app',
      gitBranch: 'main',
      title: 'list',
      humanMessages: 1,
      assistantMessages: 1,
      lastAt: clock,
    });
  });

  it('take a call once, though it is asked for and begun, and pair it with its result', async () => {
    const reading = await understand(
      toLines(
        start(),
        user('list'),
        assistant('Listing.', [request('c1', 'shell')]),
        event('tool.execution_start', { toolCallId: 'c1', toolName: 'shell', arguments: { a: 1 } }),
        done('c1', 'a.txt\n'),
        event('tool.execution_start', { toolCallId: 'c2', toolName: 'view', arguments: { b: 2 } }),
        done('c2', 'none', { success: false }),
        assistant('Done'),
      ),
    );
    expect(labelsOf(reading)).toEqual([
      'human user',
      'assistant commentary',
      'tool',
      'tool',
      'tool',
      'tool',
      'assistant final',
    ]);
    expect(reading.facts.toolCalls).toBe(2);
    expect(reading.evidence).toContain(
      '{"type":"function_call","name":"shell","arguments":"{\\"a\\":1}","call_id":"c1"}',
    );
    expect(reading.evidence).toContain('{"type":"function_call_output","call_id":"c1","output":"a.txt\\n"}');
    expect(reading.evidence).toContain(
      '{"type":"function_call_output","call_id":"c2","is_error":true,"output":"none"}',
    );
  });

  it('label what sub-agents say and hear', async () => {
    const nested = { parentToolCallId: 'c1' };
    const reading = await understand(
      toLines(
        start(),
        user('go'),
        event('subagent.started', { toolCallId: 'c1', agentName: 'task', agentDescription: 'what it is for' }),
        user('the task', { parentAgentTaskId: 't1' }),
        assistant('working', [request('c2', 'shell')], nested),
        event('subagent.completed', { toolCallId: 'c1' }),
        event('system.notification', { content: 'the agent is done', kind: { type: 'agent_completed' } }),
        event('system.notification', { content: 'an update is there', kind: { type: 'update' } }),
        assistant('all done'),
      ),
    );
    expect(labelsOf(reading)).toEqual([
      'human user',
      'other agent',
      'other agent',
      'tool',
      'other agent',
      'assistant final',
    ]);
    expect(reading.facts).toMatchObject({ humanMessages: 1, assistantMessages: 1, subagent: false });
  });

  it('tell an abort and a move on resuming; truncation is noise', async () => {
    const reading = await understand(
      toLines(
        start(),
        user('go'),
        event('abort', { reason: 'user initiated' }),
        event('session.truncation', { tokenLimit: 1 }),
        event('session.resume', { context }),
        event('session.resume', { context: { cwd: '/work/other', branch: 'main' } }),
        user('again'),
      ),
    );
    expect(labelsOf(reading)).toEqual(['human user', 'harness context', 'harness context', 'human user']);
    expect(reading.evidence).toContain('{"type":"turn_aborted","reason":"user initiated"}');
    expect(reading.evidence).toContain('{"type":"turn_context","cwd":"/work/other"}');
    expect(reading.facts.cwd).toBe('/work/app');
    expect(reading.evidence).toContain('[project: /work/other]\n{"type":"message","role":"user"');
    expect(reading.counts.droppedByKind).toEqual({ 'session.truncation': 1, 'session.resume': 1 });
  });

  it('show what was typed, and nothing of instructions, reasoning or hooks', async () => {
    const { evidence } = await understand(
      toLines(
        start(),
        event('system.message', { content: 'RULES', role: 'system' }),
        event('hook.start', { input: { toolArgs: 'HOOK' } }),
        user('typed', { transformedContent: 'typed and MORE' }),
        event('assistant.reasoning', { content: 'SECRETLY' }),
        assistant('done', [], { reasoningText: 'SECRETLY', encryptedContent: 'SEALED' }),
      ),
    );
    expect(evidence).not.toMatch(/RULES|HOOK|MORE|SECRETLY|SEALED/);
  });

  it('take answers to questions as the person speaking (TI-04)', async () => {
    const { facts, evidence } = await understand(
      toLines(start(), assistant('', [request('q', 'ask_user', { question: 'tabs?' })]), done('q', 'spaces')),
    );
    expect(facts.humanMessages).toBe(1);
    expect(evidence).toContain('[human user]\nAssistant question: {"question":"tabs?"}\nHuman reply: ');
  });

  it('note what else was looked at', async () => {
    const { facts } = await understand(
      toLines(
        start(),
        assistant('', [request('a', 'web_fetch')]),
        event('tool.execution_start', { toolCallId: 'b', toolName: 'jira-list', mcpServerName: 'jira' }),
      ),
    );
    expect(facts.externalContext).toEqual({ webSearch: true, toolSearch: false, mcpServers: ['jira'] });
  });

  it('survive data of any shape', async () => {
    const kinds = ['session.start', 'user.message', 'assistant.message', 'tool.execution_complete', 'abort'];
    const shapes = [{}, { content: 7, toolRequests: 'x', context: [], result: 'text', toolCallId: null }];
    const records = kinds.flatMap((kind) => shapes.map((data) => event(kind, data)));
    const { counts } = await understand(toLines(...records, { type: 'user.message', data: null }));
    expect(counts.records).toBe(records.length + 1);
  });
});
