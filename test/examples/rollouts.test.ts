import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_FAKE_SECRETS } from '../../examples/sessions/fake-secrets.ts';
import { buildSampleRollouts } from '../../examples/write-rollouts.ts';

const ROOT = join(import.meta.dirname, '../../examples/rollouts');
const samples = buildSampleRollouts();

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function recordsOf(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

describe('sample rollouts', () => {
  it('the committed files are what the generator writes, no more and no fewer', () => {
    expect(filesBelow('').sort()).toEqual(samples.map((sample) => sample.path).sort());
    for (const sample of samples) expect(readFileSync(join(ROOT, sample.path), 'utf8'), sample.path).toBe(sample.text);
  });

  it('are written the same twice', () => {
    expect(buildSampleRollouts()).toEqual(samples);
  });

  it.each(samples.map((sample) => [sample.session.key, sample] as const))('%s has 20 to 200 records', (_, sample) => {
    const records = recordsOf(sample.text);
    expect(records.length).toBeGreaterThanOrEqual(20);
    expect(records.length).toBeLessThanOrEqual(200);
  });

  it('cover three repositories, both agents, the bare era and a sub-agent', () => {
    expect(new Set(samples.map((sample) => sample.session.project.repository)).size).toBe(4); // three and none
    expect(new Set(samples.map((sample) => sample.session.format.agent))).toEqual(
      new Set(['codex', 'codex-bare', 'claude']),
    );
    expect(samples.filter((sample) => sample.session.parent).map((sample) => sample.session.key)).toEqual([
      'harbor-idempotency-race-test',
    ]);
  });

  it('times never go back within a file', () => {
    for (const sample of samples) {
      const times = [...sample.text.matchAll(/^\{(?:[^{}]*?,)?"timestamp":"([^"]+)","type"/gm)].map(
        (match) => match[1],
      );
      expect(times, sample.path).toEqual([...times].sort());
    }
  });

  it('plant each made-up secret in exactly one file', () => {
    for (const secret of ALL_FAKE_SECRETS) {
      expect(samples.filter((sample) => sample.text.includes(secret)).length).toBe(1);
    }
  });
});
