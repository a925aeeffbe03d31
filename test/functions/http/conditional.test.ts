import { describe, expect, it } from 'vitest';
import { noneMatchNames, prefersMarkdown, strongTag } from '../../../functions/http/conditional.ts';

describe('noneMatchNames', () => {
  const tag = strongTag('v1-ab');
  it.each(['"v1-ab"', 'W/"v1-ab"', '"x", "v1-ab"', '"x","v1-ab","y"', '*', ' * '])('finds the tag in %s', (header) => {
    expect(noneMatchNames(header, tag)).toBe(true);
  });

  it.each([undefined, '', 'v1-ab', '"v1-a"', '"v1-ab', '"x"', '"V1-AB"', '"*"'])('finds no tag in %s', (header) => {
    expect(noneMatchNames(header, tag)).toBe(false);
  });
});

describe('prefersMarkdown', () => {
  it.each([
    'text/markdown',
    'Text/Markdown;charset=utf-8',
    'text/*',
    'text/markdown, application/json',
    '*/*, text/markdown',
  ])('takes %s as Markdown', (accept) => {
    expect(prefersMarkdown(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'text/markdown;q=0',
    'text/markdown;q=0.5, application/json',
    'text/html',
    'text/markdown;q=abc',
  ])('takes %s as JSON', (accept) => {
    expect(prefersMarkdown(accept)).toBe(false);
  });
});
