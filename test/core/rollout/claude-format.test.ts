import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { toChunks } from '../../support/rollout-builder.ts';

type Line = Readonly<Record<string, unknown>>;

let clock = Date.UTC(2026, 0, 2);

function line(type: 'user' | 'assistant', content: unknown, extra: Line = {}): Line {
  clock += 1_000;
  return {
    parentUuid: null,
    isSidechain: false,
    cwd: '/work/app',
    sessionId: 'session-1',
    version: '2.1.7',
    gitBranch: 'main',
    type,
    message: { role: type, content },
    uuid: `u-${clock}`,
    timestamp: new Date(clock).toISOString(),
    ...extra,
  };
}

const user = (content: unknown, extra?: Line): Line => line('user', content, extra);
const assistant = (content: unknown, extra?: Line): Line => line('assistant', content, extra);
const call = (name: string, id: string, input: unknown = {}): Line =>
  assistant([{ type: 'tool_use', id, name, input }]);
const result = (id: string, content: unknown, extra: Line = {}): Line =>
  user([{ type: 'tool_result', tool_use_id: id, content, ...extra }]);

async function read(...lines: readonly Line[]): Promise<Extract<RolloutReading, { kind: 'read' }>> {
  const text = lines.map((each) => `${JSON.stringify(each)}\n`).join('');
  const reading = await readRollout(toChunks(new TextEncoder().encode(text)), { evidenceTokens: 10_000 });
  if (reading.kind !== 'read') throw new Error(reading.reason);
  return reading;
}

const labels = (evidence: string): string[] =>
  [...evidence.matchAll(/^\[([a-z ]+)\]$/gm)].map((match) => match[1] ?? '');

describe('Claude Code sessions', () => {
  it('tell their thread', async () => {
    const { facts } = await read(
      { type: 'summary', leafUuid: 'x' },
      user('fix it', { entrypoint: 'claude-vscode' }),
      assistant([{ type: 'text', text: 'done' }]),
    );
    expect(facts).toMatchObject({
      agentKind: 'claude-code',
      formatVersion: '2.1.7',
      threadId: 'session-1',
      source: 'vscode',
      cwd: '/work/app',
      gitBranch: 'main',
      title: 'fix it',
      humanMessages: 1,
      assistantMessages: 1,
      conversationBytes: 10,
      lastAt: clock,
    });
  });

  it('drop thinking, meta lines and summaries of compaction', async () => {
    const { evidence, counts } = await read(
      user('go'),
      assistant([{ type: 'thinking', thinking: 'secretly', signature: 'x' }]),
      user([{ type: 'text', text: 'Base directory for this skill' }], { isMeta: true }),
      user('This session is being continued', { isCompactSummary: true }),
      { type: 'progress', data: {} },
      { type: 'brand-new', uuid: 'x' },
    );
    expect(labels(evidence)).toEqual(['human user']);
    expect(counts.droppedByKind).toEqual({ assistant: 1, user: 2, progress: 1, 'brand-new': 1 });
  });

  it('turn calls and results into items of the one shape', async () => {
    const { evidence, facts } = await read(
      user('go'),
      call('Bash', 't1', { command: 'ls' }),
      result(
        't1',
        [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        { is_error: true },
      ),
    );
    expect(evidence).toContain(
      '{"type":"function_call","name":"Bash","arguments":"{\\"command\\":\\"ls\\"}","call_id":"t1"}',
    );
    expect(evidence).toContain('{"type":"function_call_output","call_id":"t1","is_error":true,"output":"a\\nb"}');
    expect(facts.toolCalls).toBe(1);
  });

  it('tell commentary from final answers', async () => {
    const text = [{ type: 'text', text: 'x' }];
    const working = assistant(text, { message: { role: 'assistant', content: text, stop_reason: 'tool_use' } });
    expect(labels((await read(user('go'), working, assistant(text))).evidence)).toEqual([
      'human user',
      'assistant commentary',
      'assistant final',
    ]);
  });

  it.each([
    '<command-name>/clear</command-name>',
    '<local-command-stdout>Goodbye!</local-command-stdout>',
    '[Request interrupted by user for tool use]',
  ])('do not take for a person: %s', async (text) => {
    const { evidence, facts } = await read(user('go'), user(text));
    expect(labels(evidence)).toEqual(['human user', 'harness context']);
    expect(facts.humanMessages).toBe(1);
  });

  it('drop reminders of the harness inside a message', async () => {
    const { evidence } = await read(
      user('<system-reminder>rules <b>x</b></system-reminder>\ndo it'),
      user('<system-reminder>only</system-reminder>'),
    );
    expect(labels(evidence)).toEqual(['human user']);
    expect(evidence).not.toContain('rules');
    expect(evidence).toContain('do it');
  });

  it('take answers and refusals inside tool results as the person speaking', async () => {
    const { evidence, facts } = await read(
      user('go'),
      call('AskUserQuestion', 'q', { questions: ['tabs?'] }),
      result('q', 'tabs="spaces"'),
      call('Bash', 'b'),
      result(
        'b',
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse make",
        { is_error: true },
      ),
    );
    expect(facts.humanMessages).toBe(3);
    expect(evidence).toContain('[human user]\nAssistant question: {"questions":["tabs?"]}\nHuman reply: ');
    expect(evidence).toContain('"text":"use make"');
  });

  it('label what sub-agents say within the session', async () => {
    const side = { isSidechain: true, agentId: 'a1' };
    const { evidence, facts } = await read(
      user('go'),
      user('task', side),
      assistant([{ type: 'text', text: 'x' }], side),
    );
    expect(labels(evidence)).toEqual(['human user', 'other agent', 'other agent']);
    expect(facts).toMatchObject({ subagent: false, humanMessages: 1 });
  });

  it('tell a sub-agent that has a file of its own', async () => {
    const side = { isSidechain: true, agentId: 'a1' };
    const { evidence, facts } = await read(user('task', side), assistant([{ type: 'text', text: 'x' }], side));
    expect(facts).toMatchObject({
      subagent: true,
      source: 'subagent',
      threadId: 'agent-a1',
      parentThreadId: 'session-1',
    });
    expect(labels(evidence)).toEqual(['other agent', 'assistant final']);
  });

  it('note what else was looked at', async () => {
    const { facts } = await read(
      user('go'),
      call('mcp__git-hub__list', '1'),
      call('WebFetch', '2'),
      call('ToolSearch', '3'),
    );
    expect(facts.externalContext).toEqual({ webSearch: true, toolSearch: true, mcpServers: ['git-hub'] });
  });

  it('note where the work moves to another directory (A13)', async () => {
    const { evidence, facts } = await read(
      user('a'),
      user('b', { cwd: '/work/other' }),
      user('c', { cwd: '/work/other' }),
    );
    expect(facts.cwd).toBe('/work/app');
    expect(evidence.match(/"turn_context","cwd":"\/work\/other"/g)).toHaveLength(1);
  });
});
