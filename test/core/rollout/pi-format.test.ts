import { describe, expect, it } from 'vitest';
import { type Fields, labelsOf, toLines, understand } from '../../support/read-records.ts';

let clock = Date.UTC(2026, 0, 3);

function entry(type: string, fields: Fields): Fields {
  clock += 1_000;
  return { type, timestamp: new Date(clock).toISOString(), ...fields };
}

const header = (extra: Fields = {}): Fields =>
  entry('session', { id: 'pi-1', cwd: '/work/app', provider: 'anthropic', modelId: 'x', ...extra });
const message = (role: string, content: unknown, extra: Fields = {}): Fields =>
  entry('message', { message: { role, content, ...extra } });
const text = (words: string): Fields => ({ type: 'text', text: words });
const call = (name: string, id: string, args: unknown = {}): Fields => ({
  type: 'toolCall',
  id,
  name,
  arguments: args,
});
const result = (toolCallId: string, content: unknown, isError = false): Fields =>
  message('toolResult', content, { toolCallId, toolName: 'x', isError });

describe('pi sessions', () => {
  it('tell their thread, in each version', async () => {
    const records = [message('user', [text('fix it')]), message('assistant', [text('done')], { stopReason: 'stop' })];
    const { facts } = await understand(toLines(header(), ...records));
    expect(facts).toMatchObject({
      agentKind: 'pi',
      formatVersion: 'v1',
      threadId: 'pi-1',
      source: 'cli',
      cwd: '/work/app',
      title: 'fix it',
      humanMessages: 1,
      assistantMessages: 1,
      lastAt: clock,
    });
    const later = await understand(toLines(header({ version: 3 }), { ...records[0], id: 'a', parentId: null }));
    expect(later.facts.formatVersion).toBe('v3');
  });

  it('pair calls with their results, which are messages', async () => {
    const reading = await understand(
      toLines(
        header(),
        message('user', 'go'),
        message('assistant', [text('reading'), call('read', 'c1', { path: 'a' }), call('bash', 'c2')], {
          stopReason: 'toolUse',
        }),
        result('c1', [text('one'), text('two')]),
        result('c2', [text('failed')], true),
        message('assistant', [text('done')], { stopReason: 'stop' }),
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
    expect(reading.evidence).toContain(
      '{"type":"function_call","name":"read","arguments":"{\\"path\\":\\"a\\"}","call_id":"c1"}',
    );
    expect(reading.evidence).toContain('{"type":"function_call_output","call_id":"c1","output":"one\\ntwo"}');
    expect(reading.evidence).toContain(
      '{"type":"function_call_output","call_id":"c2","is_error":true,"output":"failed"}',
    );
  });

  it('drop what was aborted before a word, thinking, and noise', async () => {
    const reading = await understand(
      toLines(
        header(),
        message('user', 'go'),
        message('assistant', [], { stopReason: 'aborted', errorMessage: 'Request was aborted' }),
        message('assistant', [{ type: 'thinking', thinking: 'secretly', thinkingSignature: 'x' }], {
          stopReason: 'stop',
        }),
        entry('thinking_level_change', { thinkingLevel: 'low' }),
        entry('model_change', { provider: 'x', modelId: 'y' }),
        entry('compaction', { summary: 'what was said', firstKeptEntryId: 'a' }),
        entry('custom_message', { content: 'from an extension' }),
      ),
    );
    expect(labelsOf(reading)).toEqual(['human user']);
    expect(reading.counts.droppedByKind).toEqual({
      message: 2,
      thinking_level_change: 1,
      model_change: 1,
      compaction: 1,
      custom_message: 1,
    });
    expect(reading.facts.lastAt).toBe(clock);
  });

  it('take an answer that was cut off for commentary', async () => {
    const reading = await understand(
      toLines(header(), message('assistant', [text('So th')], { stopReason: 'aborted' }), message('user', 'no')),
    );
    expect(labelsOf(reading)).toEqual(['assistant commentary', 'human user']);
  });

  it('replace images', async () => {
    const image = { type: 'image', data: 'AAAA'.repeat(100), mimeType: 'image/png' };
    const { evidence } = await understand(
      toLines(header(), message('user', [text('look'), image]), result('c', [text('shot'), image])),
    );
    expect(evidence.match(/\[image omitted\]/g)).toHaveLength(2);
    expect(evidence).not.toContain('AAAA');
  });

  it('show commands that the person ran beside the conversation', async () => {
    const ran = entry('message', {
      id: 'e7',
      message: { role: 'bashExecution', command: 'make', output: 'failed', exitCode: 2 },
    });
    const { evidence } = await understand(toLines(header(), ran));
    expect(evidence).toContain('"arguments":"{\\"command\\":\\"make\\"}","call_id":"e7"}');
    expect(evidence).toContain('{"type":"function_call_output","call_id":"e7","is_error":true,"output":"failed"}');
  });

  it('are known without their header', async () => {
    const { facts } = await understand(toLines(message('user', 'go'), header()));
    expect(facts).toMatchObject({ agentKind: 'pi', threadId: 'pi-1', humanMessages: 1 });
  });

  it('keep their first header when they are copied from another', async () => {
    const { facts } = await understand(toLines(header({ id: 'new' }), header({ id: 'old', cwd: '/old' })));
    expect(facts).toMatchObject({ threadId: 'new', cwd: '/work/app' });
  });

  it('leave out what the person went back from, also by way of a summary', async () => {
    const said = (id: string, parentId: string | null, role: string): Fields => ({
      ...message(role, [text(`said ${id}`)], { stopReason: 'stop' }),
      id,
      parentId,
    });
    const reading = await understand(
      toLines(
        header({ version: 3 }),
        said('a', null, 'user'),
        said('b', 'a', 'assistant'),
        said('c', 'b', 'user'),
        said('d', 'c', 'assistant'),
        { ...entry('branch_summary', { fromId: 'd', summary: 'x' }), id: 's', parentId: 'b' },
        said('e', 's', 'user'),
        said('f', 'e', 'assistant'),
      ),
    );
    expect(reading.evidence.match(/said \w/g)).toEqual(['said a', 'said b', 'said e', 'said f']);
    expect(reading.facts).toMatchObject({ humanMessages: 2, assistantMessages: 2 });
  });

  it('note what else was looked at', async () => {
    const used = message('assistant', [call('mcp__jira__list', 'a'), call('web_search', 'b')], {
      stopReason: 'toolUse',
    });
    const { facts } = await understand(toLines(header(), used));
    expect(facts.externalContext).toEqual({ webSearch: true, toolSearch: false, mcpServers: ['jira'] });
  });
});
