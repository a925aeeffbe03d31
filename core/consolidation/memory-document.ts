import { isBlank } from '../text.ts';
import { type DocumentFault, type GrammarCode, grammarFault } from './memory-grammar.ts';
import { splitReferences } from './references.ts';
import { parseSourceLine, type SourceLine } from './source-line.ts';

export interface MemoryTask {
  readonly number: number;
  readonly title: string;
  readonly sources: readonly SourceLine[];
  readonly keywords: readonly string[];
  readonly line: number;
}

export interface MemoryBullet {
  /** Without the dash and the references at its end; lines joined by LF. */
  readonly text: string;
  /** Numbers of the tasks it points at. */
  readonly tasks: readonly number[];
  /** True when it is marked as derived from a note; it then needs no task (behaviours K-02). */
  readonly fromNote: boolean;
  readonly line: number;
}

export type BulletSection = 'preferences' | 'knowledge' | 'failures';

export interface TaskGroup {
  readonly name: string;
  readonly scope: string;
  readonly cwd: string;
  /** Scope key of the project, or `global`. */
  readonly project: string;
  readonly reuseRule: string;
  readonly tasks: readonly MemoryTask[];
  readonly bullets: Readonly<Record<BulletSection, readonly MemoryBullet[]>>;
  readonly line: number;
}

export interface MemoryDocument {
  readonly groups: readonly TaskGroup[];
}

/** The sections of a group by their headings, in the order in which they stand. */
export const BULLET_SECTIONS: ReadonlyMap<string, BulletSection> = new Map([
  ['User preferences', 'preferences'],
  ['Reusable knowledge', 'knowledge'],
  ['Failures and how to do differently', 'failures'],
]);
const APPLIES_TO = /^applies_to: cwd=(.+?); project=([^;]+); reuse_rule=(.+)$/;

interface OpenTask extends Omit<MemoryTask, 'sources' | 'keywords'> {
  readonly sources: SourceLine[];
  /** Each word once, in the order in which they stand: the most telling first. */
  readonly keywords: Set<string>;
}

interface OpenGroup {
  name: string;
  scope: string | undefined;
  /** Undefined: no such line; null: one that cannot be read. */
  appliesTo: RegExpExecArray | null | undefined;
  tasks: OpenTask[];
  bullets: Record<BulletSection, MemoryBullet[]>;
  sections: Set<BulletSection>;
  line: number;
}

/** Where in the document the next line belongs. */
type Place =
  | { readonly kind: 'head' }
  | { readonly kind: 'task' }
  | { readonly kind: 'sources' }
  | { readonly kind: 'keywords' }
  | { readonly kind: 'bullets'; readonly section: BulletSection }
  /** After a heading that is not of the grammar: said once, its lines are passed over. */
  | { readonly kind: 'unknown' };

/**
 * Reads MEMORY.md (prompts.md; grammar in `memory-grammar.ts`). What can be read is read, whatever else is wrong.
 * @returns the document, and every fault with its line, from 1
 */
export function parseMemoryDocument(text: string): {
  readonly document: MemoryDocument;
  readonly faults: readonly DocumentFault[];
} {
  const parser = new MemoryParser();
  text.split('\n').forEach((line, at) => {
    parser.take(line.endsWith('\r') ? line.slice(0, -1) : line, at + 1);
  });
  return parser.end();
}

class MemoryParser {
  readonly #faults: DocumentFault[] = [];
  readonly #groups: OpenGroup[] = [];
  #place: Place = { kind: 'unknown' };
  #bullet: { section: BulletSection; lines: string[]; line: number } | undefined;

  take(line: string, number: number): void {
    if (this.#bullet !== undefined && (isBlank(line) || /^\s/.test(line))) {
      this.#bullet.lines.push(line);
      return;
    }
    this.#closeBullet();
    if (isBlank(line)) return;
    const level = /^#{1,6}(?= )/.exec(line)?.[0].length;
    if (level !== undefined) this.#takeHeading(level, line.slice(level).trim(), number);
    else this.#takeLine(line, number);
  }

  end(): { document: MemoryDocument; faults: readonly DocumentFault[] } {
    this.#closeBullet();
    if (this.#groups.length === 0) this.#fault('no_group', 1);
    for (const group of this.#groups) this.#checkGroup(group);
    const faults = this.#faults.sort((left, right) => left.line - right.line);
    return { document: { groups: this.#groups.map(closeGroup) }, faults };
  }

  #takeHeading(level: number, title: string, line: number): void {
    const group = this.#groups.at(-1);
    const groupName = /^Task Group:(.*)$/.exec(title)?.[1]?.trim();
    const task = /^Task (\d+):(.*)$/.exec(title);
    const section = BULLET_SECTIONS.get(title);
    if (level === 1 && groupName !== undefined) this.#openGroup(groupName, line);
    else if (group === undefined) this.#passOver('before_group', line);
    else if (level === 2 && task) this.#openTask(group, Number(task[1]), task[2]?.trim() ?? '', line);
    else if (level === 2 && section !== undefined) this.#openSection(group, section, line);
    else if (level === 3 && this.#inTask() && (title === 'rollout_summary_files' || title === 'keywords')) {
      this.#place = { kind: title === 'keywords' ? 'keywords' : 'sources' };
    } else this.#passOver('unknown_heading', line);
  }

  #inTask(): boolean {
    return ['task', 'sources', 'keywords'].includes(this.#place.kind);
  }

  #openSection(group: OpenGroup, section: BulletSection, line: number): void {
    if (group.sections.has(section)) this.#fault('section_twice', line);
    group.sections.add(section);
    this.#place = { kind: 'bullets', section };
  }

  #openGroup(name: string, line: number): void {
    if (name === '') this.#fault('group_name', line);
    this.#groups.push({
      name,
      scope: undefined,
      appliesTo: undefined,
      tasks: [],
      bullets: { preferences: [], knowledge: [], failures: [] },
      sections: new Set(),
      line,
    });
    this.#place = { kind: 'head' };
  }

  #openTask(group: OpenGroup, number: number, title: string, line: number): void {
    if (number !== group.tasks.length + 1) this.#fault('task_number', line);
    if (title === '') this.#fault('task_title', line);
    group.tasks.push({ number, title, sources: [], keywords: new Set(), line });
    this.#place = { kind: 'task' };
  }

  #passOver(code: GrammarCode, line: number): void {
    this.#fault(code, line);
    this.#place = { kind: 'unknown' };
  }

  #takeLine(line: string, number: number): void {
    const group = this.#groups.at(-1);
    const task = group?.tasks.at(-1);
    if (group === undefined) {
      if (this.#faults.length === 0) this.#fault('before_group', number);
      return;
    }
    const place = this.#place;
    if (place.kind === 'unknown') return;
    if (place.kind === 'head') this.#takeHeadLine(group, line.trimEnd(), number);
    else if (!line.startsWith('- ') || place.kind === 'task') this.#fault('stray_text', number);
    else if (place.kind === 'sources') this.#takeSource(task, line, number);
    else if (place.kind === 'keywords') addWords(task?.keywords, line.slice(2));
    else this.#bullet = { section: place.section, lines: [line.slice(2)], line: number };
  }

  #takeHeadLine(group: OpenGroup, line: string, number: number): void {
    if (line.startsWith('scope:') && group.scope === undefined) group.scope = line.slice('scope:'.length).trim();
    else if (line.startsWith('applies_to:') && group.appliesTo === undefined) {
      group.appliesTo = APPLIES_TO.exec(line);
      if (group.appliesTo === null) this.#fault('applies_to_format', number);
    } else this.#fault('stray_text', number);
  }

  #takeSource(task: OpenTask | undefined, line: string, number: number): void {
    const source = parseSourceLine(line.trimEnd());
    if (source === undefined) this.#fault('source_format', number);
    else task?.sources.push({ ...source, line: number });
  }

  #closeBullet(): void {
    const open = this.#bullet;
    const group = this.#groups.at(-1);
    this.#bullet = undefined;
    if (open === undefined || group === undefined) return;
    const lines = open.lines.map((line) => line.trimEnd());
    const { text, tasks, fromNote } = splitReferences(lines.join('\n').trimEnd());
    if (text === '') this.#fault('empty_bullet', open.line);
    if (tasks.length === 0 && !fromNote) this.#fault('bullet_without_task', open.line);
    group.bullets[open.section].push({ text, tasks, fromNote, line: open.line });
  }

  #checkGroup(group: OpenGroup): void {
    const bullets = Object.values(group.bullets).flat();
    if (group.scope === undefined || group.scope === '') this.#fault('scope_missing', group.line);
    if (group.appliesTo === undefined) this.#fault('applies_to_missing', group.line);
    if (group.tasks.length === 0 && !(bullets.length > 0 && bullets.every((bullet) => bullet.fromNote)))
      this.#fault('no_task', group.line);
    for (const task of group.tasks) {
      if (task.sources.length === 0) this.#fault('no_sources', task.line);
      if (task.keywords.size === 0) this.#fault('no_keywords', task.line);
    }
    const known = new Set(group.tasks.map((task) => task.number));
    for (const bullet of bullets)
      if (bullet.tasks.some((number) => !known.has(number))) this.#fault('task_unknown', bullet.line);
  }

  #fault(code: GrammarCode, line: number): void {
    this.#faults.push(grammarFault(code, line));
  }
}

function addWords(keywords: Set<string> | undefined, text: string): void {
  for (const word of text.split(',')) if (word.trim() !== '') keywords?.add(word.trim());
}

function closeGroup(group: OpenGroup): TaskGroup {
  const [, cwd = '', project = '', reuseRule = ''] = group.appliesTo ?? [];
  const { name, bullets, line } = group;
  const tasks = group.tasks.map((task) => ({ ...task, keywords: [...task.keywords] }));
  const applies = { cwd: cwd.trim(), project: project.trim(), reuseRule: reuseRule.trim() };
  return { name, scope: group.scope ?? '', ...applies, tasks, bullets, line };
}
