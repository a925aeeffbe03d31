/** One measured process of `bench/evidence.ts`: does one thing with one file and prints its time and peak memory. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readRollout } from '../core/rollout/read-rollout.ts';
import { LIMITS } from '../core/settings.ts';
import { timeOf } from './measurement.ts';

const [mode = '', path = ''] = process.argv.slice(2);

const ms = await timeOf(async () => {
  if (mode === 'evidence') {
    const reading = await readRollout(createReadStream(path, { highWaterMark: 1 << 18 }), {
      evidenceTokens: LIMITS.evidenceFallbackTokens,
    });
    if (reading.kind !== 'read' || reading.evidence === '') throw new Error('no evidence was found');
  } else if (mode === 'parse-all') {
    let records = 0;
    for (const line of (await readFile(path, 'utf8')).split('\n')) {
      if (line === '') continue;
      JSON.parse(line);
      records++;
    }
    if (records === 0) throw new Error('no records were found');
  } else if (mode !== 'empty') throw new Error(`unknown mode ${mode}`);
});
console.log(JSON.stringify({ ms, peakMb: process.resourceUsage().maxRSS / 1000 }));
