import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/settings.ts';
import {
  charBoundaryAfter,
  charBoundaryBefore,
  compareBytes,
  decodeUtf8,
  decodeUtf8Strict,
  encodeUtf8,
  estimateTokens,
  isBlank,
  truncateBytes,
  truncateTokens,
  utf8Length,
} from '../../core/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });

describe('the token form of a cut', () => {
  it.each([
    ['TC-149', '', 0, ''],
    ['TC-150', 'abc', 0, '…1 tokens truncated…'],
    ['TC-151', 'abcd', 1, 'abcd'],
    ['TC-152', 'abcde', 1, 'ab…1 tokens truncated…de'],
    ['TC-154', 'hello world, this is long', 3, 'hello …4 tokens truncated…s long'],
    ['TC-155', 'ééééé', 1, 'é…2 tokens truncated…é'],
    ['TC-156', '日本語テキスト', 2, '日…4 tokens truncated…ト'],
    ['TC-157', '🚀🚀🚀🚀', 2, '🚀…2 tokens truncated…🚀'],
    ['TC-159', 'line1\nline2\nline3\n', 2, 'line…3 tokens truncated…ne3\n'],
  ])('%s', (_name, text, maxTokens, expected) => {
    expect(truncateTokens(text, maxTokens)).toBe(expected);
  });

  it.each([
    [81_795, 163_590, 268_207],
    [150_000, 300_000, 200_002],
  ])('TC-170: at %i tokens', (maxTokens, kept, left) => {
    const text = `${'a'.repeat(700_000)}middle${'z'.repeat(700_000)}`;
    expect(truncateTokens(text, maxTokens)).toBe(`${'a'.repeat(kept)}…${left} tokens truncated…${'z'.repeat(kept)}`);
  });

  it('TC-169: the limit without a known window is 150,000 tokens', () => {
    expect(LIMITS.evidenceFallbackTokens).toBe(150_000);
  });
});

describe('the byte form of a cut', () => {
  it.each([
    ['TC-160', 'abc', 0, '…3 chars truncated…'],
    ['TC-161', 'abcdef', 6, 'abcdef'],
    ['TC-162', 'abcdefg', 6, 'abc…1 chars truncated…efg'],
    ['TC-164', '0123456789', 1, '…9 chars truncated…9'],
    ['TC-165', 'ééééé', 5, 'é…3 chars truncated…é'],
    ['TC-166', '🚀🚀🚀🚀', 6, '…4 chars truncated…'],
    ['TC-167', '日本語', 2, '…3 chars truncated…'],
  ])('%s', (_name, text, maxBytes, expected) => {
    expect(truncateBytes(text, maxBytes)).toBe(expected);
  });

  it('keeps at most the limit, cuts between characters, and counts what is gone', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 80 }), (text, maxBytes) => {
        const wellFormed = text.toWellFormed();
        const result = truncateBytes(wellFormed, maxBytes);
        if (utf8Length(wellFormed) <= maxBytes) {
          expect(result).toBe(wellFormed);
          return;
        }
        const marker = /…(\d+) chars truncated…/.exec(result);
        const kept = result.replace(marker?.[0] ?? '', '');
        expect(utf8Length(kept)).toBeLessThanOrEqual(maxBytes);
        expect([...kept].length + Number(marker?.[1])).toBe([...wellFormed].length);
        expect(result.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('lengths', () => {
  it('utf8Length is the length of the encoded text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(utf8Length(text)).toBe(encodeUtf8(text).length);
      }),
    );
    expect(utf8Length('\ud800')).toBe(3);
    expect(utf8Length('\udc00\ud800a')).toBe(7);
  });

  it('a token is four bytes, rounded up', () => {
    expect(['', 'a', 'abcd', 'abcde', 'éé', '🚀a'].map(estimateTokens)).toEqual([0, 1, 1, 2, 1, 2]);
  });
});

describe('character boundaries', () => {
  it('lie at or beside the limit and never within a character', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: -3, max: 200 }), (text, limit) => {
        const bytes = encodeUtf8(text);
        const inside = Math.max(0, Math.min(limit, bytes.length));
        const before = charBoundaryBefore(bytes, limit);
        const after = charBoundaryAfter(bytes, limit);
        expect(before).toBeLessThanOrEqual(inside);
        expect(after).toBeGreaterThanOrEqual(inside);
        expect(after - before).toBeLessThanOrEqual(4);
        for (const at of [before, after]) {
          expect(decodeUtf8(bytes.subarray(0, at)) + decodeUtf8(bytes.subarray(at))).toBe(text.toWellFormed());
        }
      }),
    );
  });
});

describe('decoding', () => {
  it('replaces what is no UTF-8, or refuses it', () => {
    expect(decodeUtf8(new Uint8Array([0x61, 0xe6, 0x87, 0x0a]))).toBe('a\ufffd\n');
    expect(decodeUtf8Strict(new Uint8Array([0x61, 0xe6, 0x87, 0x0a]))).toBeUndefined();
    expect(decodeUtf8Strict(encodeUtf8('é'))).toBe('é');
  });

  it('keeps a byte order mark', () => {
    expect(decodeUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe('\ufeffa');
    expect(decodeUtf8Strict(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe('\ufeffa');
  });
});

describe('blank texts (DV-4)', () => {
  it.each([
    null,
    undefined,
    '',
    ' ',
    '\t\r\n',
    '\u00a0\u2003\u3000',
    '\u200b\ufeff\u2060',
    '\u0000',
    '\u2800\u3164',
    '\u2028\u2029\u0085',
  ])('%j', (text) => {
    expect(isBlank(text)).toBe(true);
  });

  it.each(['.', ' a ', '0', '日', '🚀', '\u0301', '-'])('not %j', (text) => {
    expect(isBlank(text)).toBe(false);
  });
});

describe('order', () => {
  it('is that of the UTF-8 bytes', () => {
    expect(['memory_summary.md', 'MEMORY.md', 'é', 'z', '\uffff', '🚀', ''].sort(compareBytes)).toEqual([
      '',
      'MEMORY.md',
      'memory_summary.md',
      'z',
      'é',
      '\uffff',
      '🚀',
    ]);
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        const [a, b] = [left.toWellFormed(), right.toWellFormed()];
        expect(Math.sign(compareBytes(a, b))).toBe(Math.sign(Buffer.compare(encodeUtf8(a), encodeUtf8(b))));
      }),
    );
  });
});
