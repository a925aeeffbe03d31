import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHome } from '../../local/home.ts';
import { serve } from '../../local/serve.ts';
import { preparePython } from './python.ts';

/**
 * `npm run test:fuzz [-- --max-time 600]`: schemathesis reads the published document from a local server over the sample
 * rollouts and asks it thousands of things, well-formed and not. No answer may be a 500, or one that the document does not
 * tell of. Where there is no Python or no way to its registry, it says so in one line and ends well: the same kinds of input
 * go to the apps in `npm test`.
 */
const DEFAULT_SECONDS = '60';
const SAMPLES = 'examples/rollouts';
/** Not every rule is in a schema, so that a valid request may be refused; and a local server without a token is open. */
const NOT_JUDGED = ['positive_data_acceptance', 'ignored_auth'];

const folder = mkdtempSync(join(tmpdir(), 'stillroom-fuzz-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main();

async function main(): Promise<number> {
  const setup = preparePython(folder, 'fuzz-requirements.txt');
  if (setup.kind === 'missing') {
    console.log(`schemathesis is left out: ${setup.reason}`);
    return 0;
  }
  const place = join(folder, 'home');
  const filled = spawnSync(process.execPath, [
    'cli/bin.js',
    'run',
    SAMPLES,
    '--model',
    'offline',
    '--home',
    place,
    '--json',
  ]);
  if (filled.status !== 0) throw new Error(`the samples could not be taken in: ${filled.stderr}`);
  const home = openHome(place, { create: false });
  const server = await serve(home, { port: 0, token: null });
  try {
    return await fuzz(join(setup.bin, 'schemathesis'), server.url);
  } finally {
    await server.close();
    home.close();
  }
}

async function fuzz(tool: string, url: string): Promise<number> {
  const given = process.argv.slice(2);
  const limit = given.includes('--max-time') ? [] : ['--max-time', DEFAULT_SECONDS];
  const config = ['--config-file', join(import.meta.dirname, 'schemathesis.toml')];
  const checks = ['--checks', 'all', '--exclude-checks', NOT_JUDGED.join(',')];
  const options = [...checks, '--warnings', 'off', '--no-color', '--output-truncate', 'false'];
  const run = spawn(tool, [...config, 'run', `${url}/openapi.json`, ...options, ...limit, ...given], {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: folder, // it leaves files of its own where it runs
  });
  process.once('exit', () => run.kill());
  const [code] = await once(run, 'exit');
  return typeof code === 'number' ? code : 1;
}
