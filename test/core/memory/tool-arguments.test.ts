import { describe, expect, it } from 'vitest';
import { parseListArguments, parseReadArguments, parseSearchArguments } from '../../../core/memory/tool-arguments.ts';

describe('tool arguments', () => {
  it('TC-214 names an unknown field, even where a required one is missing too', () => {
    expect(() => parseSearchArguments({ query: 'x' })).toThrow(/unknown field.*query/);
  });

  it('takes nothing as an empty object', () => {
    expect(parseListArguments(undefined)).toEqual({ path: undefined, cursor: undefined, maxResults: undefined });
  });

  it('takes null as absent', () => {
    expect(parseReadArguments({ path: 'a', line_offset: null, max_lines: 3 })).toEqual({
      path: 'a',
      lineOffset: null,
      maxLines: 3,
    });
  });

  it('takes every field of a search', () => {
    const given = {
      queries: ['a'],
      match_mode: { type: 'all_within_lines', line_count: 2 },
      path: 'p',
      cursor: '1',
      context_lines: 2,
      case_sensitive: false,
      normalized: true,
      max_results: 5,
    };
    expect(parseSearchArguments(given)).toEqual({
      queries: ['a'],
      matchMode: { type: 'all_within_lines', line_count: 2 },
      path: 'p',
      cursor: '1',
      contextLines: 2,
      caseSensitive: false,
      normalized: true,
      maxResults: 5,
    });
  });

  it.each([
    [{ path: 5 }, /^path: /],
    [{ path: 'a', line_offset: 1.5 }, /^line_offset: /],
    ['text', /^arguments: /],
  ])('refuses %j and names the field', (value, message) => {
    expect(() => parseReadArguments(value)).toThrow(message);
  });
});
