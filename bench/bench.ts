/**
 * Measurements (`npm run bench`): a table, then the same as JSON; `--json` prints the JSON alone, `--only NAME` one part,
 * `--megabytes N` the size of the large rollout. Compare ratios within one run: machines differ and are noisy.
 */
import { parseArgs } from 'node:util';
import { benchConsolidation } from './consolidation.ts';
import { benchEvidence } from './evidence.ts';
import { benchFuzz } from './fuzz.ts';
import { benchKept } from './kept.ts';
import { benchLoad } from './load.ts';
import type { Measurement } from './measurement.ts';
import { benchPublish } from './publish.ts';
import { benchRead } from './read.ts';
import { benchRedaction } from './redaction.ts';
import { benchSelection } from './selection.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    megabytes: { type: 'string', default: '300' },
  },
});

const parts: Readonly<Record<string, () => Promise<readonly Measurement[]>>> = {
  evidence: () => benchEvidence(Number(values.megabytes)),
  kept: benchKept,
  selection: benchSelection,
  consolidation: benchConsolidation,
  publish: benchPublish,
  read: benchRead,
  load: benchLoad,
  fuzz: benchFuzz,
  redaction: benchRedaction,
};

const results: Measurement[] = [];
for (const [name, bench] of Object.entries(parts)) {
  if (values.only === undefined || values.only === name) results.push(...(await bench()));
}
if (!values.json) printTable(results);
console.log(JSON.stringify({ node: process.version, results }, null, 2));

function printTable(rows: readonly Measurement[]): void {
  const cells = rows.map((row) => [
    row.name,
    `${row.value.toFixed(row.unit === 'count' ? 0 : 2)} ${row.unit}`,
    row.remark,
  ]);
  const widths = [0, 1].map((at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  for (const row of cells) console.log(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  console.log('');
}
