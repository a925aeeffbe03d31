import {
  EACH_SESSION,
  ENGLISH_COMMANDS,
  FETCH_AND_RUN,
  NEGATED,
  NEW_RULES,
  OUTSIDE,
  PIPED_OUT,
  ROLE_LABEL,
  ROLE_TALK,
  SECRETS_COMPACT,
  SENDING,
  SENDING_COMPACT,
  SENDING_THEM,
  SPELLED,
  WIPE,
} from './command-phrases.ts';
import { COMPACT_COMMANDS, type OverrideWords, SPACED_COMMANDS, SPACED_OVERRIDES } from './command-words.ts';
import { type FoldedText, foldLetters, foldText } from './fold-text.ts';
import { QUOTED, withoutQuotes } from './quotes.ts';

/** Words looked at around the verb of an override. */
const WINDOW = 9;
const WINDOW_CHARS = 240;

interface Override {
  readonly verb: RegExp;
  readonly nouns: RegExp;
  readonly looseNouns: RegExp;
  readonly broad: RegExp;
  readonly narrow: RegExp;
  readonly verbLast: boolean;
}

const wordsOf = (alternatives: string, flags = ''): RegExp =>
  new RegExp(` (?:${foldLetters(alternatives)})(?= )`, flags);
const OVERRIDES: readonly Override[] = SPACED_OVERRIDES.map((words: OverrideWords) => ({
  verb: wordsOf(words.verbs, 'g'),
  nouns: wordsOf(words.nouns),
  looseNouns: wordsOf(words.looseNouns),
  broad: wordsOf(words.broad),
  narrow: wordsOf(words.narrow),
  verbLast: words.verbLast === true,
}));
const ENGLISH = ENGLISH_COMMANDS.map((pattern) => new RegExp(pattern.startsWith('(?:^') ? pattern : ` (?:${pattern})`));
const SPACED = SPACED_COMMANDS.map((pattern) => wordsOf(pattern));
const COMPACT = COMPACT_COMMANDS.map((pattern) => new RegExp(foldLetters(pattern)));

/**
 * Whether a line of a memory tries to command its reader (user case A19): to drop its rules, be somebody else, keep something
 * from the user, send out what it holds, obey whatever comes. Ordinary advice in the imperative ("start the database first") does
 * not. What is quoted within a sentence of its own is data and passes. Looks through hidden characters, letters of other scripts,
 * digits for letters, letters spelled out, and words joined by case or signs. Linear.
 *
 * @param text one bullet, paragraph or heading
 */
export function isCommand(text: string): boolean {
  const outside = withoutQuotes(text);
  return judge(outside, text) || (isBare(outside) && judge(text, text));
}

/** True where what stands around the quotes does not make them a report: nothing is said of them, or they are to be followed. */
function isBare(outside: string): boolean {
  if (!outside.includes(QUOTED)) return false;
  const { words } = foldText(outside);
  const said = words.split(' ').filter((word) => /\p{L}/u.test(word));
  const letters = said.reduce((sum, word) => sum + word.length, 0);
  return (
    said.length < 2 ||
    letters < 6 ||
    / (?:obey|follow|comply with|execute|do|adhere to) (?:this |these |the following |now )*¤ /.test(words)
  );
}

function judge(text: string, whole: string): boolean {
  const folded = foldText(text);
  return (
    overrides(folded) ||
    ENGLISH.some((pattern) => pattern.test(folded.words) || pattern.test(folded.lookalike)) ||
    SPACED.some((pattern) => pattern.test(folded.words)) ||
    COMPACT.some((pattern) => pattern.test(folded.compact)) ||
    SPELLED.test(folded.spelled) ||
    sends(folded, whole) ||
    poses(text, folded) ||
    runs(text, whole, folded)
  );
}

function overrides(folded: FoldedText): boolean {
  const [english] = OVERRIDES;
  const inLatin = english !== undefined && folded.lookalike !== folded.words && overridesIn(folded.lookalike, english);
  return inLatin || OVERRIDES.some((words) => overridesIn(folded.words, words));
}

function overridesIn(words: string, { verb, verbLast, ...rest }: Override): boolean {
  verb.lastIndex = 0;
  for (let match = verb.exec(words); match !== null; match = verb.exec(words)) {
    const end = match.index + match[0].length;
    const around = verbLast
      ? lastWords(words.slice(Math.max(0, match.index - WINDOW_CHARS), match.index))
      : firstWords(words.slice(end, end + WINDOW_CHARS));
    if (rest.nouns.test(around) && (rest.narrow.test(around) || rest.broad.test(around))) return true;
    if (rest.looseNouns.test(around) && rest.narrow.test(around)) return true;
    verb.lastIndex = Math.max(end, match.index + 1);
  }
  return false;
}

function firstWords(text: string): string {
  return `${text.split(' ', WINDOW + 1).join(' ')} `;
}

function lastWords(text: string): string {
  return ` ${text.split(' ').slice(-WINDOW).join(' ')} `;
}

/** What is secret goes to a place outside. The place may be quoted, the order to send may not. */
function sends({ words, compact }: FoldedText, whole: string): boolean {
  if (!OUTSIDE.test(whole)) return false;
  if (
    / (?:post|send|submit) (?:the |your )?credentials? /.test(words) &&
    / (?:login|log|auth|oauth|token|signin|sign) /.test(words)
  )
    return false;
  if (SENDING.test(words) || SENDING_THEM.test(words)) return true;
  return SENDING_COMPACT.test(compact) && SECRETS_COMPACT.test(compact);
}

function poses(text: string, { words }: FoldedText): boolean {
  return (ROLE_LABEL.test(text.trimStart()) && ROLE_TALK.test(words)) || NEW_RULES.test(text);
}

function runs(text: string, whole: string, { words }: FoldedText): boolean {
  if (FETCH_AND_RUN.test(whole) && EACH_SESSION.test(words)) return true;
  return (WIPE.test(text) || PIPED_OUT.test(whole)) && !NEGATED.test(words);
}
