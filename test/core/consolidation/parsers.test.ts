import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemoryBullet, parseMemoryDocument, type TaskGroup } from '../../../core/consolidation/memory-document.ts';
import { splitReferences } from '../../../core/consolidation/references.ts';
import { renderMemoryDocument } from '../../../core/consolidation/render-memory.ts';
import { parseSourceLine, renderSourceLine } from '../../../core/consolidation/source-line.ts';
import { findSummaryFaults } from '../../../core/consolidation/summary-grammar.ts';
import { parseSummary } from '../../../core/memory/summary-document.ts';
import { LIMITS } from '../../../core/settings.ts';
import { groupText, SUMMARY_TEXT } from './memory-text.ts';

const word = fc.stringMatching(/^[\p{L}\p{N}.()-]{1,12}$/u);
const phrase = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const path = fc.stringMatching(/^\/[a-z (),._-]{0,20}[a-z]$/);

const source = fc.record({
  path: fc.stringMatching(/^rollout_summaries\/[a-zA-Z0-9_.-]{1,20}\.md$/),
  cwd: path,
  rolloutPath: path,
  updatedAt: fc.constantFrom('2026-02-03T09:41:10+00:00', '2025-12-31T23:59:59+00:00'),
  threadId: fc.stringMatching(/^[a-z0-9-]{1,36}$/),
});

/** A document that breaks no rule: every reference resolves, task numbers are in order. */
const group: fc.Arbitrary<TaskGroup> = fc
  .array(
    fc.record({
      title: phrase,
      sources: fc.array(source, { minLength: 1, maxLength: 3 }),
      keywords: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .chain((tasks) => {
    const bullet: fc.Arbitrary<MemoryBullet> = fc.record({
      text: fc.oneof(
        phrase,
        fc.tuple(phrase, phrase).map(([one, two]) => `${one}\n\n  ${two}\n  \`\`\`\n  # ${two}\n  \`\`\``),
      ),
      tasks: fc
        .uniqueArray(fc.integer({ min: 1, max: tasks.length }), { minLength: 1 })
        .map((list) => list.sort((a, b) => a - b)),
      fromNote: fc.boolean(),
      line: fc.constant(0),
    });
    const bullets = fc.array(bullet, { maxLength: 3 });
    return fc.record({
      name: phrase,
      scope: phrase,
      cwd: path,
      project: word,
      reuseRule: phrase,
      tasks: fc.constant(
        tasks.map((task, at) => ({
          ...task,
          number: at + 1,
          sources: task.sources.map((one) => ({ ...one, line: 0 })),
          line: 0,
        })),
      ),
      bullets: fc.record({ preferences: bullets, knowledge: bullets, failures: bullets }),
      line: fc.constant(0),
    });
  });

function withoutLines(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item) => (key === 'line' ? 0 : item)));
}

const HEADINGS = [
  '# Task Group: x',
  '## Task 1: x',
  '### keywords',
  '### rollout_summary_files',
  '## User preferences',
];
const ODD = [
  '## constructor',
  '## __proto__',
  '# toString',
  '- [Task 1]',
  '- ',
  '```',
  '  ```',
  '\u2028',
  '\r',
  '﻿# Task Group: y',
];
const anyLine = fc.oneof(
  fc.constantFrom(...groupText({ threads: [{ threadId: 't1', stem: 's' }] }).split('\n')),
  fc.constantFrom(...SUMMARY_TEXT.split('\n')),
  fc.constantFrom(...HEADINGS, ...ODD),
  fc.string(),
  fc.string({ unit: 'binary' }),
);

describe('the parser of MEMORY.md', () => {
  it('reads back what was rendered', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 3 }), (groups) => {
        const { document, faults } = parseMemoryDocument(renderMemoryDocument({ groups }));
        expect(faults).toEqual([]);
        expect(withoutLines(document.groups)).toEqual(withoutLines(groups));
      }),
    );
  });

  it('never throws, and what has no fault renders to bytes that read the same and render the same', () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 40 }), (lines) => {
        const { document, faults } = parseMemoryDocument(lines.join('\n'));
        if (faults.length > 0) return;
        const rendered = renderMemoryDocument(document);
        const again = parseMemoryDocument(rendered);
        expect(again.faults).toEqual([]);
        expect(withoutLines(again.document)).toEqual(withoutLines(document));
        expect(renderMemoryDocument(again.document)).toBe(rendered);
      }),
      { numRuns: 500 },
    );
  });
});

it('a source line reads back whatever its paths hold', () => {
  fc.assert(
    fc.property(source, fc.string({ unit: 'grapheme' }), (values, odd) => {
      const cwd = odd.replace(/[\r\n]/g, '');
      expect(parseSourceLine(renderSourceLine({ ...values, cwd }))).toEqual({ ...values, cwd });
    }),
  );
});

it('the parser of memory_summary.md never throws', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 40 }), (lines) => {
      const parsed = parseSummary(lines.join('\n'));
      for (const { line } of findSummaryFaults(parsed)) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(parsed.lastLine);
      }
    }),
  );
});

describe('references at the end of a bullet', () => {
  it.each([
    ['do it [Task 2][Task 1], [ad-hoc note]', { text: 'do it', tasks: [1, 2], fromNote: true }],
    ['do it, [Task 1]', { text: 'do it', tasks: [1], fromNote: false }],
    ['see [Task 1] first', { text: 'see [Task 1] first', tasks: [], fromNote: false }],
    ['[Task 1]', { text: '', tasks: [1], fromNote: false }],
    ['x [Task 1] [Task 1]', { text: 'x', tasks: [1], fromNote: false }],
    ['x [Task ]', { text: 'x [Task ]', tasks: [], fromNote: false }],
  ])('%s', (bullet, expected) => {
    expect(splitReferences(bullet)).toEqual(expected);
  });
});

describe('hostile text of full size is read at once', () => {
  const fill = (unit: string, bytes: number): string => unit.repeat(Math.ceil(bytes / unit.length));
  const head = groupText({ threads: [{ threadId: 't1', stem: 's' }] });

  it.each([
    ['references that never end', `- ${fill('[Task 1]', LIMITS.memoryFileBytes)}x`],
    ['white space before no reference', `- a${fill(' ', LIMITS.memoryFileBytes)}x`],
    ['keys of a source line', `- rollout_summaries/a.md (cwd=${fill(', rollout_path=', LIMITS.memoryFileBytes)})`],
    ['applies_to', `applies_to: cwd=${fill('; project=', LIMITS.memoryFileBytes)}`],
    ['a heading of white space', `## ${fill(' ', LIMITS.memoryFileBytes)}x`],
    ['keywords a line', `### keywords\n${fill('- a, b\n', LIMITS.memoryFileBytes)}`],
    ['bullets', `## User preferences\n${fill('- x [Task 9]\n', LIMITS.memoryFileBytes)}`],
  ])('%s', (_name, text) => {
    expect(parseMemoryDocument(`${head}\n${text}`).document.groups).toHaveLength(1);
    expect(parseSummary(`v1\n## What's in Memory\n### p\n${text}`).document.blocks.length).toBeGreaterThan(2);
  });
});
