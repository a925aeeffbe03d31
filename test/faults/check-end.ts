import { rangeOf } from '../../adapters/dynamodb/requests.ts';
import { manifestsPrefix, memoriesPrefix } from '../../adapters/s3/keys.ts';
import { budgetTokens } from '../../core/agent/day-budget.ts';
import type { Manifest } from '../../core/consolidation/manifest.ts';
import { openVersion } from '../../core/memory/memory-files.ts';
import { decodeUtf8 } from '../../core/text.ts';
import { DAY_MS, toDay } from '../../core/time.ts';
import { MEMORIES, USER } from './function-deps.ts';
import { NOTES, THREADS } from './told.ts';
import { START, type World } from './world.ts';

/** Looks at what must have come about by itself when a path has come to rest, and adds what broke to the world's faults. */
export function checkRest(world: World): Promise<void> {
  return runChecks(world, [checkOutputs, checkMemory, checkJobs, checkLedger]);
}

/** Looks at what must be there, and nothing beside it, after one more consolidation. */
export async function checkEnd(world: World): Promise<void> {
  await runChecks(world, [checkOutputs, checkMemory, checkPublished, checkJobs, checkObjects, checkItems]);
  world.faults.push(...world.payments.faults());
}

async function runChecks(world: World, checks: readonly Check[]): Promise<void> {
  for (const check of checks)
    for (const fault of await check(world)) if (!world.faults.includes(fault)) world.faults.push(fault);
}

type Check = (world: World) => Promise<readonly string[]>;

/** Nothing lost: every upload ends extracted, with its texts, and the citation is counted once. */
const checkOutputs: Check = async ({ stores }) => {
  const faults: string[] = [];
  for (const threadId of Object.values(THREADS)) {
    const job = await stores.jobs.get(USER, { kind: 'extraction', threadId });
    if (job?.outcome?.kind !== 'extracted') faults.push(`lost: ${threadId} ended ${job?.outcome?.kind ?? 'nowhere'}`);
    const head = await stores.outputs.head(USER, threadId);
    const texts = head === undefined ? undefined : (await stores.outputs.bodies(USER, [head])).get(threadId);
    if (texts === undefined) faults.push(`lost: ${threadId} has no texts`);
    const cited = threadId === THREADS.ended ? 1 : 0;
    if ((head?.usageCount ?? 0) !== cited)
      faults.push(`citation of ${threadId} counted ${head?.usageCount ?? 0} times`);
    if (head !== undefined && head.selectedSnapshot !== head.sourceUpdatedAt)
      faults.push(`${threadId} not marked selected`);
  }
  return faults;
};

/** The memory rests on both threads and has taken in the notes, each there once. */
const checkMemory: Check = async ({ stores }) => {
  const { manifest, paths, read } = await openVersion(stores, USER);
  const inputs = (manifest?.inputs ?? []).map((input) => input.threadId).sort();
  const faults =
    inputs.join() === Object.values(THREADS).sort().join() ? [] : [`memory rests on ${inputs.join() || 'nothing'}`];
  const memory = paths.includes('MEMORY.md') ? decodeUtf8(await read('MEMORY.md')) : '';
  for (const threadId of inputs) if (!memory.includes(threadId)) faults.push(`MEMORY.md lacks ${threadId}`);
  const taken = new Set(manifest?.notesConsumed);
  const notes = paths.filter((path) => path.includes('/notes/'));
  if (notes.length !== NOTES.length) faults.push(`${notes.length} notes of ${NOTES.length}`);
  if (!notes.every((path) => taken.has(path))) faults.push('a note is not taken in');
  return faults;
};

/** No version says what another one said. */
const checkPublished: Check = async ({ stores }) => {
  const seen = new Map<string, number>();
  for (const { version, reason, inputs, notesConsumed, files } of await versionsOf(stores)) {
    const hashes = Object.entries(files).map(([path, entry]) => [path, entry.sha256]);
    const said = JSON.stringify([reason, inputs, notesConsumed, hashes.sort()]);
    const before = seen.get(said);
    if (before !== undefined) return [`published twice: versions ${before} and ${version}`];
    seen.set(said, version);
  }
  return [];
};

const checkJobs: Check = async ({ stores, queue }) => {
  const jobs = [...(await stores.jobs.listExtractions(USER))].map(([threadId, job]) => [threadId, job] as const);
  const consolidation = await stores.jobs.get(USER, { kind: 'consolidation' });
  const all = [...jobs, ['consolidation', consolidation] as const];
  const stuck = all
    .filter(([, job]) => job?.status !== 'done')
    .map(([name, job]) => `stuck: ${name} is ${job?.status}`);
  return queue.deadLetters.length === 0 ? stuck : [...stuck, `dead letters: ${queue.deadLetters.length}`];
};

/** Booked is at least what was paid; and no call stays open once nothing runs, unless its process died in it. */
const checkLedger: Check = async ({ stores, payments, clock }) => {
  let booked = 0;
  for (let at = START; at <= clock.now() + DAY_MS; at += DAY_MS) {
    const day = await stores.ledger.day(USER, toDay(at));
    booked += budgetTokens(day.usage) + day.reservedTokens;
  }
  return booked >= payments.tokens ? [] : [`ledger: ${booked} tokens booked, ${payments.tokens} paid`];
};

/** Every object version is one that a version of the memory names, and nothing hides it. */
const checkObjects: Check = async ({ stores, objects }) => {
  const bucket = objects.bucket(MEMORIES);
  const chain = await versionsOf(stores);
  const named = new Set(chain.flatMap(({ files }) => Object.values(files).map((entry) => entry.versionId)));
  const strays = bucket
    .allVersions(memoriesPrefix(USER))
    .filter((item) => !item.deleteMarker && !named.has(item.versionId));
  const manifests = bucket.allVersions(manifestsPrefix(USER)).length;
  const hidden = Object.keys(chain[0]?.files ?? {}).filter(
    (path) => bucket.current(memoriesPrefix(USER) + path) === undefined,
  );
  return [
    ...strays.map(({ key }) => `left over: a version of ${key.split('/').slice(3).join('/')}`),
    ...(manifests === chain.length ? [] : [`left over: ${manifests - chain.length} manifests`]),
    ...hidden.map((path) => `hidden: ${path}`),
  ];
};

/** Texts that no output names, and turns of a run that is over. */
const checkItems: Check = async ({ stores }) => {
  const sortKeys = async (prefix: string): Promise<readonly string[]> =>
    (await stores.table.query(rangeOf(USER, prefix))).map((item) => String(item['sk']));
  const heads = await stores.outputs.heads(USER);
  const named = new Set(heads.map((head) => `body#${head.threadId}#${head.sourceUpdatedAt}`));
  const bodies = (await sortKeys('body#')).filter((sortKey) => !named.has(sortKey));
  const answers = (await stores.table.query(rangeOf(USER, 'answer#'))).filter(
    (item) => item['expires_at'] === undefined,
  );
  return [
    ...bodies.map(() => 'left over: texts'),
    ...answers.map(() => 'left over: a turn without an end of its life'),
  ];
};

/** The versions that the head rests on, newest first. */
async function versionsOf(stores: World['stores']): Promise<readonly Manifest[]> {
  const versions: Manifest[] = [];
  let number = (await stores.heads.read(USER)).version;
  while (number > 0) {
    const manifest = await stores.memories.manifest(USER, number);
    if (manifest === undefined) break;
    versions.push(manifest);
    number = manifest.parent;
  }
  return versions;
}
