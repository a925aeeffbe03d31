import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { ClaudeSession } from '../../support/claude-session.ts';
import { toChunks } from '../../support/rollout-builder.ts';

type Read = Extract<RolloutReading, { kind: 'read' }>;

async function read(session: ClaudeSession): Promise<Read> {
  const reading = await readRollout(toChunks(session.toBytes()), { evidenceTokens: 100_000 });
  if (reading.kind !== 'read') throw new Error(`not read: ${reading.reason} ${reading.detail}`);
  return reading;
}

/** Label and text of each row that is a message. */
function messages({ evidence }: Read): string[] {
  const rows = evidence.matchAll(/^\[([a-z ]+)\]\n(?:\[project: [^\n]*\]\n)?(\{"type":"message".*)$/gm);
  return [...rows].map(([, label, json]) => {
    const texts = [...(json ?? '').matchAll(/"text":"([^"]*)"/g)].map((match) => match[1]);
    return `${label}: ${texts.join('|')}`;
  });
}

describe('the thread that parentUuid spans', () => {
  it('a prompt that was edited: what it led to is neither evidence nor counted', async () => {
    const session = new ClaudeSession().user('use tabs').assistant('tabs it is');
    const turn = session.last;
    session.user('rewrite it all').call('Edit', 't1', 'rewrote everything').assistant('rewrote it');
    const reading = await read(session.goBackTo(turn).user('only the header').assistant('header done'));
    expect(messages(reading)).toEqual([
      'human user: use tabs',
      'assistant final: tabs it is',
      'human user: only the header',
      'assistant final: header done',
    ]);
    expect(reading.evidence).not.toContain('rewrote everything');
    expect(reading.facts).toMatchObject({ humanMessages: 2, assistantMessages: 2, title: 'use tabs' });
  });

  it('the first prompt may be edited too, behind a record that is not looked at', async () => {
    const session = new ClaudeSession().record('progress', { data: {} });
    const start = session.last;
    session.user('frist').assistant('what?');
    const reading = await read(session.goBackTo(start).user('first').assistant('ok'));
    expect(messages(reading)).toEqual(['human user: first', 'assistant final: ok']);
    expect(reading.facts.title).toBe('first');
  });

  it('a branch that is taken up again counts, and the other one no more', async () => {
    const session = new ClaudeSession().user('a').assistant('A');
    const fork = session.last;
    session.user('b').assistant('B');
    const first = session.last;
    session.goBackTo(fork).user('c').assistant('C');
    const reading = await read(session.goBackTo(first).user('d'));
    expect(messages(reading)).toEqual([
      'human user: a',
      'assistant final: A',
      'human user: b',
      'assistant final: B',
      'human user: d',
    ]);
  });

  it('tools side by side, sub-agents and interruptions abandon nothing', async () => {
    const session = new ClaudeSession().user('go').callOnly('Bash', 't1');
    const first = session.last;
    session.callOnly('Bash', 't2');
    const second = session.last;
    session.goBackTo(first).result('t1', 'one').goBackTo(second).result('t2', 'two');
    session.goBackTo(first).user('task', { isSidechain: true, agentId: 'a1' });
    const reading = await read(session.goBackTo(second).user('stop, do this').assistant('ok'));
    expect(reading.facts).toMatchObject({ humanMessages: 2, assistantMessages: 1, toolCalls: 2 });
    expect(reading.evidence).toContain('"output":"one"');
    expect(reading.evidence).toContain('"output":"two"');
  });

  it('a parent outside of the file, or none, goes on with what came before', async () => {
    const session = new ClaudeSession()
      .user('a')
      .assistant('A')
      .goBackTo('00000000-0000-4000-8000-00000000ffff')
      .user('b');
    expect((await read(session.goBackTo(null).user('c'))).facts.humanMessages).toBe(3);
  });

  it('a boundary of compaction is no new start, and its summary is nobody’s turn (D25)', async () => {
    const session = new ClaudeSession().user('a').assistant('A');
    session
      .goBackTo(null)
      .record('system', { subtype: 'compact_boundary', logicalParentUuid: 'x', content: 'compacted' });
    session.user('This session is being continued: a, A', { isCompactSummary: true, isVisibleInTranscriptOnly: true });
    const reading = await read(session.user('b').assistant('B'));
    expect(messages(reading)).toEqual(['human user: a', 'assistant final: A', 'human user: b', 'assistant final: B']);
    expect(reading.counts.byKind).toMatchObject({ 'system/compact_boundary': 1 });
  });

  it('thousands of edits end with the last one', async () => {
    const session = new ClaudeSession().user('a').assistant('A');
    const fork = session.last;
    for (let at = 0; at < 9_000; at++) session.goBackTo(fork).user(`try ${at}`);
    const reading = await read(session);
    expect(messages(reading).at(-1)).toBe('human user: try 8999');
    expect(reading.facts.humanMessages).toBeLessThan(9_000);
  }, 20_000);
});

describe('records that say nothing new', () => {
  it('a record that was written twice is told of once', async () => {
    const session = new ClaudeSession().user('a').assistant('A').repeat().repeat();
    const reading = await read(session);
    expect(messages(reading)).toEqual(['human user: a', 'assistant final: A']);
    expect(reading.counts.droppedByKind).toEqual({ assistant: 2 });
  });

  it('records copied by a fork belong to the session they came from (D19)', async () => {
    const forkedFrom = { sessionId: 'parent', messageUuid: 'm' };
    const session = new ClaudeSession().user('old', { forkedFrom }).assistant('older', { forkedFrom }).user('new');
    const reading = await read(session);
    expect(messages(reading)).toEqual(['human user: new']);
    expect(reading.facts).toMatchObject({ threadId: 'session-1', title: 'new', cwd: '/work/app' });
  });

  it('the rows of one message are one message, with all their text', async () => {
    const usage = { input_tokens: 9 };
    const part = (text: string): object => ({
      message: { id: 'msg_1', role: 'assistant', usage, content: [{ type: 'text', text }] },
    });
    const reading = await read(new ClaudeSession().user('a').assistant('', part('one ')).assistant('', part('two')));
    expect(reading.facts).toMatchObject({ assistantMessages: 1, conversationBytes: 8 });
    expect(messages(reading)).toHaveLength(3);
  });

  it.each([
    ['an error of the API', { isApiErrorMessage: true }],
    [
      'a stand-in',
      {
        message: {
          model: '<synthetic>',
          role: 'assistant',
          content: [{ type: 'text', text: 'No response requested.' }],
        },
      },
    ],
  ])('%s is nothing the assistant said', async (_name, extra) => {
    const reading = await read(new ClaudeSession().user('a').assistant('API Error: overloaded', extra));
    expect(reading.facts.assistantMessages).toBe(0);
    expect(messages(reading)).toEqual(['human user: a']);
  });

  it('bookkeeping, unknown kinds and unknown subtypes are counted by name', async () => {
    const session = new ClaudeSession().user('a');
    for (const kind of ['mode', 'ai-title', 'frame-link', 'started', 'brand-new']) session.record(kind, {});
    session.record('system', { subtype: 'api_error' }).record('system', { subtype: 'never_seen' });
    const { counts, evidence } = await read(session);
    expect(counts.droppedByKind).toEqual({
      mode: 1,
      'ai-title': 1,
      'frame-link': 1,
      started: 1,
      'brand-new': 1,
      'system/api_error': 1,
      'system/never_seen': 1,
    });
    expect(evidence.match(/^\[[a-z ]+\]$/gm)).toHaveLength(1);
  });
});

describe('the words of a person', () => {
  it.each([
    [
      'the arguments of a command',
      '<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>only auth</command-args>',
      'human user: /review only auth',
    ],
    [
      'a command alone',
      '<command-name>/clear</command-name><command-args></command-args>',
      'harness context: <command-name>/clear</command-name><command-args></command-args>',
    ],
    ['a note for the memory', '<user-memory-input>always use make</user-memory-input>', 'human user: always use make'],
    [
      'a notice of a task',
      '<task-notification>done</task-notification>',
      'harness context: <task-notification>done</task-notification>',
    ],
    [
      'a team mate',
      '<teammate-message from=x>hi</teammate-message>',
      'other agent: <teammate-message from=x>hi</teammate-message>',
    ],
  ])('%s', async (_name, text, row) => {
    expect(messages(await read(new ClaudeSession().user(text)))).toEqual([row]);
  });

  it('do not include what the editor put beside them, nor images', async () => {
    const content = [
      { type: 'text', text: '<ide_opened_file>The user opened a.ts</ide_opened_file>' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400) } },
      { type: 'text', text: 'why is it red?' },
    ];
    const reading = await read(new ClaudeSession().user(content));
    expect(messages(reading)).toEqual(['human user: [image omitted]|why is it red?']);
    expect(reading.facts.title).toBe('why is it red?');
  });

  it('that were queued while the assistant worked come as an attachment', async () => {
    const queued = (attachment: object): object => ({ attachment: { type: 'queued_command', ...attachment } });
    const session = new ClaudeSession()
      .user('go')
      .record('attachment', queued({ prompt: 'and run the tests', commandMode: 'prompt' }))
      .record('attachment', queued({ prompt: [{ type: 'text', text: 'as parts' }] }))
      .record('attachment', queued({ prompt: 'a task ended', commandMode: 'task-notification' }))
      .record('attachment', queued({ prompt: 'from a task', origin: { kind: 'x', senderTaskId: 't' } }))
      .record('attachment', { attachment: { type: 'nested_memory', content: 'restated rules' } });
    const reading = await read(session);
    expect(messages(reading)).toEqual([
      'human user: go',
      'human user: and run the tests',
      'human user: as parts',
      'other agent: from a task',
    ]);
    expect(reading.evidence).not.toContain('restated rules');
  });

  it('are another agent’s where the record says where they came from', async () => {
    const origin = { kind: 'task-notification' };
    expect(messages(await read(new ClaudeSession().user('the build is green', { origin })))).toEqual([
      'other agent: the build is green',
    ]);
  });
});

describe('where the work is (A13, A10)', () => {
  it('rows in another project are marked, those in a folder or a worktree of the own one are not', async () => {
    const session = new ClaudeSession()
      .user('a')
      .user('b', { cwd: '/work/app/web' })
      .record('worktree-state', { worktreeSession: { originalCwd: '/work/app', worktreePath: '/trees/fix' } })
      .user('c', { cwd: '/trees/fix' })
      .user('d', { cwd: '/work/other' })
      .assistant('D', { cwd: '/work/other' })
      .user('e', { cwd: '/work/app' });
    const { evidence, facts } = await read(session);
    expect(facts.cwd).toBe('/work/app');
    const marked = [...evidence.matchAll(/^\[project: (.*)\]\n.*"text":"(.)"/gm)].map((match) => [match[1], match[2]]);
    expect(marked).toEqual([
      ['/work/other', 'd'],
      ['/work/other', 'D'],
    ]);
  });

  it('a version that changes on the way is told by its first', async () => {
    const { facts } = await read(new ClaudeSession().user('a').user('b', { version: '2.9.0', gitBranch: 'other' }));
    expect(facts).toMatchObject({ formatVersion: '2.1.7', gitBranch: 'main' });
  });
});
