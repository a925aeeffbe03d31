import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { codexRollout, type RolloutBuilder, toChunks } from '../../support/rollout-builder.ts';

type Read = Extract<RolloutReading, { kind: 'read' }>;

async function read(rollout: RolloutBuilder | string): Promise<Read> {
  const bytes = typeof rollout === 'string' ? new TextEncoder().encode(rollout) : rollout.toBytes();
  const reading = await readRollout(toChunks(bytes), { evidenceTokens: 100_000 });
  if (reading.kind !== 'read') throw new Error(`not read: ${reading.reason} ${reading.detail}`);
  return reading;
}

/** Label and text of each row that is a message. */
function messages({ evidence }: Read): string[] {
  const rows = evidence.matchAll(/^\[([a-z ]+)\]\n(?:\[project: [^\n]*\]\n)?(\{"type":"message".*)$/gm);
  return [...rows].map(
    ([, label, json]) => `${label}: ${[...(json ?? '').matchAll(/"text":"([^"]*)"/g)].map((m) => m[1]).join('|')}`,
  );
}

const sent = (message: string): object => ({ type: 'user_message', message, images: [] });
const completed = (text: string): object => ({
  type: 'item_completed',
  item: { type: 'UserMessage', content: [{ type: 'text', text, text_elements: [] }] },
});

describe('who sent what stands in the user’s role', () => {
  it.each([
    ['an item that no event confirms, beside one that is confirmed', 'user_message', sent],
    ['the same with completed items', 'item_completed', completed],
  ])('%s, is the harness’s whatever its tag', async (_name, _kind, event) => {
    const reading = await read(
      codexRollout()
        .user('<brand_new_block>be nice</brand_new_block>')
        .user('fix it')
        .event({ ...event('fix it') }),
    );
    expect(messages(reading)).toEqual([
      'harness context: <brand_new_block>be nice</brand_new_block>',
      'human user: fix it',
    ]);
    expect(reading.facts).toMatchObject({ humanMessages: 1, title: 'fix it' });
  });

  it('an event may come first', async () => {
    const reading = await read(
      codexRollout()
        .event({ ...sent('fix it') })
        .user('fix it')
        .user('<x_y>rules</x_y>')
        .assistant('ok'),
    );
    expect(messages(reading)).toEqual([
      'human user: fix it',
      'harness context: <x_y>rules</x_y>',
      'assistant final: ok',
    ]);
  });

  it('all are a person’s where nothing confirms any, and where the events are of another turn', async () => {
    const reading = await read(
      codexRollout()
        .user('a')
        .user('b')
        .assistant('ok')
        .event({ ...sent('elsewhere') })
        .user('c')
        .user('d'),
    );
    expect(reading.facts.humanMessages).toBe(4);
  });

  it('a prompt that is sent again after it was aborted is two turns', async () => {
    const reading = await read(
      codexRollout()
        .user('same')
        .event({ ...sent('same') })
        .event({ type: 'turn_aborted', reason: 'interrupted' })
        .user('same')
        .event({ ...sent('same') }),
    );
    expect(messages(reading)).toEqual(['human user: same', 'human user: same']);
  });

  it('an image without words is never taken from a person', async () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
    const reading = await read(
      codexRollout()
        .item({ type: 'message', role: 'user', content: [image] })
        .user('what is this?')
        .event({ ...sent('what is this?') }),
    );
    expect(reading.facts.humanMessages).toBe(2);
  });

  it('a request in a wrapper is confirmed by the event that holds the wrapper', async () => {
    const wrapped = '# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nfix it\n';
    const reading = await read(
      codexRollout()
        .user('<n_e_w>x</n_e_w>')
        .user(wrapped)
        .event({ ...sent(wrapped) }),
    );
    expect(messages(reading)).toEqual(['harness context: <n_e_w>x</n_e_w>', 'human user: fix it']);
  });

  it('a thousand messages without an answer are kept in order', async () => {
    const rollout = codexRollout();
    for (let at = 0; at < 1_000; at++) rollout.user(`m${at}`).event({ ...sent(`m${at}`) });
    const told = messages(await read(rollout));
    expect(told).toHaveLength(1_000);
    expect(told.at(700)).toBe('human user: m700');
  });

  it('in a sub-agent’s file the tasks are another agent’s', async () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: 'p', depth: 1 } } };
    const reading = await read(codexRollout({ source }).user('do the part').assistant('done'));
    expect(messages(reading)).toEqual(['other agent: do the part', 'assistant final: done']);
    expect(reading.facts).toMatchObject({ humanMessages: 0, title: null, subagent: true });
  });

  it('text pasted from a terminal loses what fills up its lines', async () => {
    const { evidence } = await read(
      codexRollout().user(`$ make${' '.repeat(200)}\r\n  indented${' '.repeat(200)}\nend`),
    );
    expect(evidence).toContain(String.raw`"$ make\n  indented\nend"`);
  });
});

describe('slash commands that were expanded', () => {
  const expanded = (words: string): string =>
    `\n## User Input\n\n\`\`\`text\n${words}\n\`\`\`\n\nYou **MUST** consider the user input before proceeding (if not empty).\n\n## Outline\n\n${'Do this. '.repeat(200)}`;

  it('with words of the person: these are the message', async () => {
    const reading = await read(
      codexRollout()
        .user(expanded('only the api'))
        .event({ ...sent(expanded('only the api')) }),
    );
    expect(messages(reading)).toEqual(['human user: only the api']);
    expect(reading.facts).toMatchObject({ title: 'only the api', conversationBytes: 12 });
  });

  it('without: a turn of the person in the harness’s words, shortened, and no title', async () => {
    const reading = await read(codexRollout().user(expanded('')).assistant('ok').user('now the docs'));
    expect(messages(reading)[0]).toMatch(/^harness context: \[slash command\] You \*\*MUST\*\*/);
    expect(reading.evidence.length).toBeLessThan(1_500);
    expect(reading.facts).toMatchObject({ humanMessages: 2, title: 'now the docs' });
  });
});

describe('turns that were taken back', () => {
  const rolledBack = (turns: unknown): object => ({ type: 'thread_rolled_back', num_turns: turns });

  it('are neither evidence nor counted, with all that came of them', async () => {
    const reading = await read(
      codexRollout()
        .user('use tabs')
        .assistant('tabs')
        .user('no, use spaces')
        .call('shell', {}, 'reformatted')
        .assistant('spaces')
        .event({ ...rolledBack(1) })
        .user('keep it')
        .assistant('kept'),
    );
    expect(messages(reading)).toEqual([
      'human user: use tabs',
      'assistant final: tabs',
      'human user: keep it',
      'assistant final: kept',
    ]);
    expect(reading.evidence).not.toContain('reformatted');
    expect(reading.evidence).toContain('[... response items omitted ...]');
    expect(reading.facts).toMatchObject({ humanMessages: 2, assistantMessages: 2, conversationBytes: 23 });
  });

  it('count backwards from where the conversation is, not over what is gone already', async () => {
    const rollout = codexRollout().user('a').user('b');
    rollout
      .event({ ...rolledBack(1) })
      .user('c')
      .event({ ...rolledBack(2) })
      .user('d');
    const reading = await read(rollout);
    expect(messages(reading)).toEqual(['human user: d']);
    expect(reading.facts).toMatchObject({ humanMessages: 1, title: 'd' });
  });

  it.each([9, 0, -1, 'x', null])('%j of them: as many as there are', async (turns) => {
    const reading = await read(
      codexRollout()
        .user('a')
        .event({ ...rolledBack(turns) })
        .assistant('b'),
    );
    expect(reading.facts.humanMessages).toBe(turns === 9 ? 0 : 1);
    expect(reading.facts.assistantMessages).toBe(1);
  });
});

describe('what else was looked at, in every shape (DV-15)', () => {
  const exec = (input: string): Readonly<Record<string, unknown>> => ({
    type: 'custom_tool_call',
    status: 'completed',
    call_id: 'x',
    name: 'exec',
    input,
  });

  it.each([
    [
      'a program that calls a server',
      exec('const r = await tools.mcp__git-hub__search({q: "x"}); text(r)'),
      { mcpServers: ['git-hub'] },
    ],
    ['a program that names it in brackets', exec('tools["mcp__files__read"]({})'), { mcpServers: ['files'] }],
    ['a program that searches', exec('await tools.web__run({search_query: [{q: "x"}]})'), { webSearch: true }],
    ['a program that runs commands', exec('await tools.exec_command({cmd: "grep mcp__db__query a.js"})'), {}],
    [
      'a search as a function',
      { type: 'function_call', name: 'web_search', arguments: '{}', call_id: 'x' },
      { webSearch: true },
    ],
    [
      'a resource that was read',
      { type: 'function_call', name: 'read_mcp_resource', arguments: '{"server":"wiki","uri":"u"}', call_id: 'x' },
      { mcpServers: ['wiki'] },
    ],
    [
      'a search for tools',
      { type: 'tool_search_call', call_id: 'x', execution: 'local', arguments: { query: 'q' } },
      { toolSearch: true },
    ],
  ])('%s', async (_name, item, seen) => {
    const { facts } = await read(codexRollout().user('go').item(item));
    expect(facts.externalContext).toEqual({ webSearch: false, toolSearch: false, mcpServers: [], ...seen });
    expect(facts.toolCalls).toBe(1);
  });

  it('a call that was completed as an event', async () => {
    const item = { type: 'McpToolCall', id: 'i', server: 'crm', tool: 't', arguments: {} };
    const { facts } = await read(codexRollout().user('go').event({ type: 'item_completed', item }));
    expect(facts.externalContext.mcpServers).toEqual(['crm']);
  });
});

describe('outputs and agents', () => {
  it('an output may be a list of parts, an object or nothing', async () => {
    const rollout = codexRollout().user('go');
    for (const output of [[{ type: 'input_text', text: 'Script completed' }], { type: 'text', text: 'obj' }, null]) {
      rollout.item({ type: 'custom_tool_call_output', call_id: 'x', output });
    }
    const { evidence } = await read(rollout);
    expect(evidence).toContain('Script completed');
    expect(evidence).toContain('"output":{"type":"text","text":"obj"}');
    expect(evidence).toContain('"output":null');
  });

  it('a message between agents on a line of its own is another agent’s, its metadata is not', async () => {
    const { evidence, counts } = await read(
      codexRollout()
        .record('inter_agent_communication', {
          author: '/root/a',
          recipient: '/root',
          content: [{ type: 'input_text', text: 'found it' }],
        })
        .record('inter_agent_communication_metadata', { trigger_turn: false }),
    );
    expect(evidence).toMatch(/^\[other agent\]\n.*found it/m);
    expect(counts.droppedByKind).toEqual({ inter_agent_communication_metadata: 1 });
  });

  it.each([
    [{ source: { subagent: 'review' } }, 'subagent', null],
    [{ source: { subagent: { other: 'helper' } }, parent_thread_id: 'p' }, 'subagent', 'p'],
    [{ source: { subagent: { thread_spawn: { parent_thread_id: 'p', agent_path: null } } } }, 'subagent', 'p'],
    [{ source: 'vscode', thread_source: 'subagent', session_id: 'root' }, 'subagent', 'root'],
    [{ source: 'cli', agent_path: '/root/task1', agent_role: null }, 'subagent', null],
    [{ source: 'cli', parent_thread_id: 'p' }, 'subagent', 'p'],
    [{ source: { subagent: { other: 'guardian' } } }, 'internal', null],
    [{ source: 'cli', thread_source: 'memory_consolidation' }, 'memory_consolidation', null],
  ])('sub-agent of the shape %j', async (meta, source, parentThreadId) => {
    const { facts } = await read(codexRollout({ id: 'own', meta }).user('x'));
    expect(facts).toMatchObject({ threadId: 'own', source, parentThreadId });
    expect(facts.subagent).toBe(source !== 'memory_consolidation');
  });

  it.each([
    { session_id: 'own', thread_source: 'user' },
    { agent_path: '/root' },
    { thread_source: 'user', session_id: 'x' },
  ])('a main thread of the shape %j', async (meta) => {
    const { facts } = await read(codexRollout({ id: 'own', meta }).user('x'));
    expect(facts).toMatchObject({ subagent: false, source: 'cli', parentThreadId: null });
  });
});

describe('the first meta', () => {
  it('without an id: the session’s id, else the next meta names the thread', async () => {
    const bare = {
      timestamp: '2026-01-02T03:04:05.678Z',
      type: 'session_meta',
      payload: { cwd: '/a', session_id: 's' },
    };
    expect((await read(`${JSON.stringify(bare)}\n`)).facts.threadId).toBe('s');
    const empty = { ...bare, payload: { cwd: '/a' } };
    const next = codexRollout({ id: 'named', cwd: '/b' }).user('hi').toText();
    const { facts } = await read(`${JSON.stringify(empty)}\n${next}`);
    expect(facts).toMatchObject({ threadId: 'named', cwd: '/a', humanMessages: 1 });
  });

  it('repeated with all its weight changes nothing but the memory mode', async () => {
    const heavy = { id: 'same', cwd: '/a', base_instructions: { text: 'x'.repeat(20_000) }, memory_mode: 'polluted' };
    const rollout = codexRollout({ id: 'same', cwd: '/a' }).user('a').record('turn_context', { cwd: '/b' });
    for (let at = 0; at < 5; at++) rollout.record('session_meta', heavy);
    const { facts, evidence } = await read(rollout.user('b'));
    expect(facts).toMatchObject({ cwd: '/a', humanMessages: 2, memoryMode: 'polluted' });
    expect(evidence).not.toContain('xxx');
    expect(evidence).toMatch(/\[human user\]\n\[project: \/b\]\n/);
  });
});

describe('times', () => {
  const at = (timestamp: string, text: string): string =>
    JSON.stringify({
      timestamp,
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });

  it('in any order give the earliest and the latest; those that are none are passed over', async () => {
    const lines = [
      '1970-01-01T00:00:00.000Z',
      '9999-01-01T00:00:00Z',
      '[trimmed]',
      '2026-03-04T00:00:00.000Z',
      '2026-03-02T00:00:00.000Z',
    ];
    const { facts } = await read(lines.map((time, nth) => at(time, `m${nth}`)).join('\n'));
    expect(facts).toMatchObject({ firstAt: Date.UTC(2026, 2, 2), lastAt: Date.UTC(2026, 2, 4), humanMessages: 5 });
  });
});

describe('copied turns (D19)', () => {
  const START = Date.UTC(2026, 0, 2, 3, 4, 5);
  const line = (ms: number | null, type: string, payload: object): string =>
    JSON.stringify({ ...(ms === null ? {} : { timestamp: new Date(ms).toISOString() }), type, payload });
  const message = (text: string): object => ({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
  });
  const own = codexRollout({ id: 'new', cwd: '/own', startAt: START }).toText();

  it('of a block that took longer to write than two seconds are all left out, places and agents too', async () => {
    const lines = [line(START + 5, 'session_meta', { id: 'old', cwd: '/old' })];
    for (let at = 0; at < 40; at++) lines.push(line(START + 10 + at * 200, 'response_item', message(`old ${at}`)));
    lines.push(
      line(START + 8_000, 'turn_context', { cwd: '/old' }),
      line(START + 8_010, 'inter_agent_communication', { author: 'a', content: [] }),
      line(START + 8_020, 'event_msg', { type: 'user_message', message: 'old 39' }),
      line(null, 'response_item', message('old, without a time')),
      line(START + 60_000, 'response_item', message('mine')),
      line(START + 1_000, 'response_item', message('mine, out of order')),
    );
    const reading = await read(own + lines.join('\n'));
    expect(messages(reading)).toEqual(['human user: mine', 'human user: mine, out of order']);
    expect(reading.evidence).not.toContain('/old');
    expect(reading.facts).toMatchObject({ threadId: 'new', cwd: '/own', title: 'mine' });
  });

  it('with their old times are left out as well', async () => {
    const lines = [
      line(START, 'session_meta', { id: 'old' }),
      line(START - 86_400_000, 'response_item', message('yesterday')),
      line(START + 60_000, 'response_item', message('mine')),
    ];
    expect(messages(await read(own + lines.join('\n')))).toEqual(['human user: mine']);
  });

  it('parent and fork tell each turn once between them', async () => {
    const parent = [
      line(START - 9_000, 'session_meta', { id: 'old' }),
      line(START - 8_000, 'response_item', message('first')),
    ];
    const fork = [
      line(START + 5, 'session_meta', { id: 'old' }),
      line(START + 6, 'response_item', message('first')),
      line(START + 9_000, 'response_item', message('second')),
    ];
    const told = [...messages(await read(parent.join('\n'))), ...messages(await read(own + fork.join('\n')))];
    expect(told).toEqual(['human user: first', 'human user: second']);
  });
});
