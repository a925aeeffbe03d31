import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStageOneReply, STAGE_ONE_SCHEMA } from '../../../core/extraction/stage-one-reply.ts';

const SECRET = `sk-${'a1B2'.repeat(8)}`;
const WHOLE = { raw_memory: 'm', rollout_summary: '# Did it', rollout_slug: 'did-it' };

function answer(more: object = {}): string {
  return JSON.stringify({ ...WHOLE, ...more });
}

function slugOf(more: object): string | undefined {
  const reply = parseStageOneReply(answer(more));
  return reply.kind === 'output' ? reply.texts.slug : undefined;
}

describe('STAGE_ONE_SCHEMA', () => {
  it('asks for all three fields and no other', () => {
    expect(STAGE_ONE_SCHEMA.schema).toMatchObject({
      type: 'object',
      required: ['raw_memory', 'rollout_summary', 'rollout_slug'],
      additionalProperties: false,
    });
    expect(STAGE_ONE_SCHEMA.schema).not.toHaveProperty('$schema');
  });
});

describe('parseStageOneReply', () => {
  const output = { kind: 'output', texts: { rawMemory: 'm', rolloutSummary: '# Did it', slug: 'did-it' } };

  it.each([
    ['the object alone', answer()],
    ['spaces and line ends around it', `\n ${answer()} \n`],
    ['a code fence', `\`\`\`json\n${JSON.stringify(WHOLE, null, 2)}\n\`\`\`\n`],
    ['prose with braces before it', `Using {the format} and {"x": 1}: ${answer()}`],
    ['prose with an open brace before it', `A { opens it. ${answer()} Done.`],
    ['a fence inside prose', `Here:\n\`\`\`json\n${answer()}\n\`\`\`\nThat is all {I} have.`],
  ])('accepts %s', (_case, text) => {
    expect(parseStageOneReply(text)).toEqual(output);
  });

  it('keeps braces, quotes and escapes inside the texts', () => {
    const raw = '} { "a\\"} \\u0041 ``` {"raw_memory":"x"}';
    const reply = parseStageOneReply(`Prose. ${answer({ raw_memory: raw })}`);
    expect(reply).toMatchObject({ texts: { rawMemory: raw } });
  });

  it.each([
    ['TC-087 an empty answer', ''],
    ['TC-087 an answer of white space', ' \n\u00a0'],
    ['TC-087 prose', 'I could not find anything worth keeping.'],
    ['cut JSON', answer().slice(0, -1)],
    ['cut JSON in a fence', `\`\`\`json\n${answer().slice(0, -9)}\n\`\`\``],
    ['a bad escape', answer().replace('Did', '\\uZZZZ')],
    ['an array', `[${answer()}]`],
    ['an array in a fence', `\`\`\`\n[${answer()}]\n\`\`\``],
    ['a string', '"text"'],
    ['null', 'null'],
    ['TC-086 an extra key', answer({ note: 'x' })],
    ['no raw memory', '{"rollout_summary":"s","rollout_slug":"x"}'],
    ['a raw memory that is no text', answer({ raw_memory: null })],
    ['a slug that is no text', answer({ rollout_slug: 3 })],
    ['two objects', `${answer()} or ${answer({ raw_memory: 'n' })}`],
  ])('refuses %s', (_case, text) => {
    expect(parseStageOneReply(text).kind).toBe('invalid');
  });

  it('accepts no prefix of an answer', () => {
    const text = answer({ raw_memory: '{"a": {"b": "c"}}', rollout_summary: '} x' });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: text.length - 1 }), (length) => {
        expect(parseStageOneReply(text.slice(0, length)).kind).toBe('invalid');
      }),
    );
  });

  it.each([
    ['TC-085 raw memory empty', { raw_memory: '' }],
    ['TC-085 summary empty', { rollout_summary: '' }],
    ['TC-085 both one space (blank by our rule, DV-4)', { raw_memory: ' ', rollout_summary: ' ' }],
    ['raw memory of invisible characters', { raw_memory: '\u00a0\u3000\u200b\n' }],
  ])('reads as no output: %s', (_case, more) => {
    expect(parseStageOneReply(answer(more))).toEqual({ kind: 'no_output' });
  });

  it('TC-086 derives the slug when it is absent, null or blank', () => {
    const absent = JSON.stringify({ raw_memory: 'm', rollout_summary: '# Fixed the café API, twice' });
    expect(parseStageOneReply(absent)).toMatchObject({ texts: { slug: 'fixed-the-cafe-api-twice' } });
    expect(slugOf({ rollout_slug: null })).toBe('did-it');
    expect(slugOf({ rollout_slug: ' ' })).toBe('did-it');
  });

  it('makes every slug ASCII, hyphenated and at most 80 characters, cut at a word', () => {
    expect(slugOf({ rollout_slug: 'Fix_The/Bug  (again)' })).toBe('fix-the-bug-again');
    expect(slugOf({ rollout_slug: null, rollout_summary: '修复了登录 bug' })).toBe('bug');
    expect(slugOf({ rollout_slug: '修复', rollout_summary: '修复了登录' })).toBe('session');
    expect(slugOf({ rollout_slug: 'word '.repeat(40) })).toBe(Array(16).fill('word').join('-'));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (slug) => {
        expect(slugOf({ rollout_slug: slug })).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
        expect((slugOf({ rollout_slug: slug }) ?? '').length).toBeLessThanOrEqual(80);
      }),
    );
  });

  it('redacts all three texts', () => {
    const reply = parseStageOneReply(
      answer({ raw_memory: `key ${SECRET}`, rollout_summary: `# ${SECRET}`, rollout_slug: `use ${SECRET}` }),
    );
    expect(JSON.stringify(reply).toLowerCase()).not.toContain(SECRET.toLowerCase().slice(3, 20));
    expect(reply).toMatchObject({ texts: { rawMemory: 'key [REDACTED_SECRET]', slug: 'use-redacted-secret' } });
  });

  it('never repeats the answer in the reason why it is invalid', () => {
    const reply = parseStageOneReply('{"marker-word": 1}');
    expect(JSON.stringify(reply)).not.toContain('marker-word');
  });

  it('D10 drops control characters, terminal escapes among them, and keeps lines and tabs', () => {
    const answer = { raw_memory: 'a\u0000\u001b[31mb\tc\r\nd', rollout_summary: '# x\u0007y', rollout_slug: 'x' };
    expect(parseStageOneReply(JSON.stringify(answer))).toMatchObject({
      texts: { rawMemory: 'a[31mb\tc\nd', rolloutSummary: '# xy' },
    });
  });
});
