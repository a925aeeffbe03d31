/** What a bullet rests on, as it says at its end. */
export interface References {
  /** Numbers of tasks of its group, ascending, each once. */
  readonly tasks: readonly number[];
  /** True when it is marked as derived from a note; it then needs no task (behaviours K-02). */
  readonly fromNote: boolean;
}

const NOTE = '[ad-hoc note]';
/** Longer than any reference. */
const LONGEST = 24;

/**
 * Parts a bullet into its text and the `[Task n]` and `[ad-hoc note]` at its end, which white space and commas may part.
 * Linear: it is read from the end.
 */
export function splitReferences(bullet: string): References & { readonly text: string } {
  const tasks = new Set<number>();
  let fromNote = false;
  let start = bullet.length;
  for (;;) {
    while (start > 0 && /[\s,]/.test(bullet[start - 1] ?? '')) start--;
    const tail = bullet.slice(Math.max(0, start - LONGEST), start);
    const task = /\[Task (\d{1,9})\]$/.exec(tail);
    if (task === null && !tail.endsWith(NOTE)) break;
    if (task === null) fromNote = true;
    else tasks.add(Number(task[1]));
    start -= task === null ? NOTE.length : task[0].length;
  }
  const found = tasks.size > 0 || fromNote;
  const text = (found ? bullet.slice(0, start) : bullet).trim();
  return { text, tasks: [...tasks].sort((left, right) => left - right), fromNote };
}

/** The references as they stand at the end of a bullet: equal for equal meaning. */
export function renderReferences({ tasks, fromNote }: References): string {
  return `${fromNote ? NOTE : ''}${tasks.map((task) => `[Task ${task}]`).join('')}`;
}
