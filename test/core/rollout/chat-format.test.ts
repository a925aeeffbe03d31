import { describe, expect, it } from 'vitest';
import { encodeUtf8 } from '../../../core/text.ts';
import { type Fields, labelsOf, toLines, understand } from '../../support/read-records.ts';

const user = (content: unknown): Fields => ({ role: 'user', content });
const assistant = (content: unknown, calls?: readonly Fields[]): Fields => ({
  role: 'assistant',
  content,
  ...(calls ? { tool_calls: calls } : {}),
});
const call = (id: string, name: string, args: unknown = '{"a":1}'): Fields => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const result = (id: string, content: unknown): Fields => ({ role: 'tool', tool_call_id: id, name: 'x', content });

const TALK = [
  { role: 'system', content: 'RULES' },
  user('book it'),
  assistant(null, [call('c1', 'book')]),
  result('c1', 'booked'),
  assistant('Done.'),
];
const LABELS = ['human user', 'tool', 'tool', 'assistant final'];

describe('conversations of the chat completions API', () => {
  it.each([
    ['a list of messages', JSON.stringify(TALK)],
    ['a list over many lines', JSON.stringify(TALK, null, 2)],
    ['one object with its messages', JSON.stringify({ model: 'x', messages: TALK })],
    ['a list of objects with messages', JSON.stringify([{ task_id: 1, traj: TALK, reward: 1 }], null, 2)],
    ['a message a line', toLines(...TALK)],
    ['an object a line, known late', toLines({ type: 'note' }, { model: 'x', messages: TALK })],
  ])('%s', async (_name, text) => {
    for (const chunkBytes of [1, 50, 4_096]) {
      const reading = await understand(text, chunkBytes);
      expect(labelsOf(reading)).toEqual(LABELS);
      expect(reading.facts).toMatchObject({
        agentKind: 'chat',
        threadId: null,
        source: null,
        firstAt: null,
        title: 'book it',
        humanMessages: 1,
        assistantMessages: 1,
        toolCalls: 1,
      });
      expect(reading.evidence).toContain(
        '{"type":"function_call","name":"book","arguments":"{\\"a\\":1}","call_id":"c1"}',
      );
      expect(reading.evidence).toContain('{"type":"function_call_output","call_id":"c1","output":"booked"}');
      expect(reading.evidence).not.toContain('RULES');
    }
  });

  it('that one conversation names itself by its id', async () => {
    const before = await understand(JSON.stringify({ session_id: 's-1', messages: TALK }));
    const after = await understand(JSON.stringify({ messages: TALK, session_id: 's-1' }));
    expect([before.facts.threadId, after.facts.threadId]).toEqual(['s-1', 's-1']);
  });

  it('of which one file holds many: one thread, each message with the number of its conversation', async () => {
    const runs = [1, 2, 3].map((id) => ({ session_id: `s-${id}`, messages: [user(`ask ${id}`), assistant('ok')] }));
    for (const text of [JSON.stringify(runs), JSON.stringify(runs, null, 2), toLines(...runs)]) {
      const { facts, evidence, counts } = await understand(text);
      expect(facts).toMatchObject({ threadId: null, humanMessages: 3, title: 'ask 1' });
      expect(counts.byKind).toEqual({ document: 3, user: 3, assistant: 3 });
      expect(evidence).toContain('{"type":"message","role":"user","content":[{"type":"input_text","text":"ask 1"}]}');
      expect(evidence).toContain('{"type":"message","role":"user","conversation":3,"content":');
    }
  });

  it('tell commentary from final answers', async () => {
    const reading = await understand(
      JSON.stringify([user('go'), assistant('wait', [call('c', 'x')]), assistant('done')]),
    );
    expect(labelsOf(reading)).toEqual(['human user', 'assistant commentary', 'tool', 'assistant final']);
  });

  it('replace images and audio', async () => {
    const parts = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'AAAA'.repeat(100)}` } },
      { type: 'input_audio', input_audio: { data: 'BBBB'.repeat(100), format: 'wav' } },
    ];
    const { evidence } = await understand(JSON.stringify([user(parts)]));
    expect(evidence).toContain('[image omitted]');
    expect(evidence).toContain('[audio omitted]');
    expect(evidence).not.toMatch(/AAAA|BBBB/);
  });

  it('know the calls of the time before there were ids', async () => {
    const { evidence, facts } = await understand(
      JSON.stringify([
        user('go'),
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'seen' },
      ]),
    );
    expect(facts.toolCalls).toBe(1);
    expect(evidence).toContain('"call_id":"look"}');
    expect(evidence).toContain('{"type":"function_call_output","call_id":"look","output":"seen"}');
  });

  it('are read as Latin-1 where they are no UTF-8 (V-01)', async () => {
    const bytes = encodeUtf8(JSON.stringify({ messages: [user('caf? au lait'), user('größer')] }));
    const latin = Uint8Array.from(bytes, (byte) => (byte === 0x3f ? 0xe9 : byte));
    const { evidence } = await understand(latin);
    expect(evidence).toContain('café au lait');
    expect(evidence).toContain('größer');
  });
});
