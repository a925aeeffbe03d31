import { vi } from 'vitest';

/** What this process writes from now on, until mocks are restored; nothing of it is shown. */
export interface CapturedOutput {
  text(): string;
  /** The lines that are JSON objects, in order. */
  lines(): readonly Readonly<Record<string, unknown>>[];
}

export function captureOutput(): CapturedOutput {
  const written: string[] = [];
  const keep = (chunk: string | Uint8Array): boolean => {
    written.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  const text = () => written.join('');
  return { text, lines: () => text().split('\n').flatMap(parseObject) };
}

function parseObject(line: string): readonly Readonly<Record<string, unknown>>[] {
  if (!line.startsWith('{')) return [];
  const value: unknown = JSON.parse(line);
  return typeof value === 'object' && value !== null ? [Object.fromEntries(Object.entries(value))] : [];
}
