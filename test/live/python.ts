import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const INSTALL_MS = 150_000;
/** The packages need it. */
const PYTHON = [3, 10] as const;

export type Setup =
  | { readonly kind: 'ready'; readonly bin: string }
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * A virtual environment with pinned packages, for tools that others write in Python.
 * @param folder where it is made; the caller removes it
 * @param requirements file of this folder, with hashes
 * @returns its `bin`, or why there is none: no Python, no `venv`, no way to its registry
 * @throws Error when a package is not the one that was pinned: that is no reason to go on
 */
export function preparePython(folder: string, requirements: string): Setup {
  const missing = (reason: string): Setup => ({ kind: 'missing', reason });
  const version = spawnSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
  if (version.status !== 0) return missing('there is no python3');
  const [major = 0, minor = 0] = version.stdout.trim().split(' ').map(Number);
  if (major < PYTHON[0] || (major === PYTHON[0] && minor < PYTHON[1]))
    return missing(`python3 is ${major}.${minor}, ${PYTHON.join('.')} is needed`);
  const place = join(folder, 'venv');
  if (spawnSync('python3', ['-m', 'venv', '--without-pip', place]).status !== 0)
    return missing('python3 has no working module venv');
  return install(join(place, 'bin'), requirements);
}

function install(bin: string, requirements: string): Setup {
  const pinned = ['--require-hashes', '--only-binary=:all:', '-r', join(import.meta.dirname, requirements)];
  const quick = ['--no-compile', '--no-input', '--quiet', '--disable-pip-version-check', '--retries=1', '--timeout=30'];
  const given = ['-m', 'pip', '--python', join(bin, 'python'), 'install', ...quick, ...pinned];
  const pip = spawnSync('python3', given, { encoding: 'utf8', timeout: INSTALL_MS });
  if (pip.status === 0) return { kind: 'ready', bin };
  if (/DO NOT MATCH THE HASHES|require-hashes/i.test(pip.stderr)) throw new Error(lastLines(pip.stderr));
  const errors = pip.stderr.split('\n').filter((line) => /^ERROR|No module named pip/.test(line));
  return { kind: 'missing', reason: `pip could not install it: ${errors[0] ?? 'it took too long'}` };
}

export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-20).join('\n');
}
