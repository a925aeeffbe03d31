import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutRowText,
  evidenceBudgetBytes,
  GAP,
  layOut,
  type PlacedRow,
  renderRow,
  selectRows,
} from '../../../core/rollout/evidence.ts';
import { type PendingItem, TieredEvidence } from '../../../core/rollout/evidence-collector.ts';
import { EVIDENCE_TIERS, type EvidenceTier } from '../../../core/rollout/rollout.ts';
import { decodeUtf8, encodeUtf8, utf8Length } from '../../../core/text.ts';

const rows = (...given: readonly (readonly [EvidenceTier, string])[]): PlacedRow[] =>
  given.map(([tier, text], place) => ({ place, tier, text }));
const render = (given: readonly PlacedRow[], maxTokens: number): string =>
  layOut(selectRows(given, evidenceBudgetBytes(maxTokens)), given.length, maxTokens);

describe('rows within a budget', () => {
  it('TC-292: takes all rows in source order where they fit', () => {
    expect(utf8Length(GAP)).toBe(33);
    const evidence = render(rows(['human', 'q1'], ['tool', 'tool1'], ['final', 'answer']), 150);
    expect(evidence).toBe('[human user]\nq1\n[tool]\ntool1\n[assistant final]\nanswer\n');
    expect(utf8Length(evidence)).toBe(54);
  });

  it('TC-294: takes the newer of two rows', () => {
    const evidence = render(rows(['human', 'a'.repeat(120)], ['human', 'b'.repeat(120)]), 75);
    expect(evidence).toBe(`${GAP}[human user]\n${'b'.repeat(120)}\n`);
    expect(utf8Length(evidence)).toBe(167);
  });

  it('TC-295: each run of left-out rows is one gap', () => {
    const evidence = render(rows(['tool', 'x'], ['tool', 'y'], ['human', 'keep'], ['tool', 'z']), 50);
    expect(evidence).toBe(`${GAP}[human user]\nkeep\n${GAP}`);
    expect(utf8Length(evidence)).toBe(84);
  });

  it.each([
    ['TC-296: 40 tokens are too few for a row', 40, GAP],
    ['TC-296: 41 tokens hold it', 41, '[human user]\nhello\n'],
    ['TC-297: 8 tokens do not hold the marker', 8, ''],
    ['TC-297: 9 tokens hold the marker', 9, GAP],
    ['TC-297: 0 tokens hold nothing', 0, ''],
  ])('%s', (_name, maxTokens, expected) => {
    expect(render(rows(['human', 'hello']), maxTokens)).toBe(expected);
  });

  it('TC-297: no rows make no evidence', () => {
    expect(render([], 150)).toBe('');
  });

  it('TC-299: rows have limits of their own', () => {
    const output = cutRowText('x'.repeat(20_000), true);
    const other = cutRowText('x'.repeat(20_000), false);
    expect(output).toContain('…12096 chars truncated…');
    expect(utf8Length(renderRow({ tier: 'tool', text: output }))).toBe(7_939);
    expect(utf8Length(renderRow({ tier: 'tool', text: other }))).toBe(9_939);
    expect(utf8Length(renderRow({ tier: 'human', text: other }))).toBe(9_945);
  });

  it('cuts the row that does not fit, and takes none after it', () => {
    const evidence = render(rows(['final', 'older'], ['human', 'x'.repeat(2_000)], ['tool', 'y']), 150);
    expect(evidence).toMatch(
      /^\[\.\.\. response items omitted \.\.\.\]\n\[human user\]\nx+…\d+ chars truncated…x+\n\[\.\.\. response/,
    );
    expect(evidence).not.toContain('older');
  });
});

const rowText = fc.oneof(
  fc.string({ maxLength: 40, unit: 'grapheme' }),
  fc.integer({ min: 0, max: 3_000 }).map((size) => 'é'.repeat(size)),
);
const anyRows = fc.array(fc.tuple(fc.constantFrom(...EVIDENCE_TIERS), rowText), { maxLength: 40 });

describe('properties', () => {
  it('the budget is never exceeded', () => {
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 0, max: 3_000 }), (given, maxTokens) => {
        expect(utf8Length(render(rows(...given), maxTokens))).toBeLessThanOrEqual(4 * maxTokens);
      }),
    );
  });

  it('collecting while streaming gives what rendering all rows gives', () => {
    const big = 'x'.repeat(9_000);
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 0, max: 3_000 }), (given, maxTokens) => {
        const all = Array.from({ length: 3 }, () => [...given, ['tool', big] as const]).flat();
        // it makes room again and again
        const collector = new TieredEvidence(maxTokens, 10_000);
        for (const [tier, text] of all) collector.add(pending(tier, text));
        expect(collector.finish().evidence).toBe(render(rows(...all), maxTokens));
      }),
    );
  });
});

const step = fc.record({
  command: fc.integer({ min: 0, max: 3 }),
  failed: fc.boolean(),
  size: fc.integer({ min: 1, max: 2_500 }),
});

it('finds pairs in bounded memory as with all of them', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 100, max: 3_000 }), (steps, maxTokens) => {
      const [narrow, wide] = [5_000, 1e9].map((heldBytes) => {
        const collector = new TieredEvidence(maxTokens, heldBytes);
        for (const [at, { command, failed, size }] of steps.entries()) {
          const call_id = `call-${at}`;
          const args = JSON.stringify({ command: `run ${command}` });
          const output = `Exit code: ${failed ? 1 : 0} ${'x'.repeat(size)}`;
          const call = { type: 'function_call', name: 'shell', arguments: args, call_id };
          const result = { type: 'function_call_output', call_id, output };
          collector.add(pending('tool', JSON.stringify(call)));
          collector.add({ ...pending('tool', JSON.stringify(result)), isToolOutput: true });
          collector.add(pending('tool', `other ${at} ${'y'.repeat(size)}`));
        }
        return collector.finish();
      });
      expect(narrow?.evidence).toBe(wide?.evidence);
      expect(narrow?.shares).toEqual(wide?.shares);
    }),
  );
});

function pending(tier: EvidenceTier, text: string): PendingItem {
  return { tier, isToolOutput: false, toJson: () => text };
}

it('keeps only what could still fit, however long the rollout is', () => {
  let opened = 0;
  const collector = new TieredEvidence(1_000);
  const unpack = (bytes: Uint8Array): string => {
    opened++;
    return `${decodeUtf8(bytes).slice(0, 10)} ${'x'.repeat(1_000)}`;
  };
  for (let at = 0; at < 20_000; at++) {
    const bytes = encodeUtf8(`row ${at} `.padEnd(10_000, 'y'));
    collector.add({ tier: 'tool', isToolOutput: true, bytes, unpack });
  }
  const { evidence } = collector.finish();
  expect(evidence).toContain('row 19999');
  expect(opened).toBeLessThan(500);
});

it('does not look at what better tiers leave no room for', () => {
  const collector = new TieredEvidence(1_000);
  let opened = 0;
  const unpack = (bytes: Uint8Array): string => {
    opened++;
    return decodeUtf8(bytes);
  };
  for (let at = 0; at < 200; at++) {
    collector.add(pending('human', `said ${at} ${'x'.repeat(100)}`));
    collector.add({ tier: 'tool', isToolOutput: true, bytes: new Uint8Array(1_048_576), unpack });
  }
  const { evidence } = collector.finish();
  expect(evidence).toContain('said 199');
  expect(opened).toBeLessThan(40); // before the user had said enough
});

it('redacts before it cuts', () => {
  const secret = ['gh', 'p_', 'a1B2'.repeat(9)].join('');
  const collector = new TieredEvidence(10_000);
  collector.add(pending('human', `${'x'.repeat(4_940)} ${secret} ${'x'.repeat(9_000)}`));
  const { evidence, redactions } = collector.finish();
  expect(evidence).not.toContain('a1B2');
  expect(redactions).toEqual({ github_token: 1 });
});
