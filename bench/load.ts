import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { BUNDLE_ALIASES, BUNDLE_BANNER, BUNDLE_MAIN_FIELDS, BUNDLE_TARGET, handlerFile } from '../infra/bundling.ts';
import { type Measurement, median } from './measurement.ts';

const ROOT = resolve(import.meta.dirname, '..');
const ROUNDS = 21;

/** The least that a function with the same AWS clients can be: it makes them and answers. */
const BARE = `
import { createTableClient } from ${JSON.stringify(join(ROOT, 'adapters/dynamodb/client.ts'))};
import { createObjectClient } from ${JSON.stringify(join(ROOT, 'adapters/s3/client.ts'))};
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { GetObjectCommand } from '@aws-sdk/client-s3';
const table = createTableClient();
const objects = createObjectClient();
export const handler = async (event) => {
  await table.send(new GetCommand(event));
  return objects.send(new GetObjectCommand(event));
};
`;

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key-id',
  AWS_SECRET_ACCESS_KEY: 'key',
  STAGE: 'bench',
  TABLE_NAME: 'table',
  MEMORIES_BUCKET: 'memories',
  TEMPLATES_FOLDER: join(ROOT, 'layers/templates'),
  AUTH_MODE: 'jwt',
  API_URL: 'https://memory.example.com',
};

/** Loading the bundle of `read` in a fresh process, next to a bare function with the same AWS clients, turn by turn. */
export async function benchLoad(): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-load-'));
  try {
    const bareSource = join(ROOT, 'node_modules/.cache/stillroom-bare.ts');
    mkdirSync(join(bareSource, '..'), { recursive: true });
    writeFileSync(bareSource, BARE);
    const read = await bundle(handlerFile('read'), join(folder, 'read.mjs'));
    const bare = await bundle(bareSource, join(folder, 'bare.mjs'));
    rmSync(bareSource);
    const times = { read: [] as number[], bare: [] as number[] };
    for (let round = 0; round <= ROUNDS; round++) {
      const [bareMs, readMs] = [loadMs(bare.file), loadMs(read.file)];
      if (round === 0) continue; // the first pair reads the files from disk
      times.bare.push(bareMs);
      times.read.push(readMs);
    }
    const remark = `median of ${ROUNDS} fresh processes`;
    const ratios = times.read.map((ms, round) => ms / (times.bare[round] ?? Number.NaN));
    return [
      { name: 'load: read', value: median(times.read), unit: 'ms', remark: `${remark}, ${read.bytes} bytes` },
      { name: 'load: bare function', value: median(times.bare), unit: 'ms', remark: `${remark}, ${bare.bytes} bytes` },
      {
        name: 'load: time ratio',
        value: median(ratios),
        unit: 'ratio',
        remark: 'median of the pairs: read / bare function with the same AWS clients',
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(entry: string, file: string): Promise<{ readonly file: string; readonly bytes: number }> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: BUNDLE_TARGET,
    mainFields: [...BUNDLE_MAIN_FIELDS],
    alias: { ...BUNDLE_ALIASES },
    banner: { js: BUNDLE_BANNER },
  });
  return { file, bytes: Object.values(metafile.outputs)[0]?.bytes ?? 0 };
}

/** Milliseconds from asking for the module until its handler is there, without Node's own start. */
function loadMs(file: string): number {
  const script =
    "const from = performance.now(); await import(process.argv[1]); console.log('load', performance.now() - from);";
  const words = ['--input-type=module', '-e', script, pathToFileURL(file).href];
  const output = execFileSync(process.execPath, words, { env: ENVIRONMENT, encoding: 'utf8' });
  return Number(/^load (.*)$/m.exec(output)?.[1]);
}
