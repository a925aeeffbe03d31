import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSummary } from '../../../core/memory/summary-document.ts';
import { type SummaryScope, viewSummary } from '../../../core/memory/summary-view.ts';
import { utf8Length } from '../../../core/text.ts';
import { SAMPLE_SUMMARY } from '../../support/sample-summary.ts';

const SHOP = { project: 'host/a/shop' };

function view(text: string, scope: SummaryScope, maxTokens = 2_500) {
  return viewSummary(parseSummary(text.trim()).document, scope, { maxTokens, file: 'memory_summary.md' });
}

describe('viewSummary: scope', () => {
  it('shows everything unchanged', () => {
    expect(view(SAMPLE_SUMMARY, 'all')).toEqual({ text: SAMPLE_SUMMARY.trim(), truncated: false, omittedTokens: 0 });
  });

  it('user case A9: shows the global parts and one project, and no word of the other', () => {
    const { text, truncated } = view(SAMPLE_SUMMARY, SHOP);
    for (const kept of [
      'Works on two',
      'Never force-push',
      'Commit style',
      'Checkout tests',
      'Cart rounding',
      'Old deploy',
    ])
      expect(text).toContain(kept);
    for (const foreign of ['/work/api', 'Rate limit', 'API limits', 'Old auth', '2026-03-01'])
      expect(text).not.toContain(foreign);
    expect(truncated).toBe(false);
  });

  it('user case A9: shows an unknown project the global parts only', () => {
    const { text } = view(SAMPLE_SUMMARY, { project: 'host/other' });
    expect(text).toBe(view(SAMPLE_SUMMARY, { project: null }).text);
    expect(text).toContain('Commit style');
    expect(text).not.toMatch(/shop|Shop|api|Older Memory Topics/);
  });

  it('shows an older topic that does not say whose it is to nobody in particular', () => {
    const text = SAMPLE_SUMMARY.replace('[/work/api] ', '');
    expect(view(text, { project: '/work/api' }).text).not.toContain('Old auth');
    expect(view(text, 'all').text).toContain('Old auth');
  });

  it('keeps a section that is empty from the start, and drops one emptied by the scope', () => {
    const text = SAMPLE_SUMMARY.replace(/### global[\s\S]*?(?=### host)/, '').replace('- Run the checks first.\n', '');
    const shown = view(text, { project: null }).text;
    expect(shown).toContain('## General Tips');
    expect(shown).not.toContain("## What's in Memory");
  });
});

/** Three times the budget: 40 days of one topic each, and long sections. */
function longSummary(): string {
  const days = Array.from({ length: 40 }, (_, at) => {
    const day = `2026-${String(1 + Math.floor(at / 20)).padStart(2, '0')}-${String(1 + (at % 20)).padStart(2, '0')}`;
    return `#### ${day}\n\n- Topic of ${day}: word\n  - desc: ${'d'.repeat(500)}\n`;
  });
  return `v1

## User Profile

${'Profile line é.\n'.repeat(40)}
## User preferences

${Array.from({ length: 30 }, (_, at) => `- Preference ${at} ${'p'.repeat(60)}`).join('\n')}

## General Tips

${Array.from({ length: 40 }, (_, at) => `- Tip ${at} ${'t'.repeat(60)}`).join('\n')}

## What's in Memory

### p

${days.toReversed().join('\n')}
### Older Memory Topics

${Array.from({ length: 10 }, (_, at) => `- Older ${at}: w\n  - desc: [p] o`).join('\n')}
`;
}

describe('viewSummary: budget (DV-7, user case A26)', () => {
  it('TC-171 shows 10,000 bytes unchanged', () => {
    const text = `v1\n${'x'.repeat(9_997)}`;
    expect(view(text, 'all')).toEqual({ text, truncated: false, omittedTokens: 0 });
  });

  it('TC-171 cuts 10,001 bytes at a line end, notice included', () => {
    const text = `v1\n${`${'x'.repeat(99)}\n`.repeat(99)}${'y'.repeat(98)}`;
    expect(utf8Length(text)).toBe(10_001);
    const cut = view(text, 'all');
    expect(cut.text).toBe(
      `v1\n${`${'x'.repeat(99)}\n`.repeat(99)}\n[25 tokens left out; the rest is in memory_summary.md]`,
    );
    expect(cut.truncated).toBe(true);
  });

  it('drops older topics first, then old days, and keeps preferences and the newest day', () => {
    const text = longSummary();
    const cut = view(text, 'all', 3_500);
    expect(cut.text).not.toContain('Older');
    const days = [...cut.text.matchAll(/^#### (\S+)$/gm)].map((match) => match[1]);
    expect(days.length).toBeGreaterThan(1);
    expect(days).toEqual([
      '2026-02-20',
      ...Array.from({ length: days.length - 1 }, (_, at) => `2026-02-${String(19 - at).padStart(2, '0')}`),
    ]);
    expect(cut.text.match(/^- Preference /gm)).toHaveLength(30);
    expect(cut.text.match(/^- Tip /gm)).toHaveLength(40);
  });

  it('drops tips and profile before the newest day, and that before preferences', () => {
    const small = view(longSummary(), 'all', 800).text;
    expect(small).toContain('Topic of 2026-02-20');
    expect(small.match(/^- Preference /gm)).toHaveLength(30);
    expect(small).not.toContain('- Tip 39');
    const smaller = view(longSummary(), 'all', 300).text;
    expect(smaller).not.toContain('Topic of');
    expect(smaller).toContain('- Preference 0 ');
    expect(smaller).not.toContain('- Preference 29 ');
    expect(smaller).not.toContain('## User Profile');
  });

  it('says in the last line how much was left out and where the rest is', () => {
    const text = longSummary();
    const cut = view(text, 'all', 1_000);
    const notice = /\n\n\[(\d+) tokens left out; the rest is in memory_summary\.md\]$/.exec(cut.text);
    expect(Number(notice?.[1])).toBe(cut.omittedTokens);
    const kept = utf8Length(cut.text.slice(0, notice?.index));
    expect(cut.omittedTokens).toBe(Math.ceil((utf8Length(text.trim()) - kept) / 4));
  });

  it('shows nothing rather than too much where not even the notice fits', () => {
    const cut = view(longSummary(), 'all', 5);
    expect([cut.text, cut.truncated]).toEqual(['', true]);
    expect(cut.omittedTokens).toBe(Math.ceil(utf8Length(longSummary().trim()) / 4));
  });

  it('never exceeds the budget, keeps whole lines only, and answers the same twice', () => {
    const lines = fc.constantFrom(
      'v1',
      '',
      '## User Profile',
      '## User preferences',
      '## General Tips',
      "## What's in Memory",
      '### p',
      '### global',
      '#### 2026-01-01',
      '#### 2026-01-02',
      '- a: b, é',
      '  - desc: [p] 日本語',
      'text 🚀',
      '### Older Memory Topics',
    );
    const scopes = fc.constantFrom<SummaryScope>('all', { project: null }, { project: 'p' });
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 60 }), scopes, fc.integer({ min: 1, max: 120 }), (given, scope, max) => {
        const text = given.join('\n');
        const cut = view(text, scope, max);
        expect(utf8Length(cut.text)).toBeLessThanOrEqual(max * 4);
        expect(view(text, scope, max)).toEqual(cut);
        const whole = new Set([...given, ...given.map((line) => line.trim())]);
        for (const line of cut.text.split('\n'))
          expect(whole.has(line) || line === '' || /^\[\d+ tokens left out/.test(line)).toBe(true);
        expect(cut.truncated).toBe(cut.omittedTokens > 0);
      }),
      { numRuns: 300 },
    );
  });
});
