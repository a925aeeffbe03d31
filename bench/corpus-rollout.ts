import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes one rollout of about `bytes` bytes out of the real Codex rollouts of a folder, one after the other, again and again.
 * @returns bytes written
 */
export async function writeCorpusRollout(path: string, folder: string, bytes: number): Promise<number> {
  const names = readdirSync(folder).filter((name) => /^\d+-codex-.*\.jsonl$/.test(name));
  const rollouts = names.sort().map((name) => withLineEnd(readFileSync(join(folder, name))));
  const round = Buffer.concat(rollouts);
  if (round.length === 0) throw new Error(`no Codex rollouts in ${folder}`);
  const file = createWriteStream(path);
  let written = 0;
  for (; written < bytes; written += round.length) if (!file.write(round)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
  return written;
}

function withLineEnd(bytes: Buffer): Buffer {
  return bytes.at(-1) === 0x0a ? bytes : Buffer.concat([bytes, Buffer.from('\n')]);
}
