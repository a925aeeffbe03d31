import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** Damage as it is met in the wild, and worse, done to real rollouts. Repeatable: the same seed gives the same inputs. */
export interface MutatedRollout {
  /** What was done, for reports: names of files and of mutations only. */
  readonly origin: string;
  readonly bytes: Uint8Array;
}

/** Plain bytes of every rollout of a folder, by name. */
export function readRollouts(folder: string): ReadonlyMap<string, Uint8Array> {
  const names = readdirSync(folder).filter((name) => /\.jsonl?(?:\.gz|\.zst)?$/.test(name));
  return new Map(names.sort().map((name) => [name, unpack(name, readFileSync(join(folder, name)))]));
}

function unpack(name: string, bytes: Buffer): Uint8Array {
  if (name.endsWith('.gz')) return gunzipSync(bytes);
  return name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes;
}

/** Numbers from 0 to below `limit`, the same for the same seed. */
export type Chance = (limit: number) => number;

export function seededChance(seed: number): Chance {
  let state = seed >>> 0;
  return (limit) => {
    // a linear congruential step; the high bits are the good ones
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

type Mutation = (bytes: Uint8Array, chance: Chance, others: readonly Uint8Array[]) => Uint8Array;

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  truncate: (bytes, chance) => bytes.slice(0, chance(bytes.length + 1)),
  behead: (bytes, chance) => bytes.slice(chance(bytes.length + 1)),
  flip: (bytes, chance) => {
    const copy = new Uint8Array(bytes); // a slice of a Buffer would be the rollout itself
    for (let times = 1 + chance(64); times > 0; times--) copy[chance(copy.length)] = chance(256);
    return copy;
  },
  duplicate: (bytes, chance) => insert(bytes, lineStart(bytes, chance), slice(bytes, chance, 20_000)),
  drop: (bytes, chance) => {
    const at = chance(bytes.length + 1);
    return concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + chance(2_000)))]);
  },
  splice: (bytes, chance, others) => {
    const other = others[chance(others.length)] ?? bytes;
    return insert(bytes, lineStart(bytes, chance), slice(other, chance, 20_000));
  },
  number: (bytes, chance) => insertText(bytes, chance, `${'9'.repeat(1 + chance(5_000))}e${chance(999)}`),
  nesting: (bytes, chance) => {
    const depth = 1 + chance(20_000);
    const opening = ['[', '{"a":', '{"payload":{"type":"message","content":['][chance(3)] ?? '[';
    return insertText(bytes, chance, opening.repeat(depth));
  },
  nestedRecord: (bytes, chance) => {
    const depth = 1 + chance(5_000);
    const value = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const kind = ['message', 'function_call_output', 'agent_message'][chance(3)];
    const record = `{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"${kind}","role":"user","content":${value},"output":${value}}}\n`;
    return insert(bytes, lineStart(bytes, chance), Buffer.from(record));
  },
  surrogate: (bytes, chance) => insertText(bytes, chance, ['\\ud83d', '\\udc00', '\\ud83d\\ud83d'][chance(3)] ?? ''),
  halfCharacter: (bytes, chance) =>
    insert(bytes, chance(bytes.length + 1), Uint8Array.of(0xed, 0xa0, 0x80, 0xf0, 0x9f)),
  nul: (bytes, chance) => insertText(bytes, chance, ['\0', '\\u0000'][chance(2)] ?? ''),
  separator: (bytes, chance) => insertText(bytes, chance, ['\u2028', '\u2029', '\u0085', '\v'][chance(4)] ?? ''),
  bom: (bytes, chance) =>
    insert(bytes, chance(2) === 0 ? 0 : lineStart(bytes, chance), Uint8Array.of(0xef, 0xbb, 0xbf)),
  crlf: (bytes) => Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  oneLine: (bytes) => Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\n', ''), 'latin1'),
  quotes: (bytes, chance) => insertText(bytes, chance, ['"', '\\', '\\"', '","'][chance(4)] ?? ''),
  base64: (bytes, chance) =>
    insertText(bytes, chance, `data:image/png;base64,${'iVBORw0KGgo/'.repeat(chance(20_000))}`),
};
const NAMES = Object.keys(MUTATIONS);
const MAX_SLICE_BYTES = 49_152;

/**
 * One input: of a rollout its start, a piece or, one time in fifty, the whole, with one to four mutations.
 * @param rollouts what `readRollouts` gave
 */
export function mutateRollout(rollouts: ReadonlyMap<string, Uint8Array>, seed: number): MutatedRollout {
  const chance = seededChance(seed * 2_654_435_761);
  for (let warmUp = 0; warmUp < 4; warmUp++) chance(1);
  const names = [...rollouts.keys()];
  const others = [...rollouts.values()];
  const name = names[chance(names.length)] ?? '';
  const whole = rollouts.get(name) ?? new Uint8Array(0);
  let bytes = whole;
  const part = chance(50);
  if (part > 0) {
    const from = part < 25 ? 0 : lineStart(whole, chance);
    bytes = whole.slice(from, from + 1 + chance(MAX_SLICE_BYTES));
  }
  const done: string[] = [];
  for (let times = 1 + chance(4); times > 0; times--) {
    const mutation = NAMES[chance(NAMES.length)] ?? '';
    bytes = MUTATIONS[mutation]?.(bytes, chance, others) ?? bytes;
    done.push(mutation);
  }
  return { origin: `${name} seed ${seed}: ${done.join(', ')}`, bytes };
}

function slice(bytes: Uint8Array, chance: Chance, maxBytes: number): Uint8Array {
  const from = chance(bytes.length + 1);
  return bytes.subarray(from, from + chance(maxBytes));
}

/** Behind a line end, not far from a random place. */
function lineStart(bytes: Uint8Array, chance: Chance): number {
  return bytes.indexOf(0x0a, chance(bytes.length + 1)) + 1;
}

function insertText(bytes: Uint8Array, chance: Chance, text: string): Uint8Array {
  return insert(bytes, chance(bytes.length + 1), Buffer.from(text));
}

function insert(bytes: Uint8Array, at: number, piece: Uint8Array): Uint8Array {
  return concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
