import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { codexRollout, type RolloutBuilder, toChunks } from '../../support/rollout-builder.ts';

type Read = Extract<RolloutReading, { kind: 'read' }>;
const encoder = new TextEncoder();

async function readBytes(
  bytes: Uint8Array,
  evidenceTokens: number | null = 100_000,
  chunkBytes?: number,
): Promise<RolloutReading> {
  return readRollout(toChunks(bytes, chunkBytes), { evidenceTokens });
}

async function read(rollout: RolloutBuilder | string): Promise<Read> {
  const reading = await readBytes(typeof rollout === 'string' ? encoder.encode(rollout) : rollout.toBytes());
  if (reading.kind !== 'read') throw new Error(`not read: ${reading.reason} ${reading.detail}`);
  return reading;
}

async function middle(rollout: RolloutBuilder, evidenceTokens: number): Promise<string> {
  const reading = await readRollout(toChunks(rollout.toBytes()), { evidenceTokens, mode: 'middle' });
  return reading.kind === 'read' ? reading.evidence : reading.reason;
}

/** The labels of the rows, in order. */
function labels(reading: Read): string[] {
  return [...reading.evidence.matchAll(/^\[([a-z ]+)\]$/gm)].map((match) => match[1] ?? '');
}

describe('what is kept (1.S)', () => {
  it.each([
    ['TC-274: in any case, with outer space', ' # agents.md INSTRUCTIONS x</instructions> ', 0],
    ['TC-274: text after the end tag stays', '# AGENTS.md instructions x</INSTRUCTIONS> do it', 1],
    ['TC-274: no end tag stays', '# AGENTS.md instructions x', 1],
    ['TC-274: <skill> alone stays', '<skill>', 1],
    ['TC-274: a whole skill goes', '<SKILL>x</SKILL>', 0],
    ['the older form goes (A18)', '<user_instructions>\n# Rules\n</user_instructions>', 0],
    ['permissions go (A18)', '<permissions instructions>\nx\n</permissions instructions>', 0],
  ])('%s', async (_name, text, count) => {
    expect(labels(await read(codexRollout().user(text)))).toHaveLength(count);
  });

  it('TC-275: drops parts and keeps what is left of a message', async () => {
    const agents = '# AGENTS.md instructions for /a\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>';
    const environment = '<environment_context>\n<cwd>/a</cwd>\n</environment_context>';
    const notice = '<subagent_notification>done</subagent_notification>';
    const reading = await read(codexRollout().user(agents, agents, environment).user('<skill>x</skill>', notice));
    expect(labels(reading)).toEqual(['harness context', 'other agent']);
    expect(reading.evidence).not.toContain('AGENTS');
    expect(reading.evidence).not.toContain('skill');
  });

  it('TC-276: an empty message goes, an assistant may speak like AGENTS.md', async () => {
    const text = '# AGENTS.md instructions x</INSTRUCTIONS>';
    const reading = await read(codexRollout().user().assistant(text));
    expect(labels(reading)).toEqual(['assistant final']);
    expect(reading.evidence).toContain(text);
  });

  it('TC-277: developers, reasoning, compaction, contexts and events are absent', async () => {
    const rollout = codexRollout()
      .item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] })
      .item({ type: 'reasoning', summary: [], encrypted_content: 'gAAAA' })
      .item({ type: 'compaction', encrypted_content: 'gAAAA' })
      .item({ type: 'something_new' })
      .record('turn_context', { cwd: '/work/app', model: 'm' })
      .record('compacted', { message: '', replacement_history: [{ type: 'message', role: 'user', content: 'again' }] })
      .event({ type: 'user_message', message: 'said' })
      .event({ type: 'agent_message', message: 'said' });
    expect(await middle(rollout, 1_000)).toBe('[]');
    const { counts } = await read(rollout);
    expect(counts.byKind).toMatchObject({
      'response_item/something_new': 1,
      'event_msg/user_message': 1,
      compacted: 1,
    });
    expect(counts.droppedByKind).toMatchObject({
      'response_item/message': 1,
      'response_item/reasoning': 1,
      turn_context: 1,
    });
  });

  it('clears encrypted content, images and the status of user messages (S-03, TI-01)', async () => {
    const blob = `gAAAA${'Ab1_'.repeat(30)}`;
    const image = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(500)}` };
    const reading = await read(
      codexRollout()
        .item({
          type: 'message',
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: 'see' }, image, { type: 'input_audio', data: 'AAAA' }],
        })
        .item({
          type: 'agent_message',
          author: 'a',
          content: [
            { type: 'input_text', text: 'hi' },
            { type: 'encrypted_content', encrypted_content: blob },
          ],
        })
        .call('spawn_agent', { message: blob }, [{ type: 'input_text', text: 'ok' }, image]),
    );
    expect(reading.evidence).not.toContain('gAAAA');
    expect(reading.evidence).not.toContain('base64');
    expect(reading.evidence).not.toContain('completed');
    expect(reading.evidence.match(/\[image omitted\]/g)).toHaveLength(2);
    expect(reading.evidence).toContain('[audio omitted]');
    expect(labels(reading)).toEqual(['human user', 'other agent', 'tool', 'tool']);
  });

  it('takes the request out of what the editor wraps around it', async () => {
    const { evidence, facts } = await read(
      codexRollout()
        .user('# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nfix the test\n')
        .user('\n## Referenced ChatGPT conversation:\nuntrusted\n{}\n## My request for Codex:\nand the docs\n'),
    );
    expect(facts).toMatchObject({ title: 'fix the test', humanMessages: 2 });
    expect(evidence).not.toContain('Open tabs');
    expect(evidence).not.toContain('untrusted');
    expect(evidence).toContain('and the docs');
  });

  it('drops our own memory summary, wherever it was put', async () => {
    const block = '========= MEMORY_SUMMARY BEGINS =========\nold truths\n========= MEMORY_SUMMARY ENDS =========';
    const { evidence } = await read(
      codexRollout().user(`before ${block} after`).call('exec_command', {}, `x ${block}`).user(block.slice(0, 60)),
    );
    expect(evidence).not.toContain('old truths');
    expect(evidence).toContain('before [memory summary omitted] after');
  });

  it('drops tool outputs that are another rollout (A16)', async () => {
    const other = codexRollout().user('someone said this').assistant('elsewhere').toText();
    const reading = await read(
      codexRollout()
        .user('look')
        .call('exec_command', {}, other)
        .call('shell', {}, JSON.stringify({ output: other }))
        .call('shell', {}, 'plain'),
    );
    expect(reading.evidence).not.toContain('someone said this');
    expect(reading.evidence.match(/\[another rollout omitted\]/g)).toHaveLength(2);
    expect(reading.evidence).toContain('plain');
  });

  it('keeps no NUL, and leaves its escape in code alone (D10)', async () => {
    const { evidence } = await read(
      codexRollout().call('shell', {}, 'W\0s\0l\0').user(String.raw`the code says "\u0000"`),
    );
    expect(evidence).toContain('Wsl');
    expect(evidence).toContain(String.raw`the code says \"\\u0000\"`);
  });
});

describe('who speaks (TI-03)', () => {
  const kinds = (names: readonly string[]): object => ({
    internal_chat_message_metadata_passthrough: { content_item_kinds: names },
  });
  const user = (text: string, extra: object = {}): Readonly<Record<string, unknown>> => ({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    ...extra,
  });

  it.each([
    ['a person', user('hi'), 'human user'],
    ['TC-302: a notice of a sub-agent', user('<subagent_notification>x'), 'other agent'],
    ['four header lines', user('Message Type: a\nTask name: b\nSender: c\nPayload:\nd'), 'other agent'],
    ['three header lines', user('Message Type: a\nTask name: b\nSender: c'), 'human user'],
    ['agent kinds', user('x', kinds(['multi_agent.message'])), 'other agent'],
    ['kinds that are not the user\u2019s', user('x', kinds(['permissions.instructions'])), 'harness context'],
    ['one kind of the user', user('x', kinds(['permissions.instructions', 'user.text'])), 'human user'],
    ['an interruption', user('<turn_aborted>\nx\n</turn_aborted>'), 'harness context'],
    [
      'an environment block with text behind it',
      user('<environment_context>x</environment_context> and do it'),
      'human user',
    ],
  ])('%s', async (_name, item, label) => {
    expect(labels(await read(codexRollout().item(item)))).toEqual([label]);
  });

  it('TC-301: one environment part makes the message harness context', async () => {
    const reading = await read(codexRollout().user('<environment_context>x</environment_context>', 'and do it'));
    expect(labels(reading)).toEqual(['harness context']);
  });

  it('TC-302: commentary by its phase, else final', async () => {
    expect(
      labels(await read(codexRollout().assistant('a', 'commentary').assistant('b').assistant('c', 'final_answer'))),
    ).toEqual(['assistant commentary', 'assistant final', 'assistant final']);
  });

  it('TC-300: the first answer to a question is the person speaking', async () => {
    const answers = (text: string): string => JSON.stringify({ answers: { q: { answers: [text] } } });
    const output = (text: string): Readonly<Record<string, unknown>> => ({
      type: 'function_call_output',
      call_id: 'c1',
      output: answers(text),
    });
    const asked = codexRollout().item({
      type: 'function_call',
      name: 'request_user_input',
      arguments: '{"q":"tabs?"}',
      call_id: 'c1',
    });
    const reading = await read(asked.item(output(' ')).item(output('yes')).item(output('no')));
    expect(labels(reading)).toEqual(['tool', 'tool', 'human user', 'tool']);
    expect(reading.evidence).toContain(
      '[human user]\nAssistant question: {"q":"tabs?"}\nHuman reply: {"type":"function_call_output"',
    );
    expect(reading.facts.humanMessages).toBe(1);
  });
});

describe('one array with its middle cut out (S-01, M-05)', () => {
  it('holds all kept items in order', async () => {
    const text = await middle(codexRollout().user('a').call('shell', { x: 1 }, 'out').assistant('b'), 10_000);
    const parsed: unknown = JSON.parse(text);
    expect(parsed).toMatchObject([
      { role: 'user' },
      { type: 'function_call' },
      { output: 'out' },
      { role: 'assistant' },
    ]);
  });

  it('cuts as the whole text would be cut, without holding it', async () => {
    const rollout = codexRollout();
    for (let at = 0; at < 300; at++) rollout.user(`é${at} ${'x'.repeat(at * 7)}`);
    const whole = await middle(rollout, 1_000_000);
    const { truncateTokens } = await import('../../../core/text.ts');
    for (const tokens of [0, 1, 10, 999, 20_001, 50_000]) {
      expect(await middle(rollout, tokens)).toBe(truncateTokens(whole, tokens));
    }
  });
});

describe('facts', () => {
  it('come from the first meta', async () => {
    const { facts } = await read(
      codexRollout({
        id: 'first',
        cwd: '/a',
        git: { repository_url: 'https://u:hunter22@h/a/b', branch: 'dev' },
        meta: { memory_mode: 'enabled' },
      })
        .record('session_meta', { id: 'other', cwd: '/b', memory_mode: 'disabled' })
        .record('session_meta', { id: 'first', cwd: '/a', memory_mode: 'polluted' }),
    );
    expect(facts).toMatchObject({
      agentKind: 'codex',
      formatVersion: '0.146.0',
      threadId: 'first',
      cwd: '/a',
      repository: 'https://u:[REDACTED_SECRET]@h/a/b',
      gitBranch: 'dev',
      memoryMode: 'polluted',
      firstAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      lastAt: Date.UTC(2026, 0, 2, 3, 4, 7),
    });
  });

  it.each([
    [{ source: 'vscode', originator: 'Codex Desktop' }, 'desktop'],
    [{ source: 'vscode', originator: 'codex_vscode' }, 'vscode'],
    [{ source: 'vscode', originator: 'someone' }, 'vscode'],
    [{ source: 'exec', originator: 'codex_cli_rs' }, 'exec'],
    [{ source: null, originator: 'codex_exec' }, 'exec'],
    [{ source: null, originator: 'codex_cli_rs' }, 'cli'],
    [{ source: null, originator: 'someone' }, null],
    [{ source: 'mcp' }, 'mcp'],
    [{ source: { custom: 'atlas' } }, 'custom'],
    [{ source: { internal: 'x' } }, 'internal'],
    [{ source: { subagent: 'memory_consolidation' } }, 'memory_consolidation'],
    [{ source: { internal: 'memory_consolidation' } }, 'memory_consolidation'],
    [{ source: 'brand_new' }, 'brand_new'],
  ])('source of %j', async (options, source) => {
    const { facts } = await read(codexRollout({ ...options, meta: { source: options.source } }));
    expect(facts.source).toBe(source);
  });

  it('tell a sub-agent and its parent', async () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: 'p', depth: 1 } } };
    const { facts } = await read(codexRollout({ source, meta: { session_id: 'p' } }));
    expect(facts).toMatchObject({ subagent: true, source: 'subagent', parentThreadId: 'p' });
  });

  it('count what was said, and what else was looked at', async () => {
    const { facts } = await read(
      codexRollout()
        .environment()
        .user('\n  fix it\nnow')
        .assistant('é')
        .call('mcp__git-hub__search', {}, 'x')
        .item({ type: 'function_call', name: 'list', namespace: 'mcp__files', arguments: '{}', call_id: 'n' })
        .item({ type: 'web_search_call', status: 'completed' })
        .item({ type: 'tool_search_output', call_id: 't', tools: [] })
        .event({ type: 'mcp_tool_call_end', invocation: { server: 'db', tool: 'q' } }),
    );
    expect(facts).toMatchObject({
      title: 'fix it',
      humanMessages: 1,
      assistantMessages: 1,
      toolCalls: 3,
      conversationBytes: 15,
      externalContext: { webSearch: true, toolSearch: true, mcpServers: ['db', 'files', 'git-hub'] },
    });
  });

  it('hold a title of at most 200 characters, redacted and cut between characters', async () => {
    const { facts } = await read(codexRollout().user(`password=hunter2hunter ${'🚀'.repeat(300)}`));
    expect(facts.title?.startsWith('password=[REDACTED_SECRET] 🚀')).toBe(true);
    expect([...(facts.title ?? '')]).toHaveLength(200);
    expect(facts.title?.isWellFormed()).toBe(true);
  });

  it('do not need evidence', async () => {
    const reading = await readBytes(codexRollout().user('hi').call('shell', {}, 'x').toBytes(), null);
    expect(reading).toMatchObject({ kind: 'read', evidence: '', facts: { humanMessages: 1, toolCalls: 1 } });
  });

  it('note where the work moves to another directory (A13)', async () => {
    const { evidence, facts } = await read(
      codexRollout({ cwd: '/a' })
        .record('turn_context', { cwd: '/a' })
        .user('x')
        .record('turn_context', { turn_id: 't', cwd: '/b' })
        .user('y'),
    );
    expect(facts.cwd).toBe('/a');
    expect(evidence.match(/"turn_context","cwd":"\/b"/g)).toHaveLength(1);
    expect(evidence).not.toContain('"turn_context","cwd":"/a"');
  });
});

describe('user turns that come as events', () => {
  const event = (text: string): Readonly<Record<string, unknown>> => ({
    type: 'item_completed',
    item: { type: 'UserMessage', content: [{ type: 'text', text, text_elements: [] }] },
  });

  it('are taken where no item repeats them', async () => {
    const reading = await read(codexRollout().event(event('first')).assistant('a').event(event('second')));
    expect(labels(reading)).toEqual(['human user', 'assistant final', 'human user']);
    expect(reading.facts).toMatchObject({ humanMessages: 2, title: 'first' });
  });

  it('are taken once where an item stands before or behind them', async () => {
    const reading = await read(
      codexRollout()
        .event(event('one'))
        .user('one')
        .assistant('a')
        .user('two')
        .event(event('two'))
        .assistant('b')
        .user('two')
        .event(event('two')),
    );
    expect(labels(reading).filter((label) => label === 'human user')).toHaveLength(3);
  });
});

describe('copied and forked rollouts (D19)', () => {
  const at = (second: number): number => Date.UTC(2026, 0, 2, 3, 4, second);
  const copied = (meta: object, gap: number): string => {
    const first = codexRollout({ id: 'new', startAt: at(0), meta: { ...meta } });
    const line = (ms: number, type: string, payload: object): string =>
      JSON.stringify({ timestamp: new Date(ms).toISOString(), type, payload });
    const message = (text: string): object => ({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }],
    });
    return (
      first.toText() +
      [
        ...(gap > 0 ? [line(at(0) + gap, 'session_meta', { id: 'old', cwd: '/old' })] : []),
        line(at(0) + gap + 10, 'response_item', message('inherited')),
        line(at(0) + gap + 20, 'response_item', {
          type: 'function_call',
          name: 'shell',
          arguments: '{}',
          call_id: '1',
        }),
        line(at(30), 'response_item', message('new turn')),
      ].join('\n')
    );
  };

  it.each([
    ['a resume that was copied', copied({}, 6_000)],
    ['a fork', copied({ forked_from_id: 'old' }, 0)],
  ])('%s keeps its own turns only', async (_name, text) => {
    const { facts, evidence } = await read(text);
    expect(facts).toMatchObject({
      threadId: 'new',
      cwd: '/work/app',
      humanMessages: 1,
      toolCalls: 0,
      title: 'new turn',
    });
    expect(evidence).not.toContain('inherited');
  });

  it('a session resumed in place keeps all', async () => {
    const rollout = codexRollout({ id: 'same' }).user('a').record('session_meta', { id: 'same' }).user('b');
    expect((await read(rollout)).facts.humanMessages).toBe(2);
  });
});

describe('transcripts in the wild', () => {
  const sample = codexRollout()
    .environment()
    .user('größer 🚀 日本')
    .call('shell', { command: ['ls'] }, 'a\u2028b\r\n')
    .assistant('done');

  it('reads the same whatever the chunks are', async () => {
    const whole = await readBytes(sample.toBytes());
    for (const size of [1, 2, 3, 7, 64, 1_000]) expect(await readBytes(sample.toBytes(), 100_000, size)).toEqual(whole);
  });

  it('reads the same with CRLF, blank lines and a byte order mark (D13)', async () => {
    const plain = await read(sample);
    const messy = await read(`\ufeff${sample.toText().replaceAll('\n', ' \r\n\n  \r\n')}`);
    expect({ ...messy, counts: { ...messy.counts, bytes: plain.counts.bytes } }).toEqual(plain);
  });

  it('reads the same without the last line end, and with spaced JSON', async () => {
    const spaced = sample
      .toText()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.stringify(JSON.parse(line), null, 1).replaceAll('\n', ' '))
      .join('\n');
    const { facts, evidence, counts } = await read(spaced);
    const plain = await read(sample);
    expect({ facts, evidence, byKind: counts.byKind }).toEqual({
      facts: plain.facts,
      evidence: plain.evidence,
      byKind: plain.counts.byKind,
    });
  });

  it('never splits a record at U+2028 (D11)', async () => {
    const { counts, evidence } = await read(sample);
    expect(counts.broken).toBe(0);
    expect(evidence).toContain('a\u2028b');
  });

  it('ignores a torn tail, even in the middle of a character (D6)', async () => {
    const bytes = codexRollout().user('kept').user('torn 日').toBytes();
    const cut = bytes.subarray(0, bytes.indexOf(0xe6, 300) + 1);
    expect(await readBytes(cut)).toMatchObject({
      kind: 'read',
      facts: { humanMessages: 1 },
      counts: { tornTail: true, broken: 0 },
    });
  });

  it('replaces invalid UTF-8 (D8)', async () => {
    const bytes = codexRollout().user('bad ?? end').toBytes();
    bytes.set([0xe6, 0x87], bytes.indexOf(0x3f));
    const reading = await readBytes(bytes);
    expect(reading).toMatchObject({ kind: 'read', counts: { broken: 0 }, facts: { title: 'bad \ufffd end' } });
  });

  it('counts broken lines in the middle and keeps the rest (D7)', async () => {
    const rollout = codexRollout()
      .user('a')
      .line('{"timestamp":"2026')
      .line('')
      .line('null')
      .line('[]')
      .line('"text"')
      .line('7');
    for (let at = 0; at < 6; at++) rollout.user('b');
    const { counts, facts } = await read(rollout);
    expect(counts).toMatchObject({ broken: 5, records: 8, tornTail: false });
    expect(facts.humanMessages).toBe(7);
  });

  it('fails when more than half of the lines are broken (D7)', async () => {
    const reading = await readBytes(encoder.encode(`${codexRollout().user('a').toText()}x\ny\nz\n`));
    expect(reading).toMatchObject({ kind: 'failed', reason: 'unreadable', detail: '3 of 5 lines are no JSON object' });
  });

  it('recovers objects that are glued together on one line', async () => {
    const [meta, one, two] = codexRollout().user('one {"').user('two').toText().split('\n');
    const { facts, counts } = await read(`${meta}\n${one}${two}\n`);
    expect(facts.humanMessages).toBe(2);
    expect(counts).toMatchObject({ broken: 0, records: 3 });
  });

  it.each([
    ['passes over a record that is too large, without keeping it', 'many words ', { oversized: 1, broken: 0 }],
    ['keeps a record with an image of any size, without the image', 'iVBORw0KGgo', { oversized: 0, broken: 0 }],
  ])('%s (D1)', async (_name, text, counts) => {
    const piece = encoder.encode(text.repeat(100_000));
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield codexRollout().user('before').toBytes();
      yield encoder.encode(
        '{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,',
      );
      for (let at = 0; at < 20; at++) yield piece;
      yield encoder.encode(`"}]}}\n${codexRollout({ headless: true }).user('after').toText()}`);
    }
    const reading = await readRollout(stream(), { evidenceTokens: 1_000 });
    expect(reading).toMatchObject({ kind: 'read', facts: { humanMessages: 2 }, counts });
    const evidence = reading.kind === 'read' ? reading.evidence : '';
    expect(evidence.length).toBeLessThan(1_000);
    expect(evidence.includes('[image omitted]')).toBe(counts.oversized === 0);
  });

  it('counts kinds that nobody knows yet, also odd ones', async () => {
    const rollout = codexRollout()
      .record('brand_new', {})
      .record('constructor', {})
      .record('__proto__', {})
      .record('a\nb', {});
    expect((await read(rollout)).counts.byKind).toMatchObject({
      brand_new: 1,
      constructor: 1,
      '(other)': 1,
      session_meta: 1,
    });
  });

  it('survives any bytes', async () => {
    const line = fc.oneof(
      fc.json(),
      fc.constantFrom(
        '{"type":"response_item","payload":{"type":"message","role":"user","content":3}}',
        '{"type":"event_msg","payload":{"type":"item_completed","item":7}}',
      ),
      fc
        .record({
          type: fc.constantFrom(
            'response_item',
            'event_msg',
            'session_meta',
            'turn_context',
            'message',
            'user',
            'assistant',
          ),
          timestamp: fc.string(),
          payload: fc.jsonValue(),
          message: fc.jsonValue(),
          uuid: fc.constant('u'),
          sessionId: fc.constant('s'),
        })
        .map((value) => JSON.stringify(value)),
    );
    const known = fc.record({
      type: fc.constantFrom(
        'message',
        'function_call',
        'function_call_output',
        'web_search_call',
        'agent_message',
        'item_completed',
      ),
      role: fc.constantFrom('user', 'assistant', 'developer', null),
      content: fc.jsonValue(),
      output: fc.jsonValue(),
      call_id: fc.constantFrom('a', 'b', null),
      name: fc.constantFrom('request_user_input', 'shell', null),
      item: fc.jsonValue(),
    });
    const lines = fc.array(
      fc.oneof(
        line,
        known.map((payload) =>
          JSON.stringify({ timestamp: '2026-01-02T03:04:05.678Z', type: 'response_item', payload }),
        ),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.uint8Array({ maxLength: 20 }),
        fc.integer({ min: 1, max: 50 }),
        async (texts, tail, chunkBytes) => {
          const bytes = new Uint8Array([...encoder.encode(texts.join('\n')), ...tail]);
          const reading = await readBytes(bytes, 500, chunkBytes);
          expect(reading.counts.bytes).toBe(bytes.length);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('how reading ends', () => {
  it('an empty file and a header alone are sessions without messages', async () => {
    expect(await readBytes(new Uint8Array(0))).toMatchObject({
      kind: 'read',
      facts: { agentKind: 'unknown', humanMessages: 0 },
    });
    expect(await readBytes(codexRollout().toBytes())).toMatchObject({
      kind: 'read',
      facts: { agentKind: 'codex', humanMessages: 0 },
    });
  });

  it('records of no known format are a failure that names their kinds', async () => {
    expect(
      await readBytes(encoder.encode('{"type":"session"}\n{"type":"note"}\n{"type":"note"}\n{"x":1}\n')),
    ).toMatchObject({
      kind: 'failed',
      reason: 'unrecognised_format',
      detail: 'no known record kind among: note 2, session 1, (no type) 1',
    });
  });

  it('a document over many lines is a failure of format', async () => {
    expect(await readBytes(encoder.encode(JSON.stringify({ messages: [1, 2] }, null, 2)))).toMatchObject({
      kind: 'failed',
      reason: 'unrecognised_format',
    });
  });

  it('errors of the stream are not swallowed', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield codexRollout().toBytes();
      throw new Error('cut archive');
    }
    await expect(readRollout(broken(), { evidenceTokens: null })).rejects.toThrow('cut archive');
  });
});
