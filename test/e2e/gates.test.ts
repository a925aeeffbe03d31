import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { normaliseArtifacts } from '../../core/consolidation/normalise-artifacts.ts';
import { validateArtifacts } from '../../core/consolidation/validate-artifacts.ts';
import type { FileTree } from '../../core/workspace/file-tree.ts';
import { SAMPLES, stillroom } from '../support/command.ts';
import { sharedRolloutsFolder } from '../support/shared-rollouts.ts';

const reportShape = z.looseObject({
  model_calls: z.number(),
  threads: z.array(z.looseObject({ thread_id: z.string(), outcome: z.string(), project: z.string() })),
  consolidation: z.looseObject({ kind: z.string(), turns: z.number().optional() }),
});

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-gates-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(home: string, rollouts: string): Promise<z.infer<typeof reportShape>> {
  const result = await stillroom(['run', rollouts, '--home', home, '--model', 'offline', '--include-active', '--json']);
  expect(result.exitCode).toBe(0);
  return reportShape.parse(JSON.parse(result.stdout));
}

function readTree(memories: string): FileTree {
  const paths = readdirSync(memories, { recursive: true, encoding: 'utf8' }).map((path) => join(memories, path));
  const files = paths.filter((path) => statSync(path).isFile() && !path.endsWith('.version.json'));
  return new Map(files.map((path) => [relative(memories, path), new Uint8Array(readFileSync(path))]));
}

it.each([
  ['the sample sessions', () => SAMPLES],
  ['the shared rollouts', sharedRolloutsFolder],
])(
  'what the stand-in makes of %s passes every gate at once, in its one form, and again without a call',
  async (name, rollouts) => {
    const home = join(folder, name);
    const first = await run(home, rollouts());
    expect(first.consolidation.kind).toBe('published');
    const used = first.threads.filter((thread) => thread.outcome === 'extracted');
    expect(used.length).toBeGreaterThan(5);
    // reads, one write, finish: a repair would have taken more
    expect(first.consolidation.turns).toBeLessThanOrEqual(4);

    const tree = readTree(join(home, 'memories'));
    const inputs = used.map((thread) => ({ threadId: thread.thread_id, project: thread.project }));
    expect(validateArtifacts(tree, inputs)).toEqual([]);
    expect(normaliseArtifacts(tree)).toEqual(tree);

    const second = await run(home, rollouts());
    expect(second).toMatchObject({ model_calls: 0, consolidation: { kind: 'unchanged' } });
  },
);
