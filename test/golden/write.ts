/**
 * Writes the golden summaries anew: `node test/golden/write.ts`. Look at the difference before committing it: every line is a
 * change of what a real rollout gives.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GOLDEN_FOLDER, goldenName, goldenOf, goldenText, rolloutNames } from './golden.ts';

for (const name of readdirSync(GOLDEN_FOLDER)) rmSync(join(GOLDEN_FOLDER, name));
for (const name of rolloutNames()) {
  writeFileSync(join(GOLDEN_FOLDER, goldenName(name)), goldenText(await goldenOf(name)));
}
console.log(`${rolloutNames().length} golden summaries written`);
