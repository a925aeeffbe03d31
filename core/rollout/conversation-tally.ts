import { utf8Length } from '../text.ts';
import { redact } from './redact.ts';
import type { EvidenceTier, Passage, RolloutFacts } from './rollout.ts';

const MAX_TITLES = 32;
const TITLE_UNITS = 200;
const PLACEHOLDERS = new Set(['[image omitted]', '[audio omitted]']);
/** Passages that can still be taken back; older ones count for good. */
const MAX_OPEN_PASSAGES = 4_096;

type Sum = Pick<RolloutFacts, 'title' | 'humanMessages' | 'assistantMessages' | 'conversationBytes'>;
type Tally = { -readonly [Key in keyof Sum]: Sum[Key] } & { readonly passage: Passage | undefined };

/** Counts what was said, passage by passage, so that what was taken back does not count. */
export class ConversationTally {
  #settled: Sum = { title: null, humanMessages: 0, assistantMessages: 0, conversationBytes: 0 };
  #titles = 0;
  #open: Tally[] = [openTally(undefined)];

  begin(passage: Passage): void {
    this.#open.push(openTally(passage));
    if (this.#open.length <= 2 * MAX_OPEN_PASSAGES) return;
    const old = this.#open.slice(0, MAX_OPEN_PASSAGES);
    this.#settled = addUp([this.#settled, ...old.filter(isKept)]);
    this.#open = this.#open.slice(MAX_OPEN_PASSAGES);
  }

  add(tier: EvidenceTier, text: string, goesOn: boolean): void {
    const tally = this.#open.at(-1);
    if (!tally) return;
    tally.conversationBytes += utf8Length(text);
    if (tier === 'human') {
      if (!goesOn) tally.humanMessages++;
      this.#tellTitle(tally, text);
    } else if (!goesOn) tally.assistantMessages++;
  }

  /** Only the first few: a title is dear, and seldom is more than one passage taken back before the first that counts. */
  #tellTitle(tally: Tally, text: string): void {
    if (tally.title !== null || this.#titles >= MAX_TITLES) return;
    tally.title = titleOf(text);
    if (tally.title !== null) this.#titles++;
  }

  sum(): Sum {
    return addUp([this.#settled, ...this.#open.filter(isKept)]);
  }
}

function openTally(passage: Passage | undefined): Tally {
  return { passage, title: null, humanMessages: 0, assistantMessages: 0, conversationBytes: 0 };
}

function isKept({ passage }: Tally): boolean {
  return passage?.isTakenBack !== true;
}

function addUp(tallies: readonly Sum[]): Sum {
  let title: string | null = null;
  let humanMessages = 0;
  let assistantMessages = 0;
  let conversationBytes = 0;
  for (const tally of tallies) {
    title ??= tally.title;
    humanMessages += tally.humanMessages;
    assistantMessages += tally.assistantMessages;
    conversationBytes += tally.conversationBytes;
  }
  return { title, humanMessages, assistantMessages, conversationBytes };
}

/** The first line that says something, redacted before it is cut, cut between characters. */
function titleOf(text: string): string | null {
  const line = redact(text)
    .split('\n')
    .map((each) => each.trim())
    .find((each) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(each) && !PLACEHOLDERS.has(each));
  return line === undefined ? null : [...line.slice(0, 2 * TITLE_UNITS)].slice(0, TITLE_UNITS).join('');
}
