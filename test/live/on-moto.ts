import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * `npm run test:moto`: runs the live suite on moto, an emulator in Python that others write. moto is installed from
 * `requirements.txt` into a virtual environment of its own, listens on a free port and ends with this process, however that
 * ends. Where there is no Python, no `venv` or no way to its registry, it says so in one line and ends well.
 */
const INSTALL_MS = 150_000;
const START_MS = 60_000;
/** The packages need it. */
const PYTHON = [3, 10] as const;

type Setup =
  | { readonly kind: 'ready'; readonly python: string }
  | { readonly kind: 'missing'; readonly reason: string };

const folder = mkdtempSync(join(tmpdir(), 'stillroom-moto-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main();

async function main(): Promise<number> {
  const setup = prepare();
  if (setup.kind === 'missing') {
    console.log(`moto is left out: ${setup.reason}`);
    return 0;
  }
  const log = join(folder, 'moto.log');
  const moto = spawn(setup.python, [join(import.meta.dirname, 'serve-moto.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  moto.stderr.pipe(createWriteStream(log));
  try {
    const code = await runSuite(await addressOf(moto));
    if (moto.exitCode === null) return code;
    console.error(`moto ended while the suite ran:\n${tail(readFileSync(log, 'utf8'))}`);
    return 1;
  } finally {
    moto.kill();
  }
}

function prepare(): Setup {
  const missing = (reason: string): Setup => ({ kind: 'missing', reason });
  const version = spawnSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
  if (version.status !== 0) return missing('there is no python3');
  const [major = 0, minor = 0] = version.stdout.trim().split(' ').map(Number);
  if (major < PYTHON[0] || (major === PYTHON[0] && minor < PYTHON[1]))
    return missing(`python3 is ${major}.${minor}, ${PYTHON.join('.')} is needed`);
  const place = join(folder, 'venv');
  if (spawnSync('python3', ['-m', 'venv', '--without-pip', place]).status !== 0)
    return missing('python3 has no working module venv');
  return install(join(place, 'bin', 'python'));
}

/** @throws Error when a package is not the one that was pinned: that is no reason to go on */
function install(python: string): Setup {
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const pinned = ['--require-hashes', '--only-binary=:all:', '-r', requirements];
  const quick = ['--no-compile', '--no-input', '--quiet', '--disable-pip-version-check', '--retries=1', '--timeout=30'];
  const given = ['-m', 'pip', '--python', python, 'install', ...quick, ...pinned];
  const pip = spawnSync('python3', given, { encoding: 'utf8', timeout: INSTALL_MS });
  if (pip.status === 0) return { kind: 'ready', python };
  if (/DO NOT MATCH THE HASHES|require-hashes/i.test(pip.stderr)) throw new Error(tail(pip.stderr));
  const errors = pip.stderr.split('\n').filter((line) => /^ERROR|No module named pip/.test(line));
  return { kind: 'missing', reason: `pip could not install it: ${errors[0] ?? 'it took too long'}` };
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

function tail(text: string): string {
  return text.trimEnd().split('\n').slice(-20).join('\n');
}
