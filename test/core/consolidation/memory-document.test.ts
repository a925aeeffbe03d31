import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMemoryDocument } from '../../../core/consolidation/memory-document.ts';
import { groupText, sourceLine } from './memory-text.ts';

const TWO = { threads: [1, 2].map((n) => ({ threadId: `t${n}`, stem: `stem-${n}` })) };
const GOOD = groupText({ ...TWO, bullets: ['Start the database [Task 1][Task 2]', 'Never reformat [ad-hoc note]'] });

function codesOf(text: string): string[] {
  return parseMemoryDocument(text).faults.map((fault) => `${fault.code.slice('memory.'.length)}:${fault.line}`);
}

function lineOf(text: string, part: string): number {
  return text.split('\n').findIndex((line) => line.includes(part)) + 1;
}

describe('reading MEMORY.md', () => {
  it('reads groups, tasks, sources, keywords and bullets with their lines', () => {
    const { document, faults } = parseMemoryDocument(GOOD);
    expect(faults).toEqual([]);
    const [group] = document.groups;
    expect(group).toMatchObject({
      name: 'shop tests',
      scope: 'running the tests of shop',
      cwd: '/home/dev/shop',
      project: 'git.example.org/dev/shop',
      reuseRule: 'only there',
      line: 1,
    });
    expect(group?.tasks.map((task) => [task.number, task.title])).toEqual([
      [1, 'Work on t1'],
      [2, 'Work on t2'],
    ]);
    expect(group?.tasks[1]).toMatchObject({
      keywords: ['npm test', 'port 5433'],
      sources: [
        {
          path: 'rollout_summaries/stem-2.md',
          cwd: '/home/dev/shop',
          rolloutPath: 'rollout.jsonl',
          updatedAt: '2025-10-09T07:53:20+00:00',
          threadId: 't2',
          line: lineOf(GOOD, 'stem-2'),
        },
      ],
    });
    expect(group?.bullets.knowledge).toEqual([
      { text: 'Start the database', tasks: [1, 2], fromNote: false, line: lineOf(GOOD, '[Task 1][Task 2]') },
      { text: 'Never reformat', tasks: [], fromNote: true, line: lineOf(GOOD, 'ad-hoc') },
    ]);
  });

  it('takes indented lines and blank lines as part of a bullet', () => {
    const text = groupText({ threads: TWO.threads, bullets: ['Run\n\n      npm test\n\n  then look [Task 1]'] });
    const { document, faults } = parseMemoryDocument(text);
    expect(faults).toEqual([]);
    expect(document.groups[0]?.bullets.knowledge[0]?.text).toContain('npm test');
  });

  it('reads paths that hold commas, brackets and spaces', () => {
    const odd = GOOD.replace(
      'cwd=/home/dev/shop, rollout_path=rollout.jsonl',
      'cwd=/a, b (c)/d, rollout_path=/x, (y).jsonl',
    );
    const { document, faults } = parseMemoryDocument(odd);
    expect(faults).toEqual([]);
    expect(document.groups[0]?.tasks[0]?.sources[0]).toMatchObject({
      cwd: '/a, b (c)/d',
      rolloutPath: '/x, (y).jsonl',
    });
  });

  it('gives the same for CRLF line ends', () => {
    expect(parseMemoryDocument(GOOD.replaceAll('\n', '\r\n'))).toEqual(parseMemoryDocument(GOOD));
  });

  it('needs no task where all bullets come from notes', () => {
    expect(codesOf(groupText({ threads: [], bullets: ['Use tabs [ad-hoc note]'] }))).toEqual([]);
    expect(codesOf(groupText({ threads: [], bullets: [] }))).toEqual(['no_task:1']);
  });

  it('numbers tasks anew in each group', () => {
    expect(codesOf(`${GOOD}\n${groupText({ ...TWO, name: 'other' })}`)).toEqual([]);
  });
});

describe('faults of MEMORY.md', () => {
  const at = (part: string): number => lineOf(GOOD, part);
  const task2 = at('## Task 2');
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['an empty file', '', ['no_group:1']],
    ['a file of prose', 'Dear reader,\n\nhello', ['before_group:1', 'no_group:1']],
    ['text before the first group', `hello\n${GOOD}`, ['before_group:1']],
    ['a group without a name', GOOD.replace('Group: shop tests', 'Group:'), ['group_name:1']],
    ['no scope', GOOD.replace(/^scope:.*\n/m, ''), ['scope_missing:1']],
    ['an empty scope', GOOD.replace(/^scope:.*/m, 'scope:'), ['scope_missing:1']],
    ['no applies_to', GOOD.replace(/^applies_to:.*\n/m, ''), ['applies_to_missing:1']],
    ['applies_to without a project', GOOD.replace(/; project=[^;]*/, ''), [`applies_to_format:${at('applies_to')}`]],
    [
      'a task number left out',
      GOOD.replace('## Task 2:', '## Task 3:'),
      [`task_number:${task2}`, `task_unknown:${at('[Task 1][')}`],
    ],
    ['a task without a title', GOOD.replace('Task 2: Work on t2', 'Task 2:'), [`task_title:${task2}`]],
    ['a task without sources', GOOD.replace(`${sourceLine('stem-2', 't2')}\n`, ''), [`no_sources:${task2}`]],
    [
      'a source without a thread',
      GOOD.replace(', thread_id=t2', ''),
      [`no_sources:${task2}`, `source_format:${at('stem-2')}`],
    ],
    [
      'a source outside rollout_summaries',
      GOOD.replace('rollout_summaries/stem-2', 'rollout_summaries/../x'),
      [`no_sources:${task2}`, `source_format:${at('stem-2')}`],
    ],
    ['an unknown heading', GOOD.replace('## Reusable knowledge', '## Misc'), [`unknown_heading:${at('## Reusable')}`]],
    ['a section twice', `${GOOD}\n## Reusable knowledge\n`, [`section_twice:${GOOD.split('\n').length + 1}`]],
    ['prose in a section', GOOD.replace('- Never', 'Never'), [`stray_text:${at('Never')}`]],
    ['a bullet without a reference', GOOD.replace(' [ad-hoc note]', ''), [`bullet_without_task:${at('Never')}`]],
    [
      'a reference that is not at the end',
      GOOD.replace('[ad-hoc note]', '[Task 1] ok'),
      [`bullet_without_task:${at('Never')}`],
    ],
    ['a bullet of references only', GOOD.replace('Never reformat ', ''), [`empty_bullet:${at('Never')}`]],
    ['a task of another group', GOOD.replace('[Task 2]', '[Task 9]'), [`task_unknown:${at('[Task 1][')}`]],
    [
      'keywords outside a task',
      GOOD.replace('## Reusable knowledge', '## Reusable knowledge\n### keywords'),
      [`unknown_heading:${at('## Reusable') + 1}`],
    ],
  ];

  it.each(cases)('%s', (_fact, text, expected) => {
    expect(codesOf(text)).toEqual(expected);
  });

  it('are told for every group, also after a like one in another', () => {
    const broken = GOOD.replace(/; project=[^;]*/, '');
    const missing = GOOD.replace(/^applies_to:.*\n/m, '');
    expect(codesOf(`${broken}\n${missing}`).map((code) => code.split(':')[0])).toEqual([
      'applies_to_format',
      'applies_to_missing',
    ]);
  });

  it('say what would be right and never quote the file', () => {
    const marker = 'zebra-marker';
    const text = GOOD.replace('- Never reformat [ad-hoc note]', `${marker}\n- ${marker}\n## ${marker}`);
    const { faults } = parseMemoryDocument(text);
    expect(faults.length).toBeGreaterThan(1);
    for (const fault of faults) {
      expect(fault.cure).not.toBe('');
      expect(JSON.stringify(fault)).not.toContain(marker);
    }
  });

  it('come out for any text, with lines inside of it', () => {
    const line = fc.oneof(fc.constantFrom(...GOOD.split('\n')), fc.string());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        for (const fault of parseMemoryDocument(lines.join('\n')).faults) {
          expect(fault.line).toBeGreaterThanOrEqual(1);
          expect(fault.line).toBeLessThanOrEqual(Math.max(1, lines.join('\n').split('\n').length));
        }
      }),
    );
  });
});
