import { describe, expect, it } from 'vitest';
import { encodeUtf8 } from '../../../core/text.ts';
import { type Fields, labelsOf, readText, toLines, understand } from '../../support/read-records.ts';

const message = (role: string, text = role): Fields => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});
const call = { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c1' };
const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' };
const wrap = (payload: unknown, type = 'response_item'): Fields => ({ type, payload });

describe('generic traces', () => {
  it('a byte order mark before a list (TC-279)', async () => {
    const { counts } = await understand('\ufeff[{"type":"message","role":"user","content":[]}]');
    expect(counts).toMatchObject({ records: 1, broken: 0, byKind: { message: 1 } });
  });

  it('wrappers with one item or a list, of other types, and bare items (TC-280)', async () => {
    const reading = await understand(
      JSON.stringify([
        wrap(message('assistant')),
        wrap([message('user'), message('tool'), call]),
        wrap(message('assistant', 'of another type'), 'event_msg'),
        message('developer'),
      ]),
    );
    expect(labelsOf(reading)).toEqual(['assistant final', 'human user', 'tool', 'harness context']);
    expect(reading.evidence).toContain('"role":"developer"');
    expect(reading.evidence).not.toContain('of another type');
    expect(reading.counts.droppedByKind).toEqual({ 'event_msg/message': 1 });
  });

  it('lines that hold a wrapper or a list (TC-281)', async () => {
    const text = `${JSON.stringify(wrap(message('assistant')))}\n${JSON.stringify([message('user'), message('tool')])}\n`;
    const reading = await understand(text);
    expect(labelsOf(reading)).toEqual(['assistant final', 'human user']);
    expect(reading.counts).toMatchObject({ records: 3, broken: 0 });
    const turned = text.trim().split('\n').reverse().join('\n');
    expect(labelsOf(await understand(turned))).toEqual(['human user', 'assistant final']);
  });

  it.each([
    ['a list of no objects', '[1,2]', 'unreadable'],
    ['one object over several lines', JSON.stringify(message('user'), null, 2), 'unrecognised_format'],
    ['a list of objects that are no items', '[{"a":1},{"b":2}]', 'unrecognised_format'],
  ])('%s is an error (TC-282)', async (_name, text, reason) => {
    expect(await readText(text)).toMatchObject({ kind: 'failed', reason });
  });

  it('prose around good lines is passed over (TC-282)', async () => {
    const reading = await understand(
      `Starting up\n\n${JSON.stringify(message('user'))}\nand more\nand more\nthe end\n`,
    );
    expect(labelsOf(reading)).toEqual(['human user']);
    expect(reading.counts).toMatchObject({ records: 1, broken: 0, byKind: { '(prose)': 4, message: 1 } });
  });

  it.each([1, 3, 4_096])('a line with the byte E9 is Latin-1 (TC-282), in chunks of %d', async (chunkBytes) => {
    const text = toLines(message('user', 'caf?'), message('assistant', 'größer'));
    const latin = Uint8Array.from(encodeUtf8(text), (byte) => (byte === 0x3f ? 0xe9 : byte));
    const { evidence } = await understand(latin, chunkBytes);
    expect(evidence).toContain('"text":"café"');
    expect(evidence).toContain('"text":"größer"');
  });

  it('items of the Responses API, with their ids', async () => {
    const items = [
      message('user'),
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEALED' },
      { ...call, id: 'fc_1', status: 'completed' },
      output,
      { ...message('assistant'), id: 'msg_1', status: 'completed' },
    ];
    for (const text of [JSON.stringify(items, null, 2), JSON.stringify({ model: 'x', input: items })]) {
      const { facts, evidence, counts } = await understand(text);
      expect(facts).toMatchObject({ agentKind: 'trace', threadId: null, humanMessages: 1, toolCalls: 1 });
      expect(counts.droppedByKind).toMatchObject({ reasoning: 1 });
      expect(evidence).not.toContain('SEALED');
    }
  });

  it('torn, give what is complete', async () => {
    const text = JSON.stringify([message('user'), message('assistant'), message('user', 'lost')]);
    const { facts, counts } = await understand(text.slice(0, -20));
    expect(facts).toMatchObject({ humanMessages: 1, assistantMessages: 1 });
    expect(counts).toMatchObject({ tornTail: true, broken: 0 });
  });

  it('a Codex rollout is none, nor one without its first line', async () => {
    const bare = toLines({ ...message('user'), id: null }, { ...call, id: null });
    expect((await understand(bare)).facts.agentKind).toBe('codex');
    const line = { timestamp: '2026-01-02T03:04:05.678Z', ...wrap(message('user')) };
    expect((await understand(toLines(line))).facts.agentKind).toBe('codex');
  });
});
