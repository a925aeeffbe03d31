import { describe, expect, it } from 'vitest';
import { editFile } from '../../../core/control/edit-file.ts';
import { forgetThread } from '../../../core/control/forget-thread.ts';
import { restoreVersion } from '../../../core/control/restore-version.ts';
import { saveEdits } from '../../../core/control/save-edits.ts';
import { ConflictError, UnavailableError } from '../../../core/errors.ts';
import { addNote } from '../../../core/memory/add-note.ts';
import { openVersion } from '../../../core/memory/memory-files.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { ConsolidationBench, USER } from './consolidation-bench.ts';
import { hookAll, type PortHook } from './fault-ports.ts';
import { SUMMARY_TEXT } from './memory-text.ts';

const PORTS = ['threads', 'jobs', 'outputs', 'heads', 'memories', 'replays', 'templates', 'rollouts'] as const;
const NOTE = '2026-01-02T03-04-05-deploy.md';

type Bench = ConsolidationBench & { readonly rollouts: { remove(): Promise<boolean> } };

interface SmallVersion {
  readonly name: string;
  readonly act: (ports: Bench) => Promise<unknown>;
  /** What must hold once it was done, however often it was tried. */
  readonly done: (bench: Bench) => Promise<void>;
  /** Whether a consolidation must be due afterwards. */
  readonly due: boolean;
}

const textOf = async (bench: Bench, path: string): Promise<string | undefined> => (await bench.files())[path];

const SMALL: readonly SmallVersion[] = [
  {
    name: 'a note',
    act: (ports) => addNote(ports, USER, { filename: NOTE, note: 'Deploy on Mondays' }),
    done: async (bench) => {
      expect(await textOf(bench, `extensions/ad_hoc/notes/${NOTE}`)).toBe('Deploy on Mondays');
      expect((await bench.heads.read(USER)).pendingNotes).toHaveLength(1);
    },
    due: true,
  },
  {
    name: 'an edit of one file',
    act: async (ports) => {
      const { version } = await ports.heads.read(USER);
      return editFile(ports, USER, { path: 'MEMORY.md', content: encodeUtf8('by hand\n'), version, actor: 'user' });
    },
    done: async (bench) => expect(await textOf(bench, 'MEMORY.md')).toBe('by hand\n'),
    due: true,
  },
  {
    name: 'edits of a working copy',
    act: (ports) => {
      const edits = new Map([
        ['MEMORY.md', encodeUtf8('by hand\n')],
        ['skills/x/SKILL.md', encodeUtf8('steps\n')],
      ]);
      const now = ports.clock.now();
      return saveEdits(ports, { userKey: USER, baseVersion: 2, edits, actor: 'working-copy', now });
    },
    done: async (bench) => {
      expect(await textOf(bench, 'MEMORY.md')).toBe('by hand\n');
      expect(await textOf(bench, 'skills/x/SKILL.md')).toBe('steps\n');
    },
    due: true,
  },
  {
    name: 'a forgotten thread',
    act: (ports) => forgetThread(ports, USER, 't2'),
    done: async (bench) => {
      expect(JSON.stringify(await bench.files())).not.toMatch(/\bt2\b/);
      expect(await bench.outputs.head(USER, 't2')).toBeUndefined();
      expect((await bench.threads.get(USER, 't2'))?.forgottenAt).not.toBeNull();
    },
    due: true,
  },
  {
    name: 'a restored version',
    act: (ports) => restoreVersion(ports, USER, { version: 1, actor: 'user' }),
    done: async (bench) => {
      expect(await textOf(bench, 'MEMORY.md')).toBe(bench.goodMemory(['t1']));
      expect(await bench.manifest()).toMatchObject({ reason: 'restore' });
    },
    due: false,
  },
];

/** Versions 1 (of `t1`) and 2 (of `t1` and `t2`); nothing is due. */
async function benchWithTwo(): Promise<Bench> {
  const bench = new ConsolidationBench();
  await bench.addOutput('t1');
  await bench.goodRun('t1');
  await bench.addOutput('t2');
  await bench.run([
    writing('MEMORY.md', bench.goodMemory(['t1', 't2'])),
    writing('memory_summary.md', `${SUMMARY_TEXT}\n`),
    finishing(),
  ]);
  return Object.assign(bench, { rollouts: { remove: async () => true } });
}

const hooked = (bench: Bench, hook: PortHook): Bench => hookAll<Bench>(bench, PORTS, hook);

async function listCalls(small: SmallVersion): Promise<readonly string[]> {
  const bench = await benchWithTwo();
  const calls: string[] = [];
  await small.act(hooked(bench, (when, call) => void (when === 'before' && calls.push(call))));
  await small.done(bench);
  return calls;
}

/** The current version is whole: every file that it names can be read, and the head shows its summary. */
async function expectReadable(bench: Bench): Promise<void> {
  const opened = await openVersion(bench, USER);
  for (const path of opened.paths) await opened.read(path);
  expect(opened.head.summary).toBe(decodeUtf8(await opened.read('memory_summary.md')));
}

const tellsOfSuccess = (error: unknown): boolean => error instanceof ConflictError;

describe.each(SMALL)('$name', (small) => {
  it.each(['before', 'after'] as const)(
    'that dies %s any one call leaves a whole memory; done again, it is done once',
    async (when) => {
      const calls = await listCalls(small);
      expect(calls.length).toBeGreaterThan(4);
      for (let at = 0; at < calls.length; at++) {
        const bench = await benchWithTwo();
        let count = 0;
        let dead = false;
        const die: PortHook = (moment) => {
          if (dead || (moment === when && count++ === at)) {
            dead = true;
            throw new Error('killed');
          }
        };
        await expect(small.act(hooked(bench, die)), `${when} ${calls[at]}`).rejects.toThrow('killed');
        await expectReadable(bench);

        // Where the first try was done but for its answer, the second one may be told so.
        await small.act(bench).catch((error: unknown) => {
          if (!tellsOfSuccess(error)) throw error;
        });
        await expectReadable(bench);
        await small.done(bench);
        const job = await bench.jobs.get(USER, { kind: 'consolidation' });
        if (small.due) expect(job?.inputWatermark, `${when} ${calls[at]}`).toBeGreaterThan(job?.successWatermark ?? 0);
        const manifests = await bench.memories.manifestNumbers(USER);
        const head = await bench.heads.read(USER);
        expect(manifests).toContain(head.version);
      }
    },
  );

  it.each(['before', 'after'] as const)(
    'that meets a store which fails %s any one call can be done again',
    async (when) => {
      const calls = await listCalls(small);
      for (let at = 0; at < calls.length; at++) {
        const bench = await benchWithTwo();
        let count = 0;
        const fail: PortHook = (moment) => {
          if (moment === when && count++ === at) throw new UnavailableError('store.down', 'the store is down');
        };
        await small.act(hooked(bench, fail)).catch((error: unknown) => {
          if (!(error instanceof UnavailableError) && !tellsOfSuccess(error)) throw error;
        });
        await expectReadable(bench);
        await small.act(bench).catch((error: unknown) => {
          if (!tellsOfSuccess(error)) throw error;
        });
        await expectReadable(bench);
        await small.done(bench);
      }
    },
  );
});
