/**
 * The process of `bench/publish.ts`: publishes a memory of so many rollout summaries, changes some, and compares versions. A
 * process of its own, so that its peak memory is that of one size. Arguments: summaries, ms that the store takes for each call.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { FilesMemoryStore } from '../adapters/files/memory-store.ts';
import { openDatabase } from '../adapters/sqlite/database.ts';
import { SqliteHeadStore } from '../adapters/sqlite/head-store.ts';
import { SqliteJobStore } from '../adapters/sqlite/job-store.ts';
import { SqliteThreadStore } from '../adapters/sqlite/thread-store.ts';
import { SystemClock } from '../adapters/system/system-clock.ts';
import { NO_USAGE } from '../core/agent/token-usage.ts';
import type { FileEntry, Manifest } from '../core/consolidation/manifest.ts';
import { publishVersion } from '../core/consolidation/publish.ts';
import { diffVersions } from '../core/control/diff-versions.ts';
import { restoreVersion } from '../core/control/restore-version.ts';
import { encodeUtf8 } from '../core/text.ts';
import { timeOf } from './measurement.ts';

const USER = 'local';
const [summaries = 0, latencyMs = 0] = process.argv.slice(2).map(Number);
const SUMMARY_LINES = 60;

class CountedStore extends FilesMemoryStore {
  writes = 0;
  manifests = 0;
  reads = 0;

  override async putFile(userKey: string, path: string, content: Uint8Array): Promise<FileEntry> {
    this.writes += 1;
    if (latencyMs > 0) await wait(latencyMs);
    return super.putFile(userKey, path, content);
  }

  override async readFile(userKey: string, path: string, entry: FileEntry): Promise<Uint8Array> {
    this.reads += 1;
    if (latencyMs > 0) await wait(latencyMs);
    return super.readFile(userKey, path, entry);
  }

  override async putManifest(userKey: string, manifest: Manifest): Promise<'stored' | 'taken'> {
    this.manifests += 1;
    if (latencyMs > 0) await wait(latencyMs);
    return super.putManifest(userKey, manifest);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'stillroom-bench-'));
const database = openDatabase(join(folder, 'stillroom.db'));
const memories = new CountedStore(folder);
const ports = {
  memories,
  heads: new SqliteHeadStore(database),
  jobs: new SqliteJobStore(database),
  threads: new SqliteThreadStore(database),
  clock: new SystemClock(),
};

try {
  const first = memoryOf('first', () => 0);
  const emptyMb = process.resourceUsage().maxRSS / 1_000;
  const build = await counted(() => publish(first));
  const two = ['MEMORY.md', 'memory_summary.md'].map((path) => [path, encodeUtf8(text('changed', 400))] as const);
  const small = await counted(() => publish(new Map([...first, ...two])));
  const tenth = await counted(() => publish(memoryOf('first', (at) => (at % 10 === 0 ? 1 : 0))));
  const diff = await counted(async () => {
    const { truncated, filesChanged } = await diffVersions(ports, USER, {});
    if (truncated || filesChanged < summaries / 10) throw new Error('the diff is not whole');
  });
  const rewritten = await counted(() => publish(memoryOf('other', () => 2)));
  const diffAll = await counted(() => diffVersions(ports, USER, {}));
  const restore = await counted(() => restoreVersion(ports, USER, { version: 1, actor: 'bench' }));
  const peakMb = process.resourceUsage().maxRSS / 1_000;
  console.log(JSON.stringify({ build, small, tenth, diff, rewritten, diffAll, restore, emptyMb, peakMb }));
} finally {
  database.close();
  rmSync(folder, { recursive: true, force: true });
}

async function counted(work: () => Promise<unknown>) {
  Object.assign(memories, { writes: 0, manifests: 0, reads: 0 });
  const ms = await timeOf(work);
  return { ms, writes: memories.writes, manifests: memories.manifests, reads: memories.reads };
}

function memoryOf(seed: string, revisionOf: (at: number) => number): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const raw: string[] = [];
  for (let at = 0; at < summaries; at++) {
    const name = String(at).padStart(6, '0');
    const head = `revision ${revisionOf(at)} of ${name}\n`;
    files.set(`rollout_summaries/${name}.md`, encodeUtf8(head + text(`${seed} ${name}`, SUMMARY_LINES)));
    raw.push(head, text(`${seed} ${name}`, 3));
  }
  files.set('MEMORY.md', encodeUtf8(text(seed, 3_000)));
  files.set('memory_summary.md', encodeUtf8(text(seed, 400)));
  files.set('raw_memories.md', encodeUtf8(raw.join('')));
  return files;
}

/** Lines of some 80 bytes; the seed stands in every third one. */
function text(seed: string, lines: number): string {
  const all = Array.from({ length: lines }, (_, at) =>
    at % 3 === 0
      ? `- ${seed}: line ${at} of what was learned in this session, and how to use it`
      : `  the reason of line ${at}, which stays the same in every version of this file`,
  );
  return `${all.join('\n')}\n`;
}

async function publish(files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const head = await ports.heads.read(USER);
  const result = await publishVersion(ports, {
    userKey: USER,
    base: { manifest: await memories.manifest(USER, head.version), epoch: head.epoch },
    fence: null,
    reason: 'consolidation',
    actor: 'bench',
    files,
    inputs: [],
    removed: [],
    notesConsumed: [],
    model: null,
    promptVersion: null,
    tokenUsage: NO_USAGE,
    now: ports.clock.now(),
  });
  if (result.kind !== 'published') throw new Error(`publishing ended as ${result.kind}`);
}
