import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSummaryFaults } from '../../../core/consolidation/summary-grammar.ts';
import { parseSummary } from '../../../core/memory/summary-document.ts';
import { SAMPLE_SUMMARY } from '../../support/sample-summary.ts';

const codesOf = (text: string) => findSummaryFaults(parseSummary(text)).map((fault) => `${fault.code}@${fault.line}`);

describe('parseSummary', () => {
  it('finds no fault in a whole summary', () => {
    expect(findSummaryFaults(parseSummary(SAMPLE_SUMMARY))).toEqual([]);
  });

  it('reads topics with their project, day, keywords and lines', () => {
    const { topics } = parseSummary(SAMPLE_SUMMARY).document;
    expect(topics[1]).toEqual({
      title: 'Checkout tests',
      keywords: ['jest', '数据库', 'redis'],
      desc: 'Shop checkout',
      learnings: 'start the database first',
      project: 'host/a/shop',
      day: '2026-03-02',
      older: false,
      line: 30,
    });
    expect(topics.map((topic) => [topic.title, topic.project, topic.day, topic.older])).toEqual([
      ['Commit style', 'global', '2026-02-01', false],
      ['Checkout tests', 'host/a/shop', '2026-03-02', false],
      ['Cart rounding', 'host/a/shop', '2026-01-05', false],
      ['Rate limit', '/work/api', '2026-03-01', false],
      ['Old deploy', 'host/a/shop', null, true],
      ['Old auth', '/work/api', null, true],
    ]);
  });

  it('lists the projects once each, without global', () => {
    expect(parseSummary(SAMPLE_SUMMARY).document.projects).toEqual(['host/a/shop', '/work/api']);
  });

  it.each([
    ['nothing', '', ['summary.first_line@1']],
    ['an old version line', SAMPLE_SUMMARY.replace('v1', 'outdated'), ['summary.first_line@1']],
    ['white space after v1', SAMPLE_SUMMARY.replace('v1', 'v1 '), ['summary.first_line@1']],
    ['a CR after v1', SAMPLE_SUMMARY.replace('v1\n', 'v1\r\n'), ['summary.first_line@1']],
    ['text before v1', `\n${SAMPLE_SUMMARY}`, ['summary.first_line@1']],
    ['no tips', SAMPLE_SUMMARY.replace('## General Tips', 'General Tips'), ['summary.missing_section@52']],
    ['a section twice', `${SAMPLE_SUMMARY}## General Tips\n`, ['summary.duplicate_section@52']],
    ['a day that is none', SAMPLE_SUMMARY.replace('2026-02-01', '2026-02-30'), ['summary.bad_day@20']],
    ['a day in words', SAMPLE_SUMMARY.replace('2026-02-01', 'yesterday'), ['summary.bad_day@20']],
    ['no desc', SAMPLE_SUMMARY.replace('  - desc: Shop cart\n', ''), ['summary.no_desc@36']],
    ['an older topic of nobody', SAMPLE_SUMMARY.replace('[/work/api] ', ''), ['summary.no_scope@50']],
    ['a topic without a day', SAMPLE_SUMMARY.replace('#### 2026-03-01\n', ''), ['summary.no_day@42']],
    [
      'a section of its own',
      SAMPLE_SUMMARY.replace('## General Tips', '## Rules\n\n## General Tips'),
      ['summary.unknown_section@12'],
    ],
    ['a project without a key', SAMPLE_SUMMARY.replace('### /work/api', '### '), ['summary.no_project@39']],
  ])('tells the fault of %s', (_name, text, faults) => {
    expect(codesOf(text)).toEqual(expect.arrayContaining(faults));
    if (text !== '') expect(codesOf(text)).toHaveLength(faults.length);
  });

  it('takes no heading inside a code block for one', () => {
    const text = SAMPLE_SUMMARY.replace('- Never force-push.', '- Use:\n```\n## General Tips\n```');
    expect(findSummaryFaults(parseSummary(text))).toEqual([]);
  });

  it('puts every line of any text into exactly one block', () => {
    const lines = fc.constantFrom(
      'v1',
      '',
      '## User preferences',
      "## What's in Memory",
      '### p',
      '#### 2026-01-01',
      '- a: b',
      '  - desc: [p] c',
      'text',
      '```',
      '# x',
      '\t',
      '### Older Memory Topics',
    );
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 25 }), (given) => {
        const text = given.join('\n');
        const { blocks } = parseSummary(text).document;
        expect(blocks.flatMap((block) => block.lines).join('\n')).toBe(text);
        for (const block of blocks) expect(text.split('\n')[block.line - 1]).toBe(block.lines[0]);
      }),
    );
  });
});
