import type { Head, PendingNote, ProjectPlace } from '../consolidation/manifest.ts';
import { listPendingNotes, previewNote } from '../consolidation/pending-notes.ts';
import { renderTemplate } from '../extraction/render-template.ts';
import type { TemplateStore } from '../ports/template-store.ts';
import { defuseMarkers } from '../rollout/injected-text.ts';
import { LIMITS } from '../settings.ts';
import { compareBytes, decodeUtf8, isBlank, utf8Length } from '../text.ts';
import { toFileTime } from '../time.ts';
import { outlineMemory } from './memory-outline.ts';
import { openPinned, type PinPorts } from './pinned-version.ts';
import { findRequestedProject, listPlaces } from './project-places.ts';
import { parseSummary } from './summary-document.ts';
import { type SummaryScope, viewSummary } from './summary-view.ts';

const SUMMARY_PATH = 'memory_summary.md';
const MEMORY_PATH = 'MEMORY.md';
/** Share of the instructions that waiting notes may take. */
const NOTES_BYTES = 4_000;

export interface ReadSummaryDeps extends PinPorts {
  readonly templates: Pick<TemplateStore, 'get'>;
  /** Where the agent is told that the files lie. */
  readonly basePath: string;
}

export interface ReadSummaryRequest {
  readonly cwd?: string | null | undefined;
  readonly repository?: string | null | undefined;
  /** Default: auto. */
  readonly scope?: 'auto' | 'global' | 'all' | null | undefined;
  /** Default: the current version. */
  readonly version?: number | null | undefined;
  /** 1 to 2,500, which is the default; clamped. */
  readonly maxTokens?: number | null | undefined;
  /** The setting `use_memories`; default true. */
  readonly useMemories?: boolean | undefined;
}

/** As the wire shows it. */
export interface SummaryAnswer {
  readonly enabled: boolean;
  /** 0 = no memory yet. */
  readonly version: number;
  readonly published_at: string | null;
  readonly scope: { readonly project: string | null; readonly matched: boolean };
  readonly summary: string;
  readonly truncated: boolean;
  readonly omitted_tokens: number;
  /** The read-path prompt with the summary inside; null when there is nothing to tell or memories are not to be used. */
  readonly instructions: string | null;
  readonly base_path: string;
  readonly pending_notes: readonly PendingNote[];
  /** The summary is missing; what is shown is built from the headings of MEMORY.md. */
  readonly degraded: boolean;
}

/**
 * Answers `GET /v1/memory` (api.md; behaviours 1.L with DV-7). The current version costs one read of the head and nothing
 * else, unless its summary is missing. Equal version and request give equal bytes: no clock, no order by chance.
 * @throws NotFoundError as `openPinned`
 */
export async function readSummary(
  deps: ReadSummaryDeps,
  userKey: string,
  request: ReadSummaryRequest = {},
): Promise<SummaryAnswer> {
  const enabled = request.useMemories ?? true;
  const source = await loadSource(deps, userKey, request.version ?? undefined);
  const { document } = parseSummary(source.text.trim());
  const project = findRequestedProject(request, source.places);
  const scope = chooseScope(request.scope ?? 'auto', project);
  const maxTokens = Math.min(LIMITS.summaryTokens, Math.max(1, Math.trunc(request.maxTokens ?? LIMITS.summaryTokens)));
  const view = viewSummary(document, scope, { maxTokens, file: source.degraded ? MEMORY_PATH : SUMMARY_PATH });
  const pendingNotes = source.pendingNotes.toSorted((left, right) => compareBytes(left.path, right.path));
  const isEmpty = source.version === 0 || (isBlank(source.text) && pendingNotes.length === 0);
  return {
    enabled,
    version: source.version,
    published_at: source.publishedAt === null ? null : toFileTime(source.publishedAt),
    scope: { project, matched: project !== null && document.projects.includes(project) },
    summary: view.text,
    truncated: view.truncated,
    omitted_tokens: view.omittedTokens,
    instructions: enabled && !isEmpty ? await renderInstructions(deps, view.text, { ...source, pendingNotes }) : null,
    base_path: deps.basePath,
    pending_notes: pendingNotes.map(({ path, text }) => ({ path, text })),
    degraded: source.degraded,
  };
}

/** `auto`: what the request names, else everything. An unknown project gets the global parts only (user case A9). */
function chooseScope(scope: 'auto' | 'global' | 'all', project: string | null): SummaryScope {
  if (scope === 'all') return 'all';
  if (scope === 'global') return { project: null };
  return project === null ? 'all' : { project };
}

interface SummarySource {
  readonly version: number;
  readonly publishedAt: number | null;
  readonly text: string;
  readonly pendingNotes: readonly PendingNote[];
  readonly notesLeftOut: number;
  readonly places: readonly ProjectPlace[];
  readonly degraded: boolean;
}

type Shown = Pick<SummarySource, 'version' | 'publishedAt' | 'pendingNotes' | 'notesLeftOut' | 'places'>;

async function loadSource(deps: ReadSummaryDeps, userKey: string, version?: number): Promise<SummarySource> {
  const head = await deps.heads.read(userKey);
  const isCurrent = version === undefined || version === head.version;
  if (isCurrent && (head.version === 0 || !isBlank(head.summary))) {
    return { ...shownOf(head), text: head.summary, degraded: false };
  }
  return loadFromFiles(deps, userKey, head, version ?? head.version);
}

/** A pinned older version, or one without a summary: read from its files. */
async function loadFromFiles(
  deps: ReadSummaryDeps,
  userKey: string,
  head: Head,
  version: number,
): Promise<SummarySource> {
  const files = await openPinned({ ...deps, heads: { read: async () => head } }, userKey, version);
  const readText = async (path: string): Promise<string> =>
    files.paths.includes(path) ? decodeUtf8(await files.read(path)) : '';
  const summary = await readText(SUMMARY_PATH);
  const text = isBlank(summary) ? outlineMemory(await readText(MEMORY_PATH)) : summary;
  const shown = version === head.version ? shownOf(head) : await readShown();
  return { ...shown, text, degraded: isBlank(summary) && text !== '' };

  async function readShown(): Promise<Shown> {
    const paths = listPendingNotes(files.paths, files.manifest?.notesConsumed ?? []);
    const pendingNotes: PendingNote[] = [];
    for (const path of paths) pendingNotes.push(previewNote(path, await files.read(path)));
    const places = listPlaces(await readText(MEMORY_PATH));
    return { version, publishedAt: files.manifest?.createdAt ?? null, pendingNotes, notesLeftOut: 0, places };
  }
}

function shownOf(head: Head): Shown {
  const { version, publishedAt, pendingNotes, places } = head;
  return { version, publishedAt, pendingNotes, notesLeftOut: head.notesLeftOut ?? 0, places };
}

async function renderInstructions(
  deps: ReadSummaryDeps,
  summary: string,
  notes: Pick<SummarySource, 'pendingNotes' | 'notesLeftOut'>,
): Promise<string> {
  const template = await deps.templates.get('read_path');
  return renderTemplate(template, {
    base_path: deps.basePath,
    summary: defuseMarkers(summary === '' ? '(none yet)' : summary),
    pending_notes: defuseMarkers(showNotes(notes)),
  });
}

/** The newest notes that fit, oldest of them first. Names of notes start with their time. */
function showNotes({
  pendingNotes: notes,
  notesLeftOut,
}: Pick<SummarySource, 'pendingNotes' | 'notesLeftOut'>): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const note of notes.toReversed()) {
    const text = `${note.path}:\n${note.text.trim()}`;
    bytes += utf8Length(text);
    if (bytes > NOTES_BYTES) break;
    shown.unshift(text);
  }
  const left = notesLeftOut + notes.length - shown.length;
  if (left > 0) shown.unshift(`[${left} older notes left out; they are in extensions/ad_hoc/notes/]`);
  return shown.length === 0 ? '(none)' : shown.join('\n\n');
}
