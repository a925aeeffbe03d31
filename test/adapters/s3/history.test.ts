import { expect, it } from 'vitest';
import { S3MemoryStore } from '../../../adapters/s3/memory-store.ts';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { removeOrphanVersions } from '../../../core/consolidation/orphan-versions.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import { LIMITS } from '../../../core/settings.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { DAY_MS } from '../../../core/time.ts';
import { MemoryHeadStore } from '../../doubles/memory-head-store.ts';
import { RecordingTelemetry } from '../../doubles/recording-telemetry.ts';
import { FakeS3 } from '../../support/fake-s3.ts';

const USER = 'user1';
const BUCKET = 'memories';
/** Nine consolidations within a history, so that the bound shows early. */
const EVERY_MS = 10 * DAY_MS;

it('C25 1,000 consolidations leave as many manifests and object versions as a history of 90 days has', async () => {
  let now = 1_800_000_000_000;
  const s3 = await FakeS3.start({ now: () => now });
  const memories = new S3MemoryStore(s3.client, BUCKET, new RecordingTelemetry(), { now: () => now });
  const heads = new MemoryHeadStore();
  const stores = { memories, heads };
  const bound = Math.floor((LIMITS.historyDays * DAY_MS) / EVERY_MS) + 2;
  let most = { manifests: 0, versions: 0 };
  for (let run = 1; run <= 1_000; run++) {
    const fence = `run-${run}`;
    const head = await heads.setFence(USER, fence);
    await removeOrphanVersions(stores, USER, { now, holdsLock: async () => true });
    const files = { 'MEMORY.md': `memory ${run}`, 'memory_summary.md': 'v1\nsame', [`skills/s${run}.md`]: 'skill' };
    const published = await publishVersion(stores, {
      userKey: USER,
      base: {
        manifest: head.version === 0 ? undefined : await memories.manifest(USER, head.version),
        epoch: head.epoch,
      },
      fence,
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
    });
    expect(published.kind).toBe('published');
    const stored = s3
      .bucket(BUCKET)
      .allVersions(`users/${USER}/memories/`)
      .filter(({ deleteMarker }) => !deleteMarker).length;
    most = {
      manifests: Math.max(most.manifests, (await memories.manifestNumbers(USER)).length),
      versions: Math.max(most.versions, stored),
    };
    now += EVERY_MS;
  }
  expect(most.manifests).toBe(bound);
  // Of each version its own memory and skill, and the one summary that all share.
  expect(most.versions).toBe(2 * bound + 1);
});
