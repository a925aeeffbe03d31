import { unmark } from '../../core/memory/stale-mark.ts';
import { utf8Length } from '../../core/text.ts';
import { isMarked } from './forget.ts';
import { keepHandLines, keptHandLines, readHandLines } from './hand-lines.ts';
import { type GroupText, type MemoryText, parseMemoryText, renderMemoryText } from './memory-lines.ts';
import { mergeSummary } from './merge-summary.ts';
import { mergeNotes, NOTES_FOLDER, notesTakenIn } from './notes.ts';
import { type ListedInput, type RunLists, readRunLists } from './run-lists.ts';
import { SeenFiles } from './seen-files.ts';
import { type Lesson, readRecords, type SessionRecord } from './session-record.ts';
import { summariseMemory } from './summarise.ts';
import { citesThread, updateMemory } from './update-memory.ts';
import type { NewCall, Turn } from './wire.ts';

const DIFF = 'phase2_workspace_diff.md';
const MEMORY = 'MEMORY.md';
const SUMMARY = 'memory_summary.md';
/** Below the number of calls that a turn may make. */
const CALLS_PER_TURN = 30;
/** Above it, old results are dropped from the conversation (bytes); what was read is written before that. */
const CONVERSATION_BYTES = 340_000;
/** Pages of MEMORY.md read at once where the content of its last write was dropped. */
const MEMORY_PAGES = 12;
const TYPICAL_SUMMARY_BYTES = 2_500;
const MAX_WRITES = 24;
const EMPTY: MemoryText = { head: [], groups: [] };

/**
 * The next tool calls of the consolidation agent (prompts.md, "consolidation"), derived from the conversation alone: it
 * reads the diff and the files, then the rollout summaries to take in, some dozens a turn, works them into MEMORY.md by
 * rules, makes the summary from it, and finishes. After a repair message it writes both files anew from all inputs
 * and from the lines that a person added by hand.
 */
export function nextCalls(turns: readonly Turn[]): readonly NewCall[] {
  const run = openRun(turns);
  const unread = unreadBasics(run);
  if (unread.length > 0) return unread;
  const reads = nextReads(run);
  if (reads.kind === 'read') return reads.calls;
  const writes = nextWrites(run, reads);
  if (writes.length > 0 && run.seen.writes(MEMORY).length < MAX_WRITES) return writes;
  return [finish(run)];
}

interface Run {
  readonly lists: RunLists;
  /** What was seen since the start, or since the last repair message. */
  readonly seen: SeenFiles;
  /** Everything is written anew: the first build, or after a repair message. */
  readonly anew: boolean;
  /** After a repair message: what a person wrote must come over from the diff. */
  readonly repair: boolean;
  /** Of the whole conversation so far. */
  readonly bytes: number;
}

function openRun(turns: readonly Turn[]): Run {
  const messages = turns.flatMap((turn, at) => (turn.kind === 'message' && turn.role === 'user' ? [at] : []));
  const first = turns[messages[0] ?? -1];
  const lists = readRunLists(first?.kind === 'message' ? first.text : '');
  const finished = turns.findLastIndex((turn) => turn.kind === 'call' && turn.name === 'finish');
  const seen = new SeenFiles(turns.slice(Math.max(0, finished + 1)));
  const firstWrite = seen.writes(MEMORY)[0]?.at;
  const bytes = turns.reduce((sum, turn) => sum + utf8Length(turn.kind === 'call' ? turn.arguments : turn.text), 0);
  return {
    lists,
    seen,
    bytes,
    repair: finished >= 0,
    anew: finished >= 0 || seen.file(MEMORY, -1, firstWrite).kind === 'absent',
  };
}

/** The diff first, then the files that are there and the folder of notes. */
function unreadBasics(run: Run): readonly NewCall[] {
  const { seen } = run;
  const diff = seen.wasReadBefore(DIFF, Number.POSITIVE_INFINITY) ? [] : [seen.file(DIFF)];
  const last = seen.writes(MEMORY).findLast((candidate) => candidate.done);
  const memory = last === undefined ? (run.anew && !run.repair ? [] : [seen.file(MEMORY)]) : [];
  const calls = [...diff, ...memory, seen.file(SUMMARY)].flatMap((file) => (file.kind === 'unread' ? [file.next] : []));
  const notes = seen.folder(NOTES_FOLDER);
  return notes.kind === 'unread' ? [...calls, notes.next] : calls;
}

interface Material {
  readonly kind: 'ready';
  readonly added: readonly SessionRecord[];
  readonly retained: readonly SessionRecord[];
  readonly goneLessons: readonly Lesson[];
  readonly notes: ReadonlyMap<string, string>;
  /** More is to be read after this write. */
  readonly more: boolean;
}

/** Reads what this round needs; once that is enough for a write, gives it. */
function nextReads(run: Run): Material | { readonly kind: 'read'; readonly calls: readonly NewCall[] } {
  const { memory, lastWriteAt, unread } = currentMemory(run);
  const gone = goneThreads(run, memory);
  const todo = wantedInputs(run).filter((input) => !run.seen.wasReadBefore(input.path, lastWriteAt));
  const around = retainedAround(run, memory, gone);
  const removed = pathsOf(memory, gone).map((path) => `removed/${path}`);
  const notes = wantedNotes(run, memory);
  const texts = new Map<string, string>();
  const calls: NewCall[] = [];
  let bytes = 0;
  let started = false; // a file is read to its end within one round
  for (const path of [...removed, ...notes, ...around.map((input) => input.path), ...todo.map((input) => input.path)]) {
    const seen = run.seen.file(path);
    if (seen.kind === 'unread') {
      calls.push(seen.next);
      started ||= seen.started;
    }
    if (seen.kind === 'whole') {
      texts.set(path, seen.text);
      bytes += utf8Length(seen.text);
    }
  }
  if (unread)
    return { kind: 'read', calls: [...run.seen.wholeFile(MEMORY, MEMORY_PAGES), ...calls].slice(0, CALLS_PER_TURN) };
  const each = texts.size === 0 ? TYPICAL_SUMMARY_BYTES : bytes / texts.size;
  const fits = run.bytes + each * Math.min(calls.length, CALLS_PER_TURN) <= CONVERSATION_BYTES;
  if (calls.length > 0 && (started || texts.size === 0 || fits))
    return { kind: 'read', calls: calls.slice(0, CALLS_PER_TURN) };
  const records = (inputs: readonly ListedInput[]): SessionRecord[] =>
    inputs.flatMap((input) => readRecords(input.path, texts.get(input.path) ?? '', input.project));
  return {
    kind: 'ready',
    added: records(todo),
    retained: records(around),
    goneLessons: removed.flatMap((path) =>
      readRecords(path, texts.get(path) ?? '', null).flatMap((record) => record.lessons),
    ),
    notes: new Map(notes.flatMap((path) => (texts.has(path) ? [[path, texts.get(path) ?? ''] as const] : []))),
    more: calls.length > 0,
  };
}

interface CurrentMemory {
  readonly memory: MemoryText;
  readonly text: string | null;
  readonly lastWriteAt: number;
  /** Its last write was dropped from the conversation, and it was not read since. */
  readonly unread: boolean;
}

/** MEMORY.md as it stands: what was last written in this run, else what was read, else nothing. */
function currentMemory(run: Run): CurrentMemory {
  const write = run.seen.writes(MEMORY).findLast((candidate) => candidate.done);
  const lastWriteAt = write?.at ?? -1;
  const seen = run.anew && write === undefined ? undefined : run.seen.file(MEMORY, lastWriteAt);
  const text = write?.content ?? (seen?.kind === 'whole' ? seen.text : null);
  const unread = write?.content === null && seen?.kind === 'unread';
  return { memory: text === null ? EMPTY : parseMemoryText(text), text, lastWriteAt, unread };
}

function wantedInputs(run: Run): readonly ListedInput[] {
  return run.anew ? [...run.lists.added, ...run.lists.retained] : run.lists.added;
}

/** Threads whose old form goes: no longer listed, or listed as changed and not yet written anew. */
function goneThreads(run: Run, memory: MemoryText): ReadonlySet<string> {
  const listed = new Set([...run.lists.added, ...run.lists.retained].map((input) => input.threadId));
  const written = run.seen.writes(MEMORY).some((write) => write.done);
  const changed = new Set(written ? [] : run.lists.added.map((input) => input.threadId));
  const cited = memory.groups.flatMap((group) => group.tasks.flatMap((task) => task.sources));
  return new Set(cited.map((source) => source.threadId).filter((id) => !listed.has(id) || changed.has(id)));
}

/** Retained inputs of the groups that lose a source: they tell which bullets are still borne out. */
function retainedAround(run: Run, memory: MemoryText, gone: ReadonlySet<string>): readonly ListedInput[] {
  const hit = memory.groups.filter(
    (group) => [...gone].some((threadId) => citesThread(group, threadId)) || hasMarks(group),
  );
  return run.lists.retained.filter((input) => hit.some((group) => citesThread(group, input.threadId)));
}

function hasMarks(group: GroupText): boolean {
  return group.sections.some((section) => section.bullets.some(isMarked));
}

function pathsOf(memory: MemoryText, threads: ReadonlySet<string>): readonly string[] {
  const sources = memory.groups.flatMap((group) => group.tasks.flatMap((task) => task.sources));
  return [...new Set(sources.filter((source) => threads.has(source.threadId)).map((source) => source.path))];
}

/** Notes that the memory does not hold yet, and those that the run lists as new or changed until they are written. */
function wantedNotes(run: Run, memory: MemoryText): readonly string[] {
  const known = notesTakenIn(memory);
  const fresh = new Set(run.seen.writes(MEMORY).some((write) => write.done) ? [] : run.lists.newNotes);
  return noteFiles(run).filter((path) => !known.has(path) || fresh.has(path));
}

function noteFiles(run: Run): readonly string[] {
  const folder = run.seen.folder(NOTES_FOLDER);
  return folder.kind === 'listed' ? folder.paths.filter((path) => path.endsWith('.md')) : [];
}

/** The writes that bring the files to what the material says; none when they are so already. */
function nextWrites(run: Run, material: Material): readonly NewCall[] {
  const { memory, text } = currentMemory(run);
  const updated = updateMemory(memory, { ...material, gone: goneThreads(run, memory) });
  const noted = mergeNotes(updated, noteFiles(run), material.notes);
  const next = run.repair ? keepHandLines(noted, handLines(run)) : noted;
  const content = renderMemoryText(next);
  const calls = content === text ? [] : [write(MEMORY, content)];
  if (material.more) return calls;
  const summary = nextSummary(run, next);
  return summary === currentSummary(run) ? calls : [...calls, write(SUMMARY, summary)];
}

/** What this run's diff shows as added by a person, and what earlier runs kept as such. */
function handLines(run: Run): readonly string[] {
  const [diff, before] = [run.seen.file(DIFF), run.seen.file(MEMORY, -1, run.seen.writes(MEMORY)[0]?.at)];
  return [
    ...(before.kind === 'whole' ? keptHandLines(before.text) : []),
    ...(diff.kind === 'whole' ? readHandLines(diff.text) : []),
  ];
}

function nextSummary(run: Run, next: MemoryText): string {
  const mine = summariseMemory(next);
  const firstWrite = run.seen.writes(MEMORY)[0]?.at;
  const [before, theirs] = [run.seen.file(MEMORY, -1, firstWrite), run.seen.file(SUMMARY)];
  if (run.anew || before.kind !== 'whole' || theirs.kind !== 'whole') return mine;
  // Marks of what is forgotten are nobody's words.
  return mergeSummary(summariseMemory(parseMemoryText(unmark(before.text))), unmark(theirs.text), mine);
}

function currentSummary(run: Run): string | null {
  const written = run.seen.writes(SUMMARY).findLast((candidate) => candidate.done);
  if (written) return written.content;
  const seen = run.seen.file(SUMMARY);
  return seen.kind === 'whole' ? seen.text : null;
}

function write(path: string, content: string): NewCall {
  return { name: 'write', arguments: { path, content } };
}

function finish(run: Run): NewCall {
  const { added, retained, newNotes } = run.lists;
  const mode = run.anew ? 'written from all inputs' : 'brought up to date';
  const report = `Offline stand-in: memory ${mode}; ${added.length} inputs taken in, ${retained.length} retained, ${newNotes.length} new notes.`;
  return { name: 'finish', arguments: { report } };
}
