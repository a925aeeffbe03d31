import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RecordPlace } from '../../../core/rollout/format-reader.ts';
import { FORMATS, RECORD_LISTS } from '../../../core/rollout/formats.ts';
import { isObject, type JsonObject, parseJson, parseRecords } from '../../../core/rollout/json-value.ts';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutFacts, RolloutReading } from '../../../core/rollout/rollout.ts';
import { RolloutSplitter } from '../../../core/rollout/rollout-splitter.ts';
import { holdsList, takeApart } from '../../../core/rollout/take-apart.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, utf8Length } from '../../../core/text.ts';
import { toChunks } from '../../support/rollout-builder.ts';
import { sharedRolloutsFolder } from '../../support/shared-rollouts.ts';

const TOKENS = 150_000;
const folder = sharedRolloutsFolder();
const names = readdirSync(folder).filter((name) => /^\d\d-.*\.(?:jsonl|json)(?:\.zst|\.gz)?$/.test(name));

function load(prefix: string): Uint8Array {
  const name = names.find((each) => each.startsWith(prefix));
  if (name === undefined) throw new Error(`no shared rollout starts with ${prefix}`);
  const bytes = readFileSync(join(folder, name));
  if (name.endsWith('.zst')) return zstdDecompressSync(bytes);
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

async function read(prefix: string, evidenceTokens: number | null = TOKENS): Promise<RolloutReading> {
  return readRollout(toChunks(load(prefix), 4_099), { evidenceTokens });
}

async function understand(prefix: string): Promise<Extract<RolloutReading, { kind: 'read' }>> {
  const reading = await read(prefix);
  if (reading.kind !== 'read') throw new Error(`${prefix}: ${reading.reason}`);
  return reading;
}

function agentOf(name: string): string {
  const agents = [
    ['codex', 'codex'],
    ['claude', 'claude-code'],
    ['gemini', 'gemini-cli'],
    ['pi-session', 'pi'],
    ['copilot', 'copilot-cli'],
    ['chat', 'chat'],
  ];
  return agents.find(([part]) => name.includes(part ?? ''))?.[1] ?? 'unknown';
}

interface PlacedRecord {
  readonly record: JsonObject;
  readonly place: RecordPlace;
  readonly isHead: boolean;
}

/** The records of a file, as the pipeline cuts it. */
function recordsOf(bytes: Uint8Array): readonly PlacedRecord[] {
  const found: PlacedRecord[] = [];
  const add = (value: unknown, place: RecordPlace): void => {
    if (!isObject(value)) return;
    if (!holdsList(value, RECORD_LISTS)) found.push({ record: value, place, isHead: false });
    else {
      for (const piece of takeApart(value, RECORD_LISTS)) {
        if (piece.kind === 'head') found.push({ record: piece.fields, place, isHead: true });
        else add(piece.element, 'element');
      }
    }
  };
  const splitter = new RolloutSplitter(
    {
      record: (buffer, from, to) => {
        for (const record of parseRecords(decodeUtf8(buffer.subarray(from, to))).records) add(record, 'line');
      },
      element: (buffer, from, to) => add(parseJson(decodeUtf8(buffer.subarray(from, to))), 'element'),
      head: (fields) => found.push({ record: fields, place: 'element', isHead: true }),
    },
    { recordBytes: LIMITS.recordBytes, lists: RECORD_LISTS },
  );
  splitter.push(bytes);
  splitter.end();
  return found;
}

describe('every shared rollout', () => {
  it.each(names)('%s ends in a named way, within the budget', async (name) => {
    const reading = await read(name);
    if (reading.kind === 'failed') throw new Error(reading.reason);
    expect(reading.facts.agentKind).toBe(agentOf(name));
    expect(utf8Length(reading.evidence)).toBeLessThanOrEqual(4 * TOKENS);
    expect(reading.evidence).not.toMatch(/encrypted_content|gAAAA[A-Za-z0-9_-]{60}|;base64,|\0/);
    // The file of many conversations has no name for all of them.
    expect(reading.facts.threadId === null).toBe(name.startsWith('61'));
  });

  it.each(names)('%s is of one format: no other knows a record of it', (name) => {
    const kinds = recordsOf(load(name)).flatMap(({ record, place, isHead }) =>
      FORMATS.filter((format) => (isHead ? format.recognisesHead?.(record) : format.recognises(record, place))).map(
        (format) => format.agentKind,
      ),
    );
    expect([...new Set(kinds)]).toEqual([agentOf(name)]);
  });

  it.each(names)('%s: facts do not depend on evidence, nor on the budget', async (name) => {
    const [with_, without] = [await read(name), await read(name, null)];
    const narrow = await read(name, 500);
    for (const reading of [without, narrow]) {
      expect(reading.kind === 'read' && with_.kind === 'read' && [reading.facts, reading.counts.byKind]).toEqual(
        with_.kind === 'read' && [with_.facts, with_.counts.byKind],
      );
    }
    expect(narrow.kind === 'read' && utf8Length(narrow.evidence)).toBeLessThanOrEqual(2_000);
  });
});

const FACTS: readonly (readonly [string, Partial<RolloutFacts>, number])[] = [
  [
    '01',
    {
      threadId: '3cf49b45-003a-44d0-a6b7-498a5a35c810',
      formatVersion: 'bare',
      humanMessages: 0,
      toolCalls: 0,
      gitBranch: 'main',
      repository: null,
    },
    1,
  ],
  ['03', { formatVersion: 'bare', humanMessages: 1, toolCalls: 3, cwd: '/Users/dev/Dev/Chatgpt-Apps/ocodex-labs' }, 24],
  ['05', { humanMessages: 2, toolCalls: 23 }, 128],
  ['06', { humanMessages: 14, toolCalls: 65 }, 365],
  ['08', { humanMessages: 12, toolCalls: 111, cwd: '/Users/dev/Dev/Chatgpt-Apps/ocodex' }, 582],
  ['09', { formatVersion: '0.36.0', humanMessages: 6, toolCalls: 51, source: 'cli', gitBranch: 'master' }, 326],
  ['10', { threadId: '613a9a68-8816-40b2-a2d4-041ade599da6', humanMessages: 8, toolCalls: 7 }, 451],
  ['12', { formatVersion: '0.41.0', humanMessages: 0, title: null }, 2],
  [
    '14',
    { formatVersion: '0.42.0-alpha.3', source: 'vscode', humanMessages: 1, assistantMessages: 0, toolCalls: 24 },
    175,
  ],
  ['16', { formatVersion: '0.57.0', humanMessages: 6, toolCalls: 97, cwd: '/mnt/d/ai/MoonMind' }, 731],
  ['18', { formatVersion: '0.58.0', humanMessages: 1, toolCalls: 42 }, 309],
  ['19', { source: 'desktop', toolCalls: 1 }, 19],
  ['21', { source: 'desktop', externalContext: { webSearch: true, toolSearch: false, mcpServers: [] } }, 702],
  ['24', { formatVersion: '0.107.0', humanMessages: 4, repository: null }, 314],
  ['26', { formatVersion: '0.110.0', humanMessages: 1, gitBranch: 'cleanroom-5.3-codex' }, 394],
  ['28', { formatVersion: '0.144.3', toolCalls: 2 }, 6],
  ['31', { toolCalls: 3, subagent: false, parentThreadId: null }, 5],
  [
    '32',
    {
      threadId: '019fcadf-0000-7000-0000-000000000002',
      subagent: true,
      parentThreadId: '019fcada-0000-7000-0000-000000000001',
      source: 'subagent',
    },
    7,
  ],
  ['33', { threadId: '019fc8be-3658-7ca3-9e29-000000000000', cwd: '/tmp/repo', memoryMode: 'off' }, 118],
  ['37', { formatVersion: '0.104.0', humanMessages: 14 }, 210],
  ['38', { formatVersion: '0.71.0', humanMessages: 25, cwd: 'D:\\github\\ftum-hozuhi' }, 748],
  ['41', { source: 'desktop', humanMessages: 5, memoryMode: 'enabled' }, 95],
  ['43', { threadId: '9cd28a74-da7e-4458-a91a-fffec2be9d7a', humanMessages: 1 }, 141],
  ['45', { formatVersion: '2.0.76', humanMessages: 2 }, 54],
  ['46', { formatVersion: '2.1.7', humanMessages: 5 }, 171],
  ['49', { humanMessages: 4 }, 148],
  ['51', { source: 'cli', humanMessages: 3 }, 208],
  ['53', { subagent: false, threadId: 'e5c754c8-0000-4000-8000-000000000001', humanMessages: 1 }, 5],
  [
    '54',
    {
      subagent: true,
      threadId: 'agent-aa3e7004b94543971',
      parentThreadId: 'e5c754c8-0000-4000-8000-000000000001',
      humanMessages: 0,
    },
    4,
  ],
  [
    '56',
    {
      threadId: 'f7633853-6663-4dbb-bbf4-6159afa29df8',
      source: 'cli',
      cwd: null,
      humanMessages: 1,
      assistantMessages: 10,
      toolCalls: 9,
      firstAt: Date.UTC(2026, 0, 15, 20, 51, 48, 582),
      lastAt: Date.UTC(2026, 0, 15, 20, 52, 56, 382),
    },
    14,
  ],
  [
    '57',
    {
      threadId: 'd703a1a9-1b7b-4fb1-b512-c9738b1fe617',
      formatVersion: 'v1',
      cwd: '/Users/dev/workspaces/pi-mono',
      humanMessages: 88,
      assistantMessages: 244,
      toolCalls: 391,
    },
    1_019,
  ],
  ['61', { threadId: null, firstAt: null, humanMessages: 1_490, assistantMessages: 1_380, toolCalls: 1_164 }, 5_508],
  [
    '63',
    {
      threadId: 'copilot_stage0_small',
      formatVersion: '1.0.77',
      cwd: '/tmp/repo',
      repository: 'https://github.com/example/repo',
      gitBranch: 'main',
      humanMessages: 2,
      assistantMessages: 4,
      toolCalls: 2,
      lastAt: Date.UTC(2025, 11, 18, 21, 32, 20),
    },
    32,
  ],
];

describe('what the shared rollouts tell', () => {
  it.each(FACTS)('%s', async (prefix, facts, records) => {
    const reading = await understand(prefix);
    expect(reading.facts).toMatchObject(facts);
    expect(reading.counts).toMatchObject({ records, broken: 0, oversized: 0, tornTail: prefix === '43' });
  });

  it('44 is 14, compressed', async () => {
    expect(await read('44')).toEqual(await read('14'));
  });

  it('43 is the start of 09', async () => {
    const [torn, whole] = [await understand('43'), await understand('09')];
    expect(torn.facts.firstAt).toBe(whole.facts.firstAt);
    expect(whole.evidence.startsWith(torn.evidence.slice(0, 50_000))).toBe(true);
  });

  it('41 holds the request and not what stood around it', async () => {
    const { evidence } = await understand('41');
    expect(evidence).not.toContain('untrusted ChatGPT conversation');
    expect(evidence).not.toContain('## My request for Codex:');
  });

  it('37 holds the answers to questions as the person speaking', async () => {
    const { evidence } = await understand('37');
    expect(evidence.match(/^\[human user\]\nAssistant question: /gm)).toHaveLength(6);
  });

  it('05 holds nothing of AGENTS.md (A18)', async () => {
    const { evidence } = await understand('05');
    expect(evidence).not.toContain('<user_instructions>');
    expect(evidence).not.toContain('In the codex-rs folder where the rust code lives');
  });

  it('16 and 18 keep the row of a patch, and no snapshot', async () => {
    const { evidence, counts } = await understand('18');
    expect(evidence).toContain('"type":"custom_tool_call"');
    expect(evidence).not.toContain('ghost_commit');
    expect(counts.droppedByKind).toMatchObject({
      'response_item/ghost_snapshot': 1,
      'response_item/reasoning': 43,
      turn_context: 43,
    });
  });

  it('57 drops what was aborted before a word, and changes of the model', async () => {
    const { counts } = await understand('57');
    expect(counts.byKind).toEqual({ session: 1, message: 914, model_change: 1, thinking_level_change: 103 });
    expect(counts.droppedByKind).toEqual({ message: 14, model_change: 1, thinking_level_change: 103 });
  });

  it('61 is one thread of 200 conversations, without their instructions', async () => {
    const { counts, evidence } = await understand('61');
    expect(counts.byKind).toEqual({ document: 200, system: 200, user: 1_490, assistant: 2_454, tool: 1_164 });
    expect(evidence).toContain('"conversation":200');
    expect(evidence).not.toContain('"role":"system"');
  });

  it('63 tells sub-agents and the abort from the conversation', async () => {
    const { evidence } = await understand('63');
    expect(evidence.match(/^\[other agent\]$/gm)).toHaveLength(2);
    // The other one would move to what is no directory.
    expect(evidence.match(/^\[harness context\]$/gm)).toHaveLength(1);
  });
});
