/** One measured process of `bench/evidence.ts`: does one thing with one file and prints its time and peak memory. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readRollout } from '../core/rollout/read-rollout.ts';
import { LIMITS } from '../core/settings.ts';
import { cpuTimeOf, timeOf } from './measurement.ts';

const CHUNK_BYTES = 262_144;
const LF = 0x0a;

const [mode = '', path = ''] = process.argv.slice(2);
const works: Readonly<Record<string, () => Promise<void>>> = {
  empty: async () => undefined,
  evidence: () => read(LIMITS.evidenceFallbackTokens),
  facts: () => read(null),
  'parse-all': async () => {
    for (const line of (await readFile(path, 'utf8')).split('\n')) parse(line);
  },
  'parse-stream': parseStream,
};
const work = works[mode];
if (!work) throw new Error(`unknown mode ${mode}`);
let parsed = 0;
let cpuMs = 0;
const ms = await timeOf(async () => {
  cpuMs = await cpuTimeOf(work);
});
if (mode.startsWith('parse') && parsed === 0) throw new Error('no records were found');
console.log(JSON.stringify({ ms, cpuMs, peakMb: process.resourceUsage().maxRSS / 1000 }));

async function read(evidenceTokens: number | null): Promise<void> {
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const reading = await readRollout(stream, { evidenceTokens });
  if (reading.kind !== 'read') throw new Error(`the rollout was not read: ${reading.detail}`);
  if (evidenceTokens !== null && reading.evidence === '') throw new Error('no evidence was found');
}

/** As `parse-all`, but in chunks: the least that anyone can do who looks at every line. */
async function parseStream(): Promise<void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    if (!Buffer.isBuffer(chunk)) continue;
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      const line = chunk.subarray(from, end);
      parse((rest.length === 0 ? line : Buffer.concat([rest, line])).toString('utf8'));
      rest = Buffer.alloc(0);
      from = end + 1;
    }
    if (from < chunk.length) rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  parse(rest.toString('utf8'));
}

/** A real rollout may hold broken lines. */
function parse(line: string): void {
  if (line === '') return;
  try {
    JSON.parse(line);
    parsed++;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}
