import { describe, expect, it } from 'vitest';
import { S3MemoryStore } from '../../../adapters/s3/memory-store.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { type CleanUp, removeOrphanVersions } from '../../../core/consolidation/orphan-versions.ts';
import { type PublishRequest, type PublishResult, publishVersion } from '../../../core/consolidation/publish.ts';
import { loadVersionChain } from '../../../core/consolidation/version-chain.ts';
import { UnavailableError } from '../../../core/errors.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { FakeS3, type S3Fault } from '../../support/fake-s3.ts';
import { conditionalConflict, connectionReset, requestTimeout, slowDown } from '../../support/fake-s3-errors.ts';

const USER = 'user1';
const TOKEN = 'token';
const CLEAN_UP: CleanUp = { now: 1_800_000_000_000, holdsLock: async () => true };
type Files = Readonly<Record<string, string>>;
const OLD: Files = { 'MEMORY.md': 'm1', 'memory_summary.md': 'v1\none', 'raw_memories.md': 'r', 'skills/left.md': 's' };
const NEW: Files = { 'MEMORY.md': 'm2', 'memory_summary.md': 'v1\ntwo', 'raw_memories.md': 'r' };

interface Bench {
  readonly s3: FakeS3;
  readonly stores: { readonly memories: S3MemoryStore; readonly heads: MemoryHeadStore };
  readonly publish: (files: Files) => Promise<PublishResult>;
  readonly later: (ms: number) => void;
}

async function openBench(): Promise<Bench> {
  let now = 1_800_000_000_000;
  const s3 = await FakeS3.start({ now: () => now });
  const options = { now: () => now, pause: async () => {} };
  const stores = {
    memories: new S3MemoryStore(s3.client, 'memories', new RecordingTelemetry(), options),
    heads: new MemoryHeadStore(),
  };
  await stores.heads.setFence(USER, TOKEN);
  const publish = async (files: Files): Promise<PublishResult> => {
    const head = await stores.heads.read(USER);
    const manifest = head.version === 0 ? undefined : await stores.memories.manifest(USER, head.version);
    return publishVersion(stores, requestOf(files, { manifest, epoch: head.epoch }, now));
  };
  await publish(OLD);
  now += HOUR_MS;
  s3.calls.length = 0;
  const later = (ms: number): void => {
    now += ms;
  };
  return { s3, stores, publish, later };
}

function requestOf(files: Files, base: PublishRequest['base'], now: number): PublishRequest {
  return {
    userKey: USER,
    base,
    fence: TOKEN,
    reason: 'consolidation',
    actor: 'consolidation',
    files: new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)])),
    inputs: [],
    removed: [],
    notesConsumed: [],
    model: 'm',
    promptVersion: '1',
    tokenUsage: NO_USAGE,
    now,
  };
}

/** What a reader sees: the head's version, whole, by version ids. */
async function readHead({ stores }: Bench): Promise<Files> {
  const head = await stores.heads.read(USER);
  const manifest = await stores.memories.manifest(USER, head.version);
  const files: Record<string, string> = {};
  for (const [path, entry] of Object.entries(manifest?.files ?? {}))
    files[path] = decodeUtf8(await stores.memories.readFile(USER, path, entry));
  expect(head.summary).toBe(files['memory_summary.md']);
  return files;
}

/** Every path of the head is what a plain look at the bucket shows, so no rule counts its days; what left is hidden. */
async function expectTidy({ s3, stores }: Bench): Promise<void> {
  const head = await stores.heads.read(USER);
  const manifest = await stores.memories.manifest(USER, head.version);
  const prefix = `users/${USER}/memories/`;
  for (const [path, entry] of Object.entries(manifest?.files ?? {}))
    expect(s3.bucket('memories').newest(prefix + path)?.versionId, path).toBe(entry.versionId);
}

const FAULTS: Readonly<Record<string, S3Fault>> = {
  'is throttled': { kind: 'fail', error: slowDown() },
  'meets a reset connection': { kind: 'fail', error: connectionReset() },
  'conflicts with another': { kind: 'fail', error: conditionalConflict() },
  'is applied, but its reply is lost': { kind: 'lose-reply', error: connectionReset() },
  'is applied, but times out': { kind: 'lose-reply', error: requestTimeout() },
  hangs: { kind: 'hang' },
};

/** The one call at a place meets the fault, as if the client had given up on it after its second try. */
function failCall(s3: FakeS3, at: number, fault: S3Fault): void {
  let count = 0;
  s3.faultFor = () => {
    if (count++ !== at) return undefined;
    if (fault.kind === 'hang') setImmediate(() => s3.endHanging());
    return fault;
  };
}

async function listCommands(): Promise<readonly string[]> {
  const bench = await openBench();
  expect(await bench.publish(NEW)).toMatchObject({ kind: 'published', version: 2 });
  const commands = bench.s3.calls.map((call) => call.command);
  bench.s3.close();
  return commands;
}

describe('a publish over S3 of which one call goes wrong', () => {
  it('makes one PUT for each changed file, one manifest, and hides what left', async () => {
    expect(await listCommands()).toEqual([
      'GetObject',
      'PutObject',
      'PutObject',
      'ListObjectsV2',
      'PutObject',
      'DeleteObjects',
    ]);
  });

  it.each(Object.keys(FAULTS))(
    'leaves readers on a whole version, and is done once in the end: a call %s',
    async (name) => {
      const fault = FAULTS[name];
      if (fault === undefined) throw new Error('no such fault');
      const commands = await listCommands();
      for (const [at, command] of commands.entries()) {
        const about = `${command} (${at}) ${name}`;
        const bench = await openBench();
        failCall(bench.s3, at, fault);
        const end = await bench.publish(NEW).catch((error: unknown) => error);
        bench.s3.faultFor = () => undefined;
        const isPublished = (await bench.stores.heads.read(USER)).version > 1;
        expect(await readHead(bench), about).toEqual(isPublished ? NEW : OLD);
        if (isPublished) expect(end, about).toMatchObject({ kind: 'published' });
        else expect(end, about).toBeInstanceOf(UnavailableError);

        bench.later(HOUR_MS);
        await removeOrphanVersions(bench.stores, USER, CLEAN_UP);
        expect(await bench.publish(NEW), about).toMatchObject({ kind: isPublished ? 'unchanged' : 'published' });
        expect(await readHead(bench), about).toEqual(NEW);
        const head = await bench.stores.heads.read(USER);
        expect(await loadVersionChain(bench.stores.memories, USER, head.version), about).toHaveLength(2);

        bench.later(HOUR_MS);
        await removeOrphanVersions(bench.stores, USER, CLEAN_UP);
        await expectTidy(bench);
        bench.s3.close();
      }
    },
  );

  it('is told by the manifest when its reply was lost: the run goes on and publishes', async () => {
    const bench = await openBench();
    bench.s3.failNext('PutObject', { kind: 'lose-reply', error: connectionReset() }, 2);
    expect(await bench.publish(NEW)).toMatchObject({ kind: 'published', version: 2 });
    expect(await bench.stores.memories.manifestNumbers(USER)).toEqual([1, 2]);
    bench.s3.close();
  });
});

describe('a publisher that loses', () => {
  it('leaves no version of its own behind, and every older one where it was', async () => {
    const bench = await openBench();
    const versions = () => bench.s3.bucket('memories').allVersions(`users/${USER}/`);
    const before = versions().map(({ key, versionId }) => `${key} ${versionId}`);
    const { switchTo } = bench.stores.heads;
    bench.stores.heads.switchTo = async (userKey, request) => {
      expect(versions().length).toBeGreaterThan(before.length);
      await bench.stores.heads.setFence(USER, 'somebody else');
      return switchTo.call(bench.stores.heads, userKey, request);
    };
    expect(await bench.publish(NEW)).toEqual({ kind: 'lost', reason: 'fence' });
    expect(versions().map(({ key, versionId }) => `${key} ${versionId}`)).toEqual(before);
    expect(await readHead(bench)).toEqual(OLD);
  });

  it('ends the same way where nothing can be deleted', async () => {
    const bench = await openBench();
    bench.stores.heads.switchTo = async () => {
      await bench.stores.heads.setFence(USER, 'somebody else');
      return 'lost';
    };
    bench.s3.faultFor = ({ command }) =>
      command.startsWith('DeleteObject') ? { kind: 'fail', error: slowDown() } : undefined;
    expect(await bench.publish(NEW)).toEqual({ kind: 'lost', reason: 'fence' });
    expect(await readHead(bench)).toEqual(OLD);
  });
});
