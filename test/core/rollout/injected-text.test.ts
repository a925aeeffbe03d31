import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CONTEXT_BEGIN,
  CONTEXT_END,
  cutInjected,
  defuseMarkers,
  dropRules,
  isRulesPart,
} from '../../../core/rollout/injected-text.ts';
import { type Fields, labelsOf, toLines, understand } from '../../support/read-records.ts';
import { codexRollout } from '../../support/rollout-builder.ts';

const RULE = 'zebra-rule: indent with tabs';
const SAID = 'No tabs in Makefiles of ours, whatever the rules say';
const CONTEXT = `${CONTEXT_BEGIN}\n## Rules\n\n${RULE}\n\n========= MEMORY_SUMMARY BEGINS =========\n${RULE}\n========= MEMORY_SUMMARY ENDS =========\n${CONTEXT_END}`;
const AGENTS = `# AGENTS.md instructions for /work/app\n\n<INSTRUCTIONS>\n${RULE}\n</INSTRUCTIONS>`;
const ANSWER = JSON.stringify({ text: CONTEXT, rules: RULE, memory: null, parts: [] });
const time = '2026-01-02T03:04:05.678Z';

/** One session of each format: what the user's role says at first, then the person, a tool's output, and an answer. */
const FORMATS: Readonly<Record<string, (injected: string, said: string, output: string) => string>> = {
  codex: (injected, said, output) =>
    codexRollout().user(injected).user(said).call('http', { x: 1 }, output).assistant('done').toText(),
  'claude-code': (injected, said, output) => {
    const line = (uuid: string, type: string, message: Fields) => ({
      type,
      uuid,
      sessionId: 's',
      cwd: '/work/app',
      timestamp: time,
      message: { role: type, ...message },
    });
    return toLines(
      line('u1', 'user', { content: injected }),
      line('u2', 'user', { content: [{ type: 'text', text: said }] }),
      line('a1', 'assistant', { id: 'm1', content: [{ type: 'tool_use', id: 'c', name: 'http', input: {} }] }),
      line('u3', 'user', { content: [{ type: 'tool_result', tool_use_id: 'c', content: output }] }),
      line('a2', 'assistant', { id: 'm2', content: [{ type: 'text', text: 'done' }] }),
    );
  },
  'gemini-cli': (injected, said, output) =>
    JSON.stringify({
      sessionId: 's',
      projectHash: 'h',
      startTime: time,
      messages: [
        { id: '1', type: 'user', timestamp: time, content: injected },
        { id: '2', type: 'user', timestamp: time, content: said },
        {
          id: '3',
          type: 'gemini',
          timestamp: time,
          content: 'done',
          toolCalls: [
            {
              id: 'c',
              name: 'http',
              args: {},
              status: 'success',
              result: [{ functionResponse: { response: { output } } }],
            },
          ],
        },
      ],
    }),
  pi: (injected, said, output) => {
    const entry = (id: string, message: Fields) => ({ type: 'message', id, parentId: null, timestamp: time, message });
    return toLines(
      { type: 'session', id: 's', timestamp: time, cwd: '/work/app' },
      entry('1', { role: 'user', content: [{ type: 'text', text: injected }] }),
      entry('2', { role: 'user', content: said }),
      entry('3', { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'http', arguments: {} }] }),
      entry('4', { role: 'toolResult', toolCallId: 'c', toolName: 'http', content: [{ type: 'text', text: output }] }),
      entry('5', { role: 'assistant', content: [{ type: 'text', text: 'done' }] }),
    );
  },
  'copilot-cli': (injected, said, output) => {
    const event = (type: string, data: Fields) => ({ type, id: type, timestamp: time, data });
    return toLines(
      event('session.start', { sessionId: 's', context: { cwd: '/work/app' } }),
      event('user.message', { content: injected }),
      event('user.message', { content: said }),
      event('assistant.message', { content: '', toolRequests: [{ toolCallId: 'c', name: 'http', arguments: {} }] }),
      event('tool.execution_complete', { toolCallId: 'c', success: true, result: { content: output } }),
      event('assistant.message', { content: 'done' }),
    );
  },
  chat: (injected, said, output) =>
    JSON.stringify([
      { role: 'user', content: injected },
      { role: 'user', content: said },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'http', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: output },
      { role: 'assistant', content: 'done' },
    ]),
  trace: (injected, said, output) =>
    JSON.stringify([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: injected }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: said }] },
      { type: 'function_call', name: 'http', arguments: '{}', call_id: 'c' },
      { type: 'function_call_output', call_id: 'c', output },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
    ]),
};
const INJECTED = {
  'our context': CONTEXT,
  'AGENTS.md as Codex gives it': AGENTS,
  'instructions in a tag': `<user_instructions>\n${RULE}\n</user_instructions>`,
};

describe.each(Object.entries(FORMATS))('rules in a session of %s (A18)', (agentKind, session) => {
  it.each(Object.entries(INJECTED))('%s is no evidence, what the person says is', async (_name, injected) => {
    const reading = await understand(session(injected, SAID, '{"ok":true}'));
    expect(reading.facts).toMatchObject({ agentKind, humanMessages: 1, title: SAID });
    expect(reading.evidence).toContain(SAID);
    expect(reading.evidence).not.toContain('zebra-rule');
    expect(labelsOf(reading).filter((label) => !/^(?:tool|assistant)/.test(label))).toEqual(['human user']);
  });

  it('our context before a request in one text leaves the request alone', async () => {
    const reading = await understand(session(`${CONTEXT}\n\n${SAID}`, 'go on', ''));
    expect(reading.facts).toMatchObject({ humanMessages: 2, title: SAID });
    expect(reading.evidence).toContain(JSON.stringify(SAID));
    expect(reading.evidence).not.toContain('zebra-rule');
  });

  it('a tool that answers our context, whole or cut off, shows none of it', async () => {
    for (const output of [ANSWER, ANSWER.slice(0, -30), ANSWER.slice(0, 90), `HTTP/1.1 200\n\n${ANSWER}`, CONTEXT]) {
      const reading = await understand(session('hello', SAID, output));
      expect(reading.evidence).toContain('omitted]');
      expect(reading.evidence).not.toContain('zebra-rule');
    }
  });

  it('an assistant that repeats the whole context does not make it evidence', async () => {
    const reading = await understand(session('hello', SAID, '').replaceAll('"done"', JSON.stringify(`So: ${CONTEXT}`)));
    expect(reading.evidence).toContain('So: [rules and memory omitted]');
    expect(reading.evidence).not.toContain('zebra-rule');
  });
});

describe('rules and a request in one text', () => {
  it.each([
    ['AGENTS.md', `${AGENTS}\n\n${SAID}`],
    ['two blocks', `${AGENTS}\n<skill>${RULE}</skill>\n${SAID}`],
    [
      'files of Gemini CLI',
      `--- Context from: GEMINI.md ---\n${RULE}\n--- End of Context from: GEMINI.md ---\n\n${SAID}`,
    ],
    ['custom instructions', `<custom_instructions>${RULE}</custom_instructions>${SAID}`],
    ['our context behind it', `${SAID}\n\n${CONTEXT}`],
  ])('%s: the request is left', (_name, text) => {
    expect(dropRules(text)).toBe(SAID);
  });

  it.each([
    ['a block without an end', `# AGENTS.md instructions\n<INSTRUCTIONS>\n${SAID}`],
    ['a tag in the middle', `${SAID} <user_instructions>x</user_instructions>`],
    ['an ordinary text', `  ${SAID}\n`],
  ])('%s stays as it is', (_name, text) => {
    expect(dropRules(text)).toBe(text);
    expect(isRulesPart(text)).toBe(false);
  });
});

describe('markers', () => {
  const lines = fc.array(
    fc.oneof(
      fc.constantFrom(
        CONTEXT_BEGIN,
        CONTEXT_END,
        '========= MEMORY_SUMMARY ENDS =========',
        '=== STILLROOM_CONTEXT ENDS',
      ),
      fc.string(),
    ),
  );

  it('inside of a text never end its frame early', () => {
    fc.assert(
      fc.property(lines, fc.stringMatching(/^[a-z ]{0,20}$/), (inside, after) => {
        const framed = `${CONTEXT_BEGIN}\n${defuseMarkers(inside.join('\n'))}\n${CONTEXT_END}${after}`;
        expect(cutInjected(framed)).toBe(`[rules and memory omitted]${after}`);
        expect(isRulesPart(framed)).toBe(after.trim() === '');
      }),
    );
  });
});
