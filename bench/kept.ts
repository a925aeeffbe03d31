import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { CommandPairs } from '../core/rollout/command-pairs.ts';
import { readRollout } from '../core/rollout/read-rollout.ts';
import { TIER_LABELS } from '../core/rollout/rollout.ts';
import { stepOf } from '../core/rollout/tool-step.ts';
import { utf8Length } from '../core/text.ts';
import { sharedRolloutsFolder } from '../test/support/shared-rollouts.ts';
import type { Measurement } from './measurement.ts';

const BUDGETS = [10_000, 50_000, 150_000] as const;
/** More than any rollout of the corpus holds. */
const WHOLE = 1e9;
const MODES = ['tiered', 'middle'] as const;
/** A text survives when both of its ends do; the middle of a long row may be cut. */
const EDGE_UNITS = 400;
const KINDS = ['user messages', 'final assistant messages', 'commands that failed and later passed'] as const;

interface Tally {
  all: number;
  kept: number;
}

/**
 * What of the corpus survives in the evidence at a budget: texts of the person, last answers, and commands that failed and
 * later passed (all four rows), next to the middle cut of the same files.
 * @throws Error that says so where the folder of real rollouts is missing
 */
export async function benchKept(): Promise<readonly Measurement[]> {
  const folder = sharedRolloutsFolder();
  const files = readdirSync(folder).filter((name) => /^\d\d-.*\.json/.test(name));
  const tallies = new Map<string, Tally>();
  const count = (name: string, all: number, kept: number): void => {
    const tally = tallies.get(name) ?? { all: 0, kept: 0 };
    tallies.set(name, { all: tally.all + all, kept: tally.kept + kept });
  };
  for (const file of files) {
    const bytes = unpack(join(folder, file));
    const rows = splitRows(await evidenceOf(bytes, WHOLE, 'tiered'));
    const wanted = [textsOf(rows, TIER_LABELS.human), textsOf(rows, TIER_LABELS.final), pairsOf(rows)] as const;
    const humanBytes = rows.filter((row) => row.label === TIER_LABELS.human).reduce((sum, row) => sum + row.bytes, 0);
    for (const budget of BUDGETS) {
      for (const mode of MODES) {
        const evidence = await evidenceOf(bytes, budget, mode);
        for (const [at, kind] of KINDS.entries()) {
          const [all, kept] = survivors(wanted[at] ?? [], evidence);
          count(nameOf(kind, budget, mode), all, kept);
          if (at === 0 && humanBytes <= 4 * budget)
            count(nameOf('user messages where they fit', budget, mode), all, kept);
        }
      }
    }
  }
  return [...tallies].map(([name, { all, kept }]) => ({
    name,
    value: all === 0 ? 100 : (100 * kept) / all,
    unit: '%',
    remark: `${kept} of ${all}, ${files.length} files`,
  }));
}

function nameOf(kind: string, budget: number, mode: string): string {
  return `kept at ${budget / 1_000}k tokens: ${kind}${mode === 'middle' ? ' (middle cut)' : ''}`;
}

function unpack(path: string): Uint8Array {
  const bytes = readFileSync(path);
  if (path.endsWith('.zst')) return zstdDecompressSync(bytes);
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

async function evidenceOf(bytes: Uint8Array, evidenceTokens: number, mode: (typeof MODES)[number]): Promise<string> {
  const reading = await readRollout(chunksOf(bytes), { evidenceTokens, mode });
  return reading.kind === 'read' ? reading.evidence : '';
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

interface Row {
  readonly label: string;
  /** The item; a row has no other line ends. */
  readonly text: string;
  readonly bytes: number;
}

function splitRows(evidence: string): readonly Row[] {
  const labels = Object.values(TIER_LABELS).join('|');
  const parts = evidence.split(new RegExp(`^\\[(${labels})\\]\\n`, 'm'));
  const rows: Row[] = [];
  for (let at = 1; at + 1 < parts.length; at += 2) {
    const [label = '', text = ''] = [parts[at], parts[at + 1]];
    rows.push({ label, text: text.trimEnd().split('\n').at(-1) ?? '', bytes: utf8Length(text) + label.length + 3 });
  }
  return rows;
}

/** Each wanted thing as the texts that must all survive. */
type Wanted = readonly (readonly string[])[];

function textsOf(rows: readonly Row[], label: string): Wanted {
  return rows.filter((row) => row.label === label).map((row) => [row.text]);
}

function pairsOf(rows: readonly Row[]): Wanted {
  const pairs = new CommandPairs();
  return rows.flatMap((row, place) => {
    const isOutput = /^\{"type":"[a-z_]{1,40}_output"/.test(row.text);
    const step = row.label === TIER_LABELS.tool ? stepOf(row.text, isOutput) : undefined;
    const places = step && pairs.add(step, place);
    return places ? [places.map((each) => rows[each]?.text ?? '')] : [];
  });
}

/** @returns how many there are, and how many survive; a text that was said twice must be there twice */
function survivors(wanted: Wanted, evidence: string): readonly [all: number, kept: number] {
  const left = new Map<string, number>();
  const take = (text: string): boolean => {
    const count =
      left.get(text) ??
      Math.min(occurrences(evidence, text.slice(0, EDGE_UNITS)), occurrences(evidence, text.slice(-EDGE_UNITS)));
    left.set(text, count - 1);
    return count > 0;
  };
  return [wanted.length, wanted.filter((texts) => texts.every(take)).length];
}

function occurrences(text: string, part: string): number {
  return part === '' ? 0 : text.split(part).length - 1;
}
