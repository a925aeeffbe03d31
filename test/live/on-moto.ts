import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { lastLines, preparePython } from './python.ts';

/**
 * `npm run test:moto`: runs the live suite on moto, an emulator in Python that others write. moto is installed from
 * `requirements.txt` into a virtual environment of its own, listens on a free port and ends with this process, however that
 * ends. Where there is no Python, no `venv` or no way to its registry, it says so in one line and ends well.
 */
const START_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'stillroom-moto-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main();

async function main(): Promise<number> {
  const setup = preparePython(folder, 'requirements.txt');
  if (setup.kind === 'missing') {
    console.log(`moto is left out: ${setup.reason}`);
    return 0;
  }
  const log = join(folder, 'moto.log');
  const moto = spawn(join(setup.bin, 'python'), [join(import.meta.dirname, 'serve-moto.py')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  moto.stderr.pipe(createWriteStream(log));
  try {
    const code = await runSuite(await addressOf(moto));
    if (moto.exitCode === null) return code;
    console.error(`moto ended while the suite ran:\n${lastLines(readFileSync(log, 'utf8'))}`);
    return 1;
  } finally {
    moto.kill();
  }
}

/** The address that moto says once it listens. */
async function addressOf(moto: ChildProcess): Promise<string> {
  if (moto.stdout === null) throw new Error('moto has no output');
  const lines = createInterface({ input: moto.stdout });
  const started = once(lines, 'line', { signal: AbortSignal.timeout(START_MS) });
  const ended = once(moto, 'exit').then(([code]) =>
    Promise.reject(new Error(`moto ended with ${code} before it listened`)),
  );
  const [line] = await Promise.race([started, ended]);
  return String(line);
}

async function runSuite(endpoint: string): Promise<number> {
  console.log(`moto listens at ${endpoint}`);
  const arguments_ = ['run', '--config', 'vitest.aws.config.ts', ...process.argv.slice(2)];
  const suite = spawn('vitest', arguments_, { stdio: 'inherit', env: { ...process.env, AWS_ENDPOINT_URL: endpoint } });
  process.once('exit', () => suite.kill());
  const [code] = await once(suite, 'exit');
  return typeof code === 'number' ? code : 1;
}
