import { describe, expect, it } from 'vitest';
import { type Fields, labelsOf, readText, toLines, understand } from '../../support/read-records.ts';

let clock = Date.UTC(2026, 0, 15, 20);

function message(type: string, content: unknown, extra: Fields = {}): Fields {
  clock += 1_000;
  return { id: `m-${clock}`, timestamp: new Date(clock).toISOString(), type, content, ...extra };
}

const user = (content: unknown, extra?: Fields): Fields => message('user', content, extra);
const gemini = (content: unknown, extra?: Fields): Fields => message('gemini', content, extra);
const call = (name: string, output?: Fields, extra: Fields = {}): Fields => ({
  id: `${name}-1`,
  name,
  args: { path: 'a.md' },
  status: 'success',
  ...(output ? { result: [{ functionResponse: { id: `${name}-1`, name, response: output } }] } : {}),
  ...extra,
});

const HEADER = {
  sessionId: 'session-1',
  projectHash: '7e89',
  startTime: '2026-01-15T19:00:00.000Z',
  lastUpdated: '2026-01-15T23:00:00.000Z',
};

function session(messages: readonly Fields[], space: number | undefined = 2): string {
  return JSON.stringify({ ...HEADER, messages, summary: 'the tool wrote this' }, null, space);
}

const SAMPLE = [
  user('write a note'),
  gemini('On it.', { toolCalls: [call('write_file', { output: 'written' })], thoughts: [{ subject: 'secretly' }] }),
  message('info', 'Update available'),
  gemini('Done.', { tokens: { total: 5 } }),
];

describe('Gemini CLI sessions', () => {
  it('tell their thread', async () => {
    const { facts, counts } = await understand(session(SAMPLE));
    expect(facts).toMatchObject({
      agentKind: 'gemini-cli',
      threadId: 'session-1',
      source: 'cli',
      subagent: false,
      cwd: null,
      title: 'write a note',
      humanMessages: 1,
      assistantMessages: 2,
      toolCalls: 1,
      firstAt: Date.UTC(2026, 0, 15, 19),
      lastAt: Date.UTC(2026, 0, 15, 23),
    });
    expect(counts).toMatchObject({
      byKind: { document: 1, user: 1, gemini: 2, info: 1 },
      droppedByKind: { info: 1 },
      broken: 0,
      tornTail: false,
    });
  });

  it('give items of the one shape, thoughts left out, calls and results paired', async () => {
    const reading = await understand(session(SAMPLE));
    expect(labelsOf(reading)).toEqual(['human user', 'assistant commentary', 'tool', 'tool', 'assistant final']);
    expect(reading.evidence).toContain(
      '{"type":"function_call","name":"write_file","arguments":"{\\"path\\":\\"a.md\\"}","call_id":"write_file-1"}',
    );
    expect(reading.evidence).toContain('{"type":"function_call_output","call_id":"write_file-1","output":"written"}');
    expect(reading.evidence).not.toContain('secretly');
    expect(reading.evidence).not.toContain('Update available');
  });

  it.each([1, 13, 100_000])('read the same on one line and over many, in chunks of %d', async (chunkBytes) => {
    const [wide, narrow] = [
      await understand(session(SAMPLE), chunkBytes),
      await understand(session(SAMPLE, undefined)),
    ];
    expect({ ...narrow, counts: { ...narrow.counts, bytes: wide.counts.bytes } }).toEqual(wide);
  });

  it('torn, give what is complete', async () => {
    const text = session(SAMPLE);
    const torn = await understand(text.slice(0, text.indexOf('Done.')));
    expect(torn.facts).toMatchObject({ humanMessages: 1, assistantMessages: 1, threadId: 'session-1' });
    expect(torn.counts).toMatchObject({ tornTail: true, broken: 0 });
  });

  it('are known by a message where the header comes last', async () => {
    const { facts } = await understand(JSON.stringify({ messages: SAMPLE, ...HEADER }));
    expect(facts).toMatchObject({ threadId: 'session-1', humanMessages: 1 });
    const plain = await understand(JSON.stringify({ messages: [user('only this')], ...HEADER }));
    expect(plain.facts).toMatchObject({ threadId: 'session-1', humanMessages: 1 });
  });

  it('mark failed calls, and take an error for the output', async () => {
    const failed = call('run_shell_command', { error: 'no such file' }, { status: 'error' });
    const { evidence } = await understand(session([user('go'), gemini('', { toolCalls: [failed] })]));
    expect(evidence).toContain('"call_id":"run_shell_command-1","is_error":true,"output":"no such file"');
  });

  it('replace images and audio, and leave thoughts among parts out', async () => {
    const parts = [
      { text: 'look' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA'.repeat(100) } },
      { inlineData: { mimeType: 'audio/wav', data: 'BBBB'.repeat(100) } },
      { text: 'pondering', thought: true },
    ];
    const { evidence } = await understand(session([user(parts)]));
    expect(evidence).toContain('"text":"look"},{"type":"input_text","text":"[image omitted]"}');
    expect(evidence).toContain('[audio omitted]');
    expect(evidence).not.toMatch(/AAAA|BBBB|pondering/);
  });

  it('show what the person typed, not the files it was expanded to', async () => {
    const { evidence } = await understand(session([user('see @a.md\nwhole file', { displayContent: 'see @a.md' })]));
    expect(evidence).toContain('see @a.md');
    expect(evidence).not.toContain('whole file');
  });

  it('tell the start of a session by the program from a person', async () => {
    const reading = await understand(session([user('<session_context>\nToday is Monday'), user('go')]));
    expect(labelsOf(reading)).toEqual(['harness context', 'human user']);
  });

  it('take answers to questions as the person speaking (TI-04)', async () => {
    const asked = call('ask_user', { output: '{"answers":{"0":"tabs"}}' });
    const { evidence, facts } = await understand(session([user('go'), gemini('', { toolCalls: [asked] })]));
    expect(facts.humanMessages).toBe(2);
    expect(evidence).toContain('[human user]\nAssistant question: {"path":"a.md"}\nHuman reply: ');
  });

  it('note what else was looked at', async () => {
    const tools = [
      call('google_web_search', { output: 'x' }),
      call('list', { output: 'x' }, { displayName: 'list (github MCP Server)' }),
      call('mcp_jira_search', { output: 'x' }),
    ];
    const { facts } = await understand(session([gemini('', { toolCalls: tools })]));
    expect(facts.externalContext).toEqual({ webSearch: true, toolSearch: false, mcpServers: ['github', 'jira'] });
  });
});

describe('Gemini CLI sessions as a log', () => {
  const header = { ...HEADER, kind: 'main', directories: ['/work/app'] };

  it('take a message that is written again once, in its last form', async () => {
    const first = gemini('Working');
    const again = { ...first, toolCalls: [call('shell')] };
    const whole = { ...first, toolCalls: [call('shell', { output: 'ok' })] };
    const reading = await understand(
      toLines(
        header,
        user('go'),
        first,
        again,
        whole,
        { $set: { lastUpdated: '2026-01-16T00:00:00Z' } },
        gemini('Done'),
      ),
    );
    expect(labelsOf(reading)).toEqual(['human user', 'assistant commentary', 'tool', 'tool', 'assistant final']);
    expect(reading.facts).toMatchObject({ cwd: '/work/app', toolCalls: 1, lastAt: Date.UTC(2026, 0, 16) });
  });

  it('take messages that a change repeats once', async () => {
    const [asked, said] = [user('go'), gemini('Done')];
    const reading = await understand(toLines(header, asked, said, { $set: { messages: [asked, said, user('more')] } }));
    expect(labelsOf(reading)).toEqual(['human user', 'assistant final', 'human user']);
  });

  it('begin with a header that holds an empty list', async () => {
    const reading = await understand(toLines({ ...header, messages: [] }, user('go'), gemini('Done')));
    expect(reading.facts).toMatchObject({ threadId: 'session-1', cwd: '/work/app', humanMessages: 1 });
  });

  it('take back what the person rewound', async () => {
    const [first, second] = [user('one'), user('two')];
    const reading = await understand(
      toLines(header, first, gemini('1'), second, gemini('2'), { $rewindTo: second['id'] }, user('other'), gemini('3')),
    );
    expect(reading.evidence).not.toMatch(/"text":"(?:two|2)"/);
    expect(labelsOf(reading)).toEqual(['human user', 'assistant final', 'human user', 'assistant final']);
    expect(reading.facts.humanMessages).toBe(2);
    const unknown = await understand(toLines(header, first, { $rewindTo: 'nothing' }));
    expect(unknown.facts.humanMessages).toBe(1);
  });

  it('tell a sub-agent', async () => {
    const { facts } = await understand(toLines({ ...header, kind: 'subagent' }, user('go')));
    expect(facts).toMatchObject({ subagent: true, source: 'subagent' });
  });
});

describe('documents of no known format', () => {
  it('are a failure that names their keys and kinds', async () => {
    const document = { schema_version: '1', agent: { name: 'x' }, steps: [{ source: 'user' }] };
    for (const space of [2, undefined]) {
      const text = JSON.stringify({ ...document, messages: [{ kind: 1 }] }, null, space);
      expect(await readText(text)).toMatchObject({
        kind: 'failed',
        reason: 'unrecognised_format',
        detail:
          'no known record kind among: document 1, (no type) 1; a document with the keys: schema_version, agent, steps',
      });
    }
  });

  it('say nothing of keys that are no plain names', async () => {
    expect(await readText(JSON.stringify({ 'what a person wrote': 1, plain: 2 }, null, 2))).toMatchObject({
      detail: 'no known record kind among: document 1; a document with the keys: plain',
    });
  });
});
