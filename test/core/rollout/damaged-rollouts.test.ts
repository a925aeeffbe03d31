import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { ClaudeSession } from '../../support/claude-session.ts';
import { codexRollout, toChunks } from '../../support/rollout-builder.ts';

type Read = Extract<RolloutReading, { kind: 'read' }>;
const encoder = new TextEncoder();

async function readText(text: string | Uint8Array, chunkBytes?: number): Promise<RolloutReading> {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  return readRollout(toChunks(bytes, chunkBytes), { evidenceTokens: 50_000 });
}

async function read(text: string | Uint8Array): Promise<Read> {
  const reading = await readText(text);
  if (reading.kind !== 'read') throw new Error(`not read: ${reading.reason} ${reading.detail}`);
  return reading;
}

/** What must not depend on how the lines are written. */
const meaning = ({ facts, evidence, counts }: Read): object => ({ facts, evidence, byKind: counts.byKind });

/** One session of each format, with characters of every width, and a repetition of one line. */
const SESSIONS: readonly (readonly [string, string])[] = [
  [
    'Codex',
    codexRollout()
      .environment()
      .user('größer 🚀 日本')
      .event({ type: 'user_message', message: 'größer 🚀 日本' })
      .call('shell', { command: ['ls'] }, 'a\u2028b\r\n\ud83d')
      .assistant('done é')
      .toText(),
  ],
  [
    'Claude Code',
    new ClaudeSession().user('größer 🚀 日本').call('Bash', 't1', 'a\u2028b\r\n').assistant('done é').toText(),
  ],
];

describe.each(SESSIONS)('a %s session', (_name, text) => {
  const lines = text.split('\n').filter((line) => line !== '');

  it('cut at any byte: every complete record is used, the rest is a torn tail (D6)', async () => {
    const bytes = encoder.encode(text);
    const whole = new Map<number, object>();
    let end = 0;
    for (const line of lines) {
      const complete = await read(bytes.subarray(0, end));
      whole.set(end, { ...meaning(complete) });
      end += encoder.encode(line).length + 1;
    }
    whole.set(end, meaning(await read(bytes)));
    const ends = [...whole.keys()];
    for (let cut = 1; cut < bytes.length; cut++) {
      const reading = await readText(bytes.subarray(0, cut));
      const before = ends.findLast((each) => each <= cut) ?? 0;
      const isWhole = ends.includes(cut) || ends.includes(cut + 1);
      expect(reading.counts).toMatchObject({ tornTail: !isWhole, broken: 0 });
      if (reading.kind !== 'read') expect(reading).toBe('read');
      else expect(meaning(reading)).toEqual(whole.get(ends.includes(cut + 1) ? cut + 1 : before));
    }
  }, 30_000);

  it('whose start is cut off is still known for what it is, wherever the cut is', async () => {
    const bytes = encoder.encode(text);
    const last = encoder.encode(`${lines.slice(0, -2).join('\n')}\n`).length;
    const { agentKind } = (await read(text)).facts;
    for (let cut = 1; cut < last; cut++) {
      const reading = await readText(bytes.subarray(cut));
      expect(reading).toMatchObject({ kind: 'read', facts: { agentKind } });
      expect(reading.counts.broken).toBeLessThanOrEqual(1);
    }
  });

  it('with broken lines behind its first record: these are counted, the rest is read as if they were not there (D7)', async () => {
    const plain = await read(text);
    const half = lines.map((line) => line.slice(0, Math.floor(line.length / 2)));
    const broken = fc.constantFrom('null', '[]', '"text"', '7', '}', 'x', '{"a":', ...half);
    const gaps = fc.array(fc.array(broken, { maxLength: 2 }), { minLength: lines.length, maxLength: lines.length });
    await fc.assert(
      fc.asyncProperty(gaps, async (between) => {
        const count = between.flat().length;
        const messy = lines.flatMap((line, at) => [line, ...(between[at] ?? [])]).join('\n');
        const reading = await readText(`${messy}\n`);
        expect(reading.counts).toMatchObject({ broken: count, records: lines.length, tornTail: false });
        if (count > lines.length) expect(reading).toMatchObject({ kind: 'failed', reason: 'unreadable' });
        else expect(reading.kind === 'read' && meaning(reading)).toEqual(meaning(plain));
      }),
      { numRuns: 150 },
    );
  });

  it('with any line ends, blank lines and spaces around its records, in any chunks, is the same (D13)', async () => {
    const plain = await read(text);
    const ending = fc.constantFrom('\n', '\r\n', ' \n', '\t\r\n', '\n\n', '\r\n \r\n', '\n\t \n');
    const endings = fc.array(ending, { minLength: lines.length, maxLength: lines.length });
    await fc.assert(
      fc.asyncProperty(endings, fc.boolean(), fc.integer({ min: 1, max: 99 }), async (ends, mark, chunkBytes) => {
        const messy = (mark ? '\ufeff' : '') + lines.map((line, at) => line + (ends[at] ?? '\n')).join('');
        const reading = await readText(messy, chunkBytes);
        expect(reading.kind === 'read' && meaning(reading)).toEqual(meaning(plain));
        expect(reading.counts).toMatchObject({ broken: 0, tornTail: false });
      }),
      { numRuns: 100 },
    );
  });

  it('with objects glued together, in any number to a line, is the same', async () => {
    const plain = await read(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: lines.length, maxLength: lines.length }), async (glued) => {
        const messy = lines.map((line, at) => line + (glued[at] === true ? '' : '\n')).join('');
        const reading = await readText(messy);
        expect(reading.kind === 'read' && meaning(reading)).toEqual(meaning(plain));
      }),
      { numRuns: 60 },
    );
  });
});

describe('weight that tells nothing', () => {
  const blob = fc.integer({ min: 40, max: 400 }).map((quads) => `gAAAA${'Ab1_'.repeat(quads)}`);
  const dead = blob.chain((encrypted) =>
    fc.constantFrom<readonly [string, object]>(
      ['response_item', { type: 'reasoning', summary: [], encrypted_content: encrypted, content: null }],
      ['response_item', { type: 'compaction', encrypted_content: encrypted }],
      [
        'response_item',
        { type: 'ghost_snapshot', ghost_commit: { id: 'x', preexisting_untracked_files: [encrypted] } },
      ],
      [
        'compacted',
        {
          message: '',
          replacement_history: [
            { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'the task' }] },
            { type: 'compaction', encrypted_content: encrypted },
          ],
        },
      ],
      ['event_msg', { type: 'context_compacted' }],
      ['event_msg', { type: 'guardian_assessment', status: 'approved', rationale: encrypted }],
      ['event_msg', { type: 'agent_message', message: 'the answer' }],
      ['event_msg', { type: 'user_message', message: 'the task' }],
      ['world_state', { full: true, state: { agents_md: encrypted } }],
    ),
  );

  it('repeated histories, encrypted reasoning and snapshots leave no trace, wherever and however many (D25, D26)', async () => {
    const plain = await read(codexRollout().user('the task').assistant('the answer').toText());
    await fc.assert(
      fc.asyncProperty(fc.array(dead, { maxLength: 20 }), fc.array(dead, { maxLength: 20 }), async (one, two) => {
        const rollout = codexRollout().user('the task');
        for (const [type, payload] of one) rollout.record(type, payload);
        rollout.assistant('the answer');
        for (const [type, payload] of two) rollout.record(type, payload);
        const { facts, evidence, counts } = await read(rollout.toText());
        expect(evidence).toBe(plain.evidence);
        expect({ ...facts, lastAt: null }).toEqual({ ...plain.facts, lastAt: null });
        expect(Object.values(counts.droppedByKind).reduce((sum, count) => sum + count, 0)).toBe(
          one.length + two.length,
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe('a fork (D19)', () => {
  const START = Date.UTC(2026, 0, 2, 3, 4, 5);
  const word = fc.stringMatching(/^[a-z]{3,9}$/);
  const line = (ms: number, type: string, payload: object): string =>
    JSON.stringify({ timestamp: new Date(ms).toISOString(), type, payload });
  const said = (text: string): object => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

  it('of any parent, at any depth, tells its own id and its own turns', async () => {
    const turns = fc.array(word, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(turns, turns, fc.array(word, { minLength: 1, maxLength: 3 }), async (old, own, parents) => {
        const copied = [
          ...parents.map((id) => ['session_meta', { id: `p-${id}`, cwd: '/p' }] as const),
          ...old.map((text) => ['response_item', said(`old ${text}`)] as const),
        ];
        const lines = [
          line(START, 'session_meta', { id: 'own', cwd: '/own', forked_from_id: 'p', cli_version: '0.146.0' }),
          ...copied.map(([type, payload], at) => line(START + 3 + at, type, payload)),
          ...own.map((text, at) => line(START + 10_000 + at * 1_000, 'response_item', said(`own ${text}`))),
        ];
        const { facts, evidence } = await read(lines.join('\n'));
        expect(facts).toMatchObject({ threadId: 'own', cwd: '/own', humanMessages: own.length });
        expect(evidence).not.toContain('old ');
      }),
      { numRuns: 60 },
    );
  });
});

describe('a rollout that moves (A13)', () => {
  it('marks every row with the project in force, within the budget, whatever it keeps', async () => {
    const places = ['/work/own', '/work/own/web', '/work/b', `/srv/${'long/'.repeat(30)}c`, '/srv/日本/d'];
    const steps = fc.array(fc.tuple(fc.constantFrom(...places), fc.integer({ min: 0, max: 3_000 })), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 60, max: 4_000 }), async (moves, tokens) => {
        const rollout = codexRollout({ cwd: '/work/own', git: null });
        for (const [cwd, size] of moves) rollout.record('turn_context', { cwd }).user(`${cwd} ${'x'.repeat(size)}`);
        const reading = await readRollout(toChunks(rollout.toBytes()), { evidenceTokens: tokens });
        const evidence = reading.kind === 'read' ? reading.evidence : '';
        expect(encoder.encode(evidence).length).toBeLessThanOrEqual(4 * tokens);
        for (const [, mark, cwd] of evidence.matchAll(
          /^\[human user\]\n(?:\[project: (.*)\]\n)?.*"text":"(\/[^\s…"]+) /gm,
        )) {
          expect(mark).toBe(cwd?.startsWith('/work/own') ? undefined : cwd);
        }
      }),
      { numRuns: 80 },
    );
  });
});

it('a file in UTF-16 is failed with that as the reason', async () => {
  const text = codexRollout().user('one').assistant('two').toText();
  const little = Buffer.from(`\ufeff${text}`, 'utf16le');
  for (const bytes of [little, little.subarray(2), Buffer.from(little).swap16()]) {
    for (const chunkBytes of [1, bytes.length]) {
      const reading = await readText(bytes, chunkBytes);
      expect(reading).toMatchObject({ kind: 'failed', reason: 'unreadable' });
      expect(reading.kind === 'failed' && reading.detail).toMatch(/the file is UTF-16, save it as UTF-8$/);
    }
  }
  expect(await readText('not json\n'.repeat(9))).toMatchObject({ detail: '9 of 9 lines are no JSON object' });
});
