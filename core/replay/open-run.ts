import { identify, type TemplateIdentity } from '../consolidation/answer-log.ts';
import { findForgotten } from '../consolidation/keep-run.ts';
import type { Manifest } from '../consolidation/manifest.ts';
import { isExpired } from '../consolidation/replay-shelf.ts';
import { parseRunRecord, type RunRecord } from '../consolidation/run-record.ts';
import { ConflictError, InvalidInputError, NotFoundError } from '../errors.ts';
import { openVersion } from '../memory/memory-files.ts';
import type { Clock } from '../ports/clock.ts';
import type { HeadStore } from '../ports/head-store.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import type { ReplayStore } from '../ports/replay-store.ts';
import type { TemplateName, TemplateStore } from '../ports/template-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';
import { LIMITS } from '../settings.ts';
import { DAY_MS } from '../time.ts';

/** What a replay reads. Nothing here can change anything. */
export interface ReplayPorts {
  readonly heads: Pick<HeadStore, 'read'>;
  readonly memories: Pick<MemoryStore, 'manifest' | 'readFile'>;
  readonly replays: Pick<ReplayStore, 'read'>;
  readonly threads: Pick<ThreadStore, 'getMany'>;
  readonly templates: TemplateStore;
  readonly clock: Clock;
}

/** A version that a consolidation made, and the record of that run. */
export interface KeptRun {
  readonly userKey: string;
  readonly manifest: Manifest;
  readonly record: RunRecord;
}

/**
 * Opens the run that made a version.
 * @throws NotFoundError `memory.version_not_found`, `memory.version_expired`; InvalidInputError `replay.no_run` for a version that
 *   no model made; NotFoundError `replay.expired`, `replay.forgotten`, `replay.not_kept` where its record is gone, by the cause
 * @throws DefectError `replay.unreadable`; UnavailableError of the stores
 */
export async function openRun(ports: ReplayPorts, userKey: string, version: number): Promise<KeptRun> {
  const { head, manifest } = await openVersion(ports, userKey, version);
  if (manifest === null || manifest.reason !== 'consolidation') throw noRun(version, manifest?.reason);
  const { createdAt } = manifest;
  if (isExpired({ createdAt }, ports.clock.now())) throw gone('expired', version, expiredText(version));
  const threads = [...manifest.inputs.map((input) => input.threadId), ...manifest.removed];
  const forgotten = await findForgotten(ports, userKey, threads);
  if (forgotten.length > 0) throw gone('forgotten', version, forgottenText(version, forgotten));
  const ref = { epoch: head.epoch, version, createdAt };
  const text = await ports.replays.read(userKey, ref);
  if (text === undefined) throw gone('not_kept', version, notKeptText(version));
  return { userKey, manifest, record: parseRunRecord(text, ref) };
}

/**
 * A run can only be made again with the texts that it told the model.
 * @param replaced templates that the caller puts another text in the place of
 * @throws ConflictError `replay.template_changed`, with the template and both versions
 */
export async function requireSameTemplates(
  templates: TemplateStore,
  { record }: KeptRun,
  replaced: readonly TemplateName[] = [],
): Promise<void> {
  for (const then of record.templates) {
    if (replaced.includes(then.name)) continue;
    const now = identify(await templates.get(then.name));
    if (now.sha256 !== then.sha256) throw templateChanged(record.version, then, now);
  }
}

function templateChanged(version: number, then: TemplateIdentity, now: TemplateIdentity): ConflictError {
  const versions =
    then.version === now.version ? `both called version ${now.version}` : `version ${then.version}, now ${now.version}`;
  return new ConflictError(
    'replay.template_changed',
    `version ${version} was made with another text of the template ${then.name} (${versions}): replay it with the release that made it`,
    { details: { version, template: then.name, template_version: then.version, template_version_now: now.version } },
  );
}

function noRun(version: number, reason: string | undefined): InvalidInputError {
  const made = reason === undefined ? 'is the empty memory' : `was made by a change of another kind (${reason})`;
  const message = `version ${version} ${made}: only versions that a consolidation made can be replayed`;
  return new InvalidInputError('replay.no_run', message, { details: { field: 'version', version } });
}

function gone(reason: 'expired' | 'forgotten' | 'not_kept', version: number, message: string): NotFoundError {
  return new NotFoundError(`replay.${reason}`, message, { details: { version } });
}

function expiredText(version: number): string {
  return `version ${version} is older than ${LIMITS.replayMs / DAY_MS} days: the answers of its run are not kept longer`;
}

function forgottenText(version: number, threadIds: readonly string[]): string {
  return `version ${version} rested on what was forgotten since, and the answers of its run went with it: thread ${threadIds.join(', ')}`;
}

function notKeptText(version: number): string {
  return `no answers are kept of the run that made version ${version}: they were purged, could not be written then, or the version is older than their keeping`;
}
