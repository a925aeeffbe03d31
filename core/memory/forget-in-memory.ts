import {
  BULLET_SECTIONS,
  type MemoryBullet,
  type MemoryTask,
  parseMemoryDocument,
  type TaskGroup,
} from '../consolidation/memory-document.ts';
import { renderReferences } from '../consolidation/references.ts';
import { isBlank } from '../text.ts';
import { LineEdits } from './line-edits.ts';
import { markStale } from './stale-mark.ts';

/** What became of a group or a task: untouched, still there without a part of what it rested on, or gone. */
export type Fate = 'kept' | 'hit' | 'dropped';

export interface TaskFate {
  readonly number: number;
  readonly title: string;
  readonly keywords: readonly string[];
  readonly fate: Fate;
  /** Its number now; null = gone. */
  readonly to: number | null;
}

export interface GroupFate {
  readonly name: string;
  readonly project: string;
  readonly fate: Fate;
  readonly tasks: readonly TaskFate[];
}

export interface ForgottenMemory {
  readonly text: string;
  readonly groups: readonly GroupFate[];
  /** Texts of the bullets that rested on forgotten threads alone. */
  readonly droppedBullets: readonly string[];
  /** Texts of those that stay, and whether they lost a part of what they rested on. */
  readonly keptBullets: readonly { readonly text: string; readonly stale: boolean }[];
}

/**
 * Takes forgotten threads out of MEMORY.md, line by line; what does not rest on them keeps its bytes. Their source lines go, and
 * with the last one of a task the task, with the last task of a bullet the bullet, with the last task of a group the group.
 * A bullet that keeps something to rest on stays and is marked. What a note says stays, since it rests on the note.
 * Doing it again changes nothing.
 */
export function forgetInMemory(text: string, forgotten: ReadonlySet<string>): ForgottenMemory {
  const edits = new LineEdits(text);
  const { groups } = parseMemoryDocument(text).document;
  const fates = groups.map(
    (group, at) => new GroupCut(edits, group, groups[at + 1]?.line ?? edits.last + 1, forgotten),
  );
  return {
    text: edits.isEmpty ? text : edits.render(),
    groups: fates.map((cut) => cut.told()),
    droppedBullets: fates.flatMap((cut) => cut.droppedBullets),
    keptBullets: fates.flatMap((cut) => cut.keptBullets),
  };
}

class GroupCut {
  readonly group: TaskGroup;
  readonly fate: Fate;
  readonly droppedBullets: string[] = [];
  readonly keptBullets: { text: string; stale: boolean }[] = [];
  readonly #edits: LineEdits;
  /** First line behind the group. */
  readonly #end: number;
  readonly #forgotten: ReadonlySet<string>;
  /** Numbers of tasks that lost a source. */
  readonly #hit = new Set<number>();
  /** Old numbers to new ones, of the tasks that stay. */
  readonly #numbers = new Map<number, number>();

  constructor(edits: LineEdits, group: TaskGroup, end: number, forgotten: ReadonlySet<string>) {
    this.#edits = edits;
    this.group = group;
    this.#end = end;
    this.#forgotten = forgotten;
    for (const task of group.tasks) this.#readTask(task);
    const bullets = Object.values(group.bullets).flat();
    this.fate = this.#hit.size > 0 ? this.#cut(bullets) : this.#keep(bullets);
  }

  told(): GroupFate {
    const tasks = this.group.tasks.map(({ number, title, keywords }): TaskFate => {
      const to = this.fate === 'dropped' ? null : (this.#numbers.get(number) ?? null);
      const fate = to === null ? 'dropped' : this.#hit.has(number) ? 'hit' : 'kept';
      return { number, title, keywords, fate, to };
    });
    return { name: this.group.name, project: this.group.project, fate: this.fate, tasks };
  }

  #readTask(task: MemoryTask): void {
    const left = task.sources.filter((source) => !this.#forgotten.has(source.threadId)).length;
    if (left < task.sources.length) this.#hit.add(task.number);
    if (left > 0 || task.sources.length === 0) this.#numbers.set(task.number, this.#numbers.size + 1);
  }

  #keep(bullets: readonly MemoryBullet[]): Fate {
    this.keptBullets.push(...bullets.map(({ text }) => ({ text, stale: false })));
    return 'kept';
  }

  #cut(bullets: readonly MemoryBullet[]): Fate {
    if (this.#numbers.size === 0 && !bullets.some((bullet) => bullet.fromNote)) {
      this.#edits.drop(this.group.line, this.#end);
      this.droppedBullets.push(...bullets.map((bullet) => bullet.text));
      return 'dropped';
    }
    for (const task of this.group.tasks) this.#cutTask(task);
    for (const bullet of bullets) this.#cutBullet(bullet);
    this.#dropEmptySections();
    return 'hit';
  }

  #cutTask(task: MemoryTask): void {
    const number = this.#numbers.get(task.number);
    if (number === undefined) {
      this.#edits.drop(task.line, this.#endOf(task.line, /^#{1,2} /));
      return;
    }
    if (number !== task.number)
      this.#edits.set(task.line, this.#edits.line(task.line).replace(/^(##\s+Task )\d+/, `$1${number}`));
    for (const source of task.sources)
      if (this.#forgotten.has(source.threadId)) this.#edits.drop(source.line, source.line + 1);
  }

  #cutBullet(bullet: MemoryBullet): void {
    const tasks = bullet.tasks.flatMap((task) => this.#numbers.get(task) ?? []);
    const end = this.#endOf(bullet.line, /^\S/);
    const groupLeft = this.#numbers.size > 0;
    if (tasks.length === 0 && !bullet.fromNote && (bullet.tasks.length > 0 || !groupLeft)) {
      this.#edits.drop(bullet.line, end);
      this.droppedBullets.push(bullet.text);
      return;
    }
    const stale = !bullet.fromNote && bullet.tasks.some((task) => this.#hit.has(task));
    this.keptBullets.push({ text: bullet.text, stale });
    const moved = tasks.length !== bullet.tasks.length || tasks.some((task, at) => task !== bullet.tasks[at]);
    if (stale || moved) this.#rewrite(bullet, end, { ...bullet, tasks, stale });
  }

  #rewrite(bullet: MemoryBullet, end: number, to: MemoryBullet & { readonly stale: boolean }): void {
    const text = to.stale ? markStale(to.text) : to.text;
    const gap = endsWithFence(text) ? '\n  ' : ' ';
    const lines = `- ${text}${gap}${renderReferences(to)}`.split('\n');
    let last = end - 1;
    while (last > bullet.line && isBlank(this.#edits.line(last))) last--;
    this.#edits.set(bullet.line, lines.join('\n'));
    this.#edits.drop(bullet.line + 1, last + 1);
  }

  /** Sections of which every line that says something is gone. */
  #dropEmptySections(): void {
    for (let number = this.group.line; number < this.#end; number++) {
      const title = /^##\s+(.*?)\s*$/.exec(this.#edits.line(number))?.[1];
      if (title === undefined || !BULLET_SECTIONS.has(title)) continue;
      const end = this.#endOf(number, /^#{1,2} /);
      let dropped = false;
      let said = false;
      for (let at = number + 1; at < end; at++) {
        if (this.#edits.isDropped(at)) dropped = true;
        else if (!isBlank(this.#edits.line(at))) said = true;
      }
      if (dropped && !said) this.#edits.drop(number, end);
    }
  }

  /** The first line behind `start` that `ends` matches. */
  #endOf(start: number, ends: RegExp): number {
    let number = start + 1;
    while (number < this.#end && !ends.test(this.#edits.line(number))) number++;
    return number;
  }
}

/** Behind a code fence nothing may stand. */
function endsWithFence(text: string): boolean {
  return text.includes('\n') && /^(?:```|~~~)/.test(text.slice(text.lastIndexOf('\n') + 1).trimStart());
}
