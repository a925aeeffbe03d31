import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMemoryDocument } from '../../../core/consolidation/memory-document.ts';
import { normaliseArtifacts } from '../../../core/consolidation/normalise-artifacts.ts';
import { validateArtifacts } from '../../../core/consolidation/validate-artifacts.ts';
import { parseSummary } from '../../../core/memory/summary-document.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { SAMPLE_SUMMARY } from '../../support/sample-summary.ts';
import { groupText, SUMMARY_TEXT, sourceLine } from './memory-text.ts';

const GROUP = groupText({ threads: ['t1', 't2'].map((threadId) => ({ threadId, stem: `stem-${threadId}` })) });
const HEAD = 'updated_at: 2025-10-09T07:53:20+00:00\nrollout_path: rollout.jsonl\ncwd: /home/dev/shop\n\nsum\n';
const INPUTS = {
  'rollout_summaries/stem-t1.md': `thread_id: t1\n${HEAD}`,
  'rollout_summaries/stem-t2.md': `thread_id: t2\n${HEAD}`,
};

function normal(path: string, text: string): string {
  const tree = new Map(Object.entries({ ...INPUTS, [path]: text }).map(([name, body]) => [name, encodeUtf8(body)]));
  return decodeUtf8(normaliseArtifacts(tree).get(path) ?? new Uint8Array());
}

const memory = (text: string): string => normal('MEMORY.md', text);
const summary = (text: string): string => normal('memory_summary.md', text);

describe('MEMORY.md of the same meaning has the same bytes', () => {
  it('the form of the template is the form', () => {
    expect(memory(GROUP)).toBe(GROUP);
  });

  it.each([
    ['CRLF', GROUP.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${GROUP}`],
    ['blank lines', GROUP.replaceAll('\n\n', '\n\n\n\n')],
    ['no blank lines', GROUP.replaceAll('\n\n', '\n')],
    ['white space at line ends', GROUP.replaceAll('\n', ' \t\n')],
    ['no line end at the end', GROUP.trimEnd()],
    [
      'a source twice',
      GROUP.replace(sourceLine('stem-t1', 't1'), `${sourceLine('stem-t1', 't1')}\n${sourceLine('stem-t1', 't1')}`),
    ],
    [
      'a time that the summary does not say (B26)',
      GROUP.replace('updated_at=2025-10-09T07:53:20+00:00', 'updated_at=yesterday'),
    ],
    ['another path of the rollout', GROUP.replace('rollout_path=rollout.jsonl', 'rollout_path=/invented')],
    ['applies_to above scope', GROUP.replace(/(scope:.*\n)(applies_to:.*\n)/, '$2$1')],
    ['a keyword twice', GROUP.replace('- npm test, port 5433', '- npm test, port 5433, npm test')],
    ['keywords on two lines', GROUP.replace('- npm test, port 5433', '- npm test\n- port 5433')],
    ['spaces before references', GROUP.replace('first [Task 1]', 'first ,  [Task 1] [Task 1]')],
  ])('%s', (_name, text) => {
    expect(memory(text)).toBe(GROUP);
  });

  it('sources and references stand in one order, keywords and bullets in that of the agent', () => {
    const sources = [sourceLine('stem-t2', 't2'), sourceLine('stem-t1', 't1')];
    const text = groupText({
      threads: [
        { threadId: 't1', stem: 'stem-t1' },
        { threadId: 't2', stem: 'stem-t2' },
      ],
      bullets: ['b [Task 2][Task 1]', 'a [Task 1]'],
    })
      .replace(sourceLine('stem-t1', 't1'), sources.join('\n'))
      .replace('npm test, port 5433', 'zoo, apple');
    const out = memory(text);
    expect(out).toContain([...sources].reverse().join('\n'));
    expect(out).toContain('- b [Task 1][Task 2]\n- a [Task 1]');
    expect(out).toContain('- zoo, apple');
  });

  it('code below a bullet keeps its lines, and its references stand behind the fence', () => {
    const text = groupText({
      threads: [{ threadId: 't1', stem: 'stem-t1' }],
      bullets: ['Run\n\n  ```sh\n  a\n\n\n  b\n  ```\n  [Task 1]'],
    });
    expect(memory(text)).toBe(text);
    expect(parseMemoryDocument(memory(text)).faults).toEqual([]);
  });

  it('a file that breaks its grammar stays as it is, for the faults to name its lines', () => {
    const broken = `${GROUP}\r\n## Misc\r\n`;
    expect(memory(broken)).toBe(broken.replaceAll('\r\n', '\n'));
  });
});

describe('memory_summary.md of the same meaning has the same bytes', () => {
  it.each([SUMMARY_TEXT, SAMPLE_SUMMARY])('its form is reached at once', (text) => {
    expect(summary(summary(text))).toBe(summary(text));
    expect(parseSummary(summary(text)).document.topics.map(({ line, ...topic }) => topic)).toEqual(
      parseSummary(text).document.topics.map(({ line, ...topic }) => topic),
    );
  });

  it.each([
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['blank lines', (text: string) => text.replaceAll('\n\n', '\n\n\n\n')],
    ['white space at line ends', (text: string) => text.replace(/\n(?!$)/g, ' \n').replace('v1 ', 'v1')],
    ['no line end at the end', (text: string) => text.trimEnd()],
    ['blank lines between bullets', (text: string) => text.replace('German.\n', 'German.\n\n')],
  ])('%s', (_name, change) => {
    expect(summary(change(SAMPLE_SUMMARY))).toBe(summary(SAMPLE_SUMMARY));
  });
});

it('a skill has LF line ends and one at its end', () => {
  expect(normal('skills/a/SKILL.md', '---\r\nname: a\r\n---\r\n\r\nSteps  \r\n\r\n')).toBe(
    '---\nname: a\n---\n\nSteps\n',
  );
});

it('inputs keep their bytes', () => {
  const text = 'x \r\n\r\n\r\n';
  expect(normal('raw_memories.md', text)).toBe(text);
});

it('whatever is done to the layout of a valid memory, it comes to one form, once, and passes as before', () => {
  const noise = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.constantFrom('\n', ' ', '\r', '\n\n', '\t')), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(noise, (changes) => {
      const lines = GROUP.split('\n');
      for (const [at, extra] of changes) lines[at % lines.length] += extra;
      const text = lines.join('\n');
      const once = memory(text);
      expect(memory(once)).toBe(once);
      expect(once).toBe(GROUP);
      const tree = new Map(
        Object.entries({ ...INPUTS, 'MEMORY.md': once, 'memory_summary.md': SUMMARY_TEXT }).map(([name, body]) => [
          name,
          encodeUtf8(body),
        ]),
      );
      const inputs = ['t1', 't2'].map((threadId) => ({ threadId, project: 'git.example.org/dev/shop' }));
      expect(validateArtifacts(tree, inputs)).toEqual([]);
      expect(validateArtifacts(normaliseArtifacts(tree), inputs)).toEqual([]);
    }),
  );
});
