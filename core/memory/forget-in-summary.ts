import type { Fate, ForgottenMemory, GroupFate, TaskFate } from './forget-in-memory.ts';
import { LineEdits } from './line-edits.ts';
import { markStale, plainWords } from './stale-mark.ts';
import { parseSummary, type SummaryBlock, TOPICS_SECTION } from './summary-document.ts';
import { namedGroups, namedTasks } from './topic-sources.ts';

/** Shorter statements are too common to tell where they come from. */
const TELLING = 12;
const TELLING_WORD = 4;
const FIELD = /^[ \t]+(?:[-*+] +)?(desc|learnings):[ \t]*/;

/**
 * Takes out of memory_summary.md what followed from parts of MEMORY.md that are gone: topics of groups and tasks that are no
 * longer there, learnings and global lines that repeat a bullet that went. A topic that keeps something, and a global line that
 * speaks of what went in other words, are marked. Doing it again changes nothing.
 * @param memory what became of MEMORY.md of the same version
 */
export function forgetInSummary(text: string, memory: ForgottenMemory): string {
  if (memory.groups.every((group) => group.fate === 'kept')) return text;
  const edits = new LineEdits(text);
  const { blocks } = parseSummary(text).document;
  const words = new Statements(memory);
  blocks.forEach((block, at) => {
    const end = blocks[at + 1]?.line ?? edits.last + 1;
    if (block.kind === 'topic') cutTopic(edits, block, end, { memory, words });
    else if (block.kind === 'text' && block.section !== TOPICS_SECTION) cutGlobal(edits, block, end, words);
  });
  dropEmptyHeadings(edits, blocks);
  return edits.isEmpty ? text : edits.render();
}

/** What the bullets of MEMORY.md said, and say. */
class Statements {
  readonly #gone: readonly string[];
  readonly #left: readonly string[];
  readonly #lost: readonly string[];

  constructor(memory: ForgottenMemory) {
    this.#gone = memory.droppedBullets.map(plainWords);
    const stale = memory.keptBullets.filter((bullet) => bullet.stale).map((bullet) => plainWords(bullet.text));
    this.#lost = [...this.#gone, ...stale];
    this.#left = memory.keptBullets.filter((bullet) => !bullet.stale).map((bullet) => plainWords(bullet.text));
  }

  /** Whether at least half of the telling words of a statement stand in bullets that went, or lost a part. */
  speaksOfGone(statement: string): boolean {
    const telling = [...new Set(plainWords(statement).split(' '))].filter((word) => word.length >= TELLING_WORD);
    const known = telling.filter((word) => this.#lost.some((other) => other.includes(word)));
    return telling.length > 0 && known.length * 2 >= telling.length;
  }

  judge(statement: string): 'borne' | 'gone' | 'unknown' {
    const words = plainWords(statement);
    if (words === '' || this.#left.some((other) => isSame(other, words))) return 'borne';
    return this.#gone.some((other) => isSame(other, words)) ? 'gone' : 'unknown';
  }
}

function isSame(left: string, right: string): boolean {
  if (left === right) return true;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return short.length >= TELLING && long.includes(short);
}

interface Known {
  readonly memory: ForgottenMemory;
  readonly words: Statements;
}

function cutTopic(edits: LineEdits, block: SummaryBlock, end: number, known: Known): void {
  const desc = fieldLine(block, 'desc');
  const groups = namedGroups(block, desc?.text ?? '', known.memory.groups);
  if (groups.every((group) => group.fate === 'kept')) return;
  const tasks = groups.length === 1 ? namedTasks(block, desc?.text ?? '', groups[0]?.tasks ?? []) : [];
  const parts: readonly { readonly fate: Fate }[] = tasks.length > 0 ? tasks : groups.map(restOf);
  if (parts.every((part) => part.fate === 'dropped')) {
    edits.drop(block.line, end);
    return;
  }
  renumber(edits, desc, tasks);
  if (parts.every((part) => part.fate === 'kept')) return;
  dropKeywords(edits, block, groups);
  const learnings = fieldLine(block, 'learnings');
  const borne = learnings !== undefined && cutLearnings(edits, learnings, known.words);
  const marked = learnings !== undefined && !edits.isDropped(learnings.line) ? learnings : desc;
  if (!borne && marked !== undefined) edits.set(marked.line, markStale(edits.now(marked.line)));
}

/** A group that only notes are left of says nothing that a topic was made from. */
function restOf(group: GroupFate): { readonly fate: Fate } {
  const emptied = group.tasks.length > 0 && group.tasks.every((task) => task.fate === 'dropped');
  return { fate: emptied ? 'dropped' : group.fate };
}

interface Field {
  readonly line: number;
  readonly text: string;
}

function fieldLine(block: SummaryBlock, name: 'desc' | 'learnings'): Field | undefined {
  const at = block.lines.findIndex((line) => FIELD.exec(line)?.[1] === name);
  return at < 0 ? undefined : { line: block.line + at, text: (block.lines[at] ?? '').replace(FIELD, '').trim() };
}

function renumber(edits: LineEdits, desc: Field | undefined, tasks: readonly TaskFate[]): void {
  if (desc === undefined) return;
  const moved = new Map(tasks.map((task) => [task.number, task.to]));
  const line = edits.line(desc.line).replace(/(?:, | and )?\bTask (\d{1,6})\b/g, (written, digits: string) => {
    const to = moved.get(Number(digits));
    if (to === undefined) return written;
    return to === null ? '' : written.replace(digits, String(to));
  });
  edits.set(desc.line, line);
}

/** Keywords that only tasks had which are gone. */
function dropKeywords(edits: LineEdits, block: SummaryBlock, groups: readonly GroupFate[]): void {
  const tasks = groups.flatMap((group) => group.tasks);
  const left = new Set(tasks.filter((task) => task.fate !== 'dropped').flatMap((task) => task.keywords));
  const gone = new Set(tasks.flatMap((task) => task.keywords).filter((word) => !left.has(word)));
  const first = block.lines[0] ?? '';
  const colon = first.indexOf(': ');
  if (colon < 0 || gone.size === 0) return;
  const kept = first
    .slice(colon + 2)
    .split(', ')
    .filter((word) => !gone.has(word.trim()));
  edits.set(block.line, `${first.slice(0, colon + 2)}${kept.join(', ')}`.replace(/: $/, ''));
}

/** @returns true where all that is left of the line is borne out by bullets that are left */
function cutLearnings(edits: LineEdits, learnings: Field, words: Statements): boolean {
  const parts = learnings.text.split(' | ').map((part) => ({ part, judged: words.judge(part) }));
  const left = parts.filter(({ judged }) => judged !== 'gone');
  if (left.length === 0) edits.drop(learnings.line, learnings.line + 1);
  else if (left.length < parts.length) {
    const start = FIELD.exec(edits.line(learnings.line))?.[0] ?? '';
    edits.set(learnings.line, `${start}${left.map(({ part }) => part).join(' | ')}`);
  }
  return left.length > 0 && left.every(({ judged }) => judged === 'borne');
}

function cutGlobal(edits: LineEdits, block: SummaryBlock, end: number, words: Statements): void {
  const statement = block.lines.join(' ').replace(/^[-*+] +/, '');
  const judged = words.judge(statement);
  if (judged === 'gone') edits.drop(block.line, end);
  else if (judged === 'unknown' && words.speaksOfGone(statement))
    edits.set(block.line, markStale(edits.now(block.line)));
}

/** Headings of projects and days, and of older topics, below which nothing is left. */
function dropEmptyHeadings(edits: LineEdits, blocks: readonly SummaryBlock[]): void {
  blocks.forEach((block, at) => {
    if (block.kind !== 'heading' || block.section !== TOPICS_SECTION || block.level < 3) return;
    const next = blocks.findIndex(
      (other, index) => index > at && other.kind === 'heading' && other.level <= block.level,
    );
    const below = blocks.slice(at + 1, next < 0 ? undefined : next).filter((other) => other.kind !== 'heading');
    if (below.length > 0 && below.every((other) => edits.isDropped(other.line)))
      edits.drop(block.line, blocks[at + 1]?.line ?? edits.last + 1);
  });
}
