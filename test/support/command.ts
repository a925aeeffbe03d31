import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { main } from '../../cli/main.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
export const SAMPLES = resolve(ROOT, 'examples/rollouts');

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in this process: quicker, for what needs no process of its own. */
export async function stillroomHere(words: readonly string[], input = ''): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  const exitCode = await main(words, {
    interactive: false,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    readInput: async () => input,
  });
  return { exitCode, stdout: out.join(''), stderr: err.join('') };
}

/** Runs the command line in a process of its own, without a key, as a user would. */
export function stillroom(
  words: readonly string[],
  options: { readonly input?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const env = { ...process.env, OPENAI_API_KEY: '', OPENAI_BASE_URL: '', ...options.env };
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [resolve(ROOT, 'cli/bin.js'), ...words], { cwd: ROOT, env });
    const out: string[] = [];
    const err: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
    child.on('error', fail);
    child.on('close', (exitCode) => done({ exitCode, stdout: out.join(''), stderr: err.join('') }));
    child.stdin.end(options.input ?? '');
  });
}
