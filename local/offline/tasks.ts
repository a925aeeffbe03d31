import { type Fix, filesIn, findFixes, lastChecks } from './commands.ts';
import { asksForAWay, isCorrection, judgement, takesBack } from './cue-words.ts';
import { isDocument } from './human-text.ts';
import { splitSentences } from './sentences.ts';
import type { SessionEvent } from './session-events.ts';
import { isSameWish, readStance, replaces } from './stance.ts';

export type TaskOutcome = 'success' | 'partial' | 'fail' | 'uncertain';

/** A wish of the person, with the earlier wishes of the session that it gave up. */
export interface Wish {
  readonly text: string;
  readonly replaced: readonly string[];
}

/** One request of the person and what followed until the next. */
export interface Task {
  readonly request: string;
  readonly wishes: readonly Wish[];
  readonly fixes: readonly Fix[];
  /** Checks with how they last ended. */
  readonly checks: ReadonlyMap<string, boolean>;
  readonly files: readonly string[];
  readonly outcome: TaskOutcome;
  /** Why: the person's words, a check, or null when nothing tells. */
  readonly reason: { readonly quote: string } | { readonly check: string; readonly passed: boolean } | null;
}

const MAX_TASKS = 20;
const MAX_WISHES_PER_TASK = 12;
const MAX_FIXES_PER_TASK = 8;
const GO_ON =
  /^(?:ok(?:ay)?|yes|yep|sure|go (?:on|ahead)|continue|proceed|do it|next|nothing yet|hi|hello|hey|ja|weiter|mach (?:das|weiter)|oui|sí|si|sim|好的?|继续|是的?|はい|続けて|お願いします|네|계속)\b[\s\S]{0,40}$/i;

interface Span {
  readonly events: SessionEvent[];
  readonly messages: string[];
}

/** Splits a session into tasks. @returns at most 20, the latest when there are more */
export function readTasks(events: readonly SessionEvent[]): readonly Task[] {
  const spans: Span[] = [];
  for (const event of events) {
    if (event.kind === 'human' && (spans.length === 0 || startsWork(event.text))) {
      spans.push({ events: [], messages: [event.text] });
    } else if (event.kind === 'human') spans.at(-1)?.messages.push(event.text);
    spans.at(-1)?.events.push(event);
  }
  const wishes = currentWishes(spans);
  return spans.map((span, at) => readTask(span, wishes[at] ?? [], spans[at + 1]?.messages[0])).slice(-MAX_TASKS);
}

/** A message that starts new work: not a word of thanks, not "go on", not a correction, not only wishes. */
function startsWork(message: string): boolean {
  if (isCorrection(message) || takesBack(message) || GO_ON.test(message.trim())) return false;
  const sentences = splitSentences(message).filter((text) => !GO_ON.test(text) && judgement(text) === null);
  if (sentences[0] === undefined || asksForAWay(sentences[0])) return false;
  return sentences.filter((text) => !asksForAWay(text)).join(' ').length >= 12;
}

/** Wishes by task. A later wish takes the place of an earlier one that it gives up or repeats, wherever it was said. */
function currentWishes(spans: readonly Span[]): readonly (readonly Wish[])[] {
  const current: { wish: Wish; span: number }[] = [];
  spans.forEach((span, at) => {
    const said = span.messages.flatMap((message, index) =>
      span.messages[index + 1] !== undefined && takesBack(span.messages[index + 1] ?? '') && isCorrection(message)
        ? []
        : wishesIn(message),
    );
    for (const text of said) {
      const stance = readStance(text);
      const replaced: string[] = [];
      for (const old of current.splice(0)) {
        if (replaces(stance, readStance(old.wish.text))) replaced.push(...old.wish.replaced, old.wish.text);
        else if (isSameWish(old.wish.text, text)) replaced.push(...old.wish.replaced);
        else current.push(old);
      }
      current.push({ wish: { text, replaced: [...new Set(replaced)] }, span: at });
    }
  });
  return spans.map((_, at) =>
    current
      .filter((entry) => entry.span === at)
      .map((entry) => entry.wish)
      .slice(0, MAX_WISHES_PER_TASK),
  );
}

/** The wishes of a message. After "no, that is wrong" the first sentence counts as one, whatever its words. */
function wishesIn(message: string): readonly string[] {
  if (isDocument(message)) return [];
  const sentences = splitSentences(message);
  const correction = isCorrection(message)
    ? sentences.find((text) => text.length >= 16 && isCorrection(text))
    : undefined;
  return sentences.filter((text) => asksForAWay(text) || (text === correction && !text.includes('[REDACTED')));
}

function readTask(span: Span, wishes: readonly Wish[], nextMessage: string | undefined): Task {
  const checks = lastChecks(span.events);
  const words = [...span.messages.slice(1), ...(nextMessage === undefined ? [] : [nextMessage])];
  const sentences = splitSentences(span.messages[0] ?? '').filter(
    (text) => !text.includes('[REDACTED') && !text.startsWith('#'),
  );
  const first = sentences.find((text) => text.length >= 12 && judgement(text) === null) ?? sentences[0] ?? '';
  return {
    request: first,
    wishes,
    fixes: findFixes(span.events).slice(0, MAX_FIXES_PER_TASK),
    checks,
    files: filesIn(span.events),
    ...judge(words, checks),
  };
}

/** From what the person said last, else from the last check; nothing said and nothing checked is uncertain. */
function judge(words: readonly string[], checks: ReadonlyMap<string, boolean>): Pick<Task, 'outcome' | 'reason'> {
  const last = [...checks].at(-1);
  for (const message of words.toReversed()) {
    const said = judgement(message);
    if (said === null) continue;
    const quote = splitSentences(message).find((text) => judgement(text) !== null && !text.includes('[REDACTED'));
    if (quote === undefined) continue;
    if (said === 'praise') return { outcome: 'success', reason: { quote } };
    return { outcome: last?.[1] ? 'partial' : 'fail', reason: { quote } };
  }
  if (last === undefined) return { outcome: 'uncertain', reason: null };
  return { outcome: last[1] ? 'success' : 'fail', reason: { check: last[0], passed: last[1] } };
}
