import { normalise } from './sentences.ts';

/** What a wish speaks for and against, as far as names of things tell it. */
export interface Stance {
  readonly wanted: ReadonlySet<string>;
  readonly rejected: ReadonlySet<string>;
  /** Families that the wanted things belong to. */
  readonly families: ReadonlySet<string>;
}

/** Things of which a project uses one: a later wish for another of the same family replaces the earlier one. */
const FAMILIES: readonly (readonly string[])[] = [
  ['npm', 'pnpm', 'yarn', 'bun'],
  ['make', 'just', 'bazel', 'ninja'],
  ['pip', 'uv', 'poetry', 'conda', 'pipenv'],
  ['jest', 'vitest', 'mocha'],
  ['pytest', 'unittest'],
  ['tabs', 'spaces'],
  ['redis', 'postgres', 'mysql', 'sqlite', 'mongodb'],
  ['rebase', 'merge'],
  ['eslint', 'biome'],
  ['docker', 'podman'],
  ['gradle', 'maven'],
  ['camelcase', 'snake_case'],
];
const FAMILY_OF = new Map(FAMILIES.flatMap((words, family) => words.map((word) => [word, family] as const)));
/** Words that also mean something else count only inside back ticks. */
const ONLY_IN_CODE = new Set(['make', 'just', 'merge', 'bun']);

const NEGATION =
  /\b(?:don['’]t|do not|never|avoid|stop|no longer|not|without|nicht|nie|niemals|kein\w*|ohne|pas|jamais|plus|nunca|não|no)\b|不|别|禁止|ない|やめ|지\s?마|말고/i;
const AGAINST_NEXT =
  /\b(?:instead of|rather than|statt|anstatt|au lieu d[e']?|en (?:vez|lugar) de|em (?:vez|lugar) d[eoa])\b|而不是/i;
const AGAINST_BEFORE = /ではなく|じゃなく|말고|대신/;
const CLAUSE_END = /[,;、，。.!！]\s*|\b(?:and|but|sondern|und|et|y|mas|pero)\b/i;

/** The same sentences are compared over and over: their readings are kept, a function of the text alone. */
const KNOWN = new Map<string, WishReading>();
const MAX_KNOWN = 20_000;

/** True when two programs do the same job, of which a project uses one. */
export function areAlternatives(left: string, right: string): boolean {
  return left !== right && FAMILY_OF.has(left) && FAMILY_OF.get(left) === FAMILY_OF.get(right);
}

/** Reads a wish clause by clause: "don't use npm, always use pnpm" is against npm and for pnpm. */
export function readStance(sentence: string): Stance {
  return readWish(sentence);
}

interface WishReading extends Stance {
  readonly normalised: string;
  readonly words: ReadonlySet<string>;
}

function readWish(sentence: string): WishReading {
  const known = KNOWN.get(sentence);
  if (known !== undefined) return known;
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  const normalised = normalise(sentence);
  const reading = { ...parseStance(sentence), normalised, words: contentWords(normalised) };
  KNOWN.set(sentence, reading);
  return reading;
}

function parseStance(sentence: string): Stance {
  const wanted = new Set<string>();
  const rejected = new Set<string>();
  for (const clause of splitClauses(sentence)) {
    const against = clause.split(AGAINST_NEXT);
    const before = (against[0] ?? '').split(AGAINST_BEFORE);
    if (before.length > 1) addTerms(before[0] ?? '', rejected);
    const rest = before.at(-1) ?? '';
    addTerms(rest, NEGATION.test(withoutCode(rest)) ? rejected : wanted);
    for (const part of against.slice(1)) addTerms(part, rejected);
  }
  for (const term of rejected) wanted.delete(term);
  return { wanted, rejected, families: familiesOf(wanted) };
}

/** True when following the later wish means to give up the earlier one. */
export function replaces(later: Stance, earlier: Stance): boolean {
  if (shares(later.wanted, earlier.wanted)) return false;
  return (
    shares(later.rejected, earlier.wanted) ||
    shares(later.wanted, earlier.rejected) ||
    shares(later.families, earlier.families)
  );
}

/** True when two wishes are one: the same words, or most words and the same stance. */
export function isSameWish(left: string, right: string): boolean {
  const [one, other] = [readWish(left), readWish(right)];
  if (!sameSet(one.wanted, other.wanted)) return false;
  if (one.normalised === other.normalised) return true;
  const [short, long] = one.words.size <= other.words.size ? [one, other] : [other, one];
  const shared = [...short.words].filter((word) => long.words.has(word)).length;
  if (shared === 0 || replaces(one, other) || replaces(other, one)) return false;
  if (sameSet(one.rejected, other.rejected)) return short.words.size >= 2 && shared / short.words.size >= 0.75;
  const [less, more] = one.rejected.size <= other.rejected.size ? [one, other] : [other, one];
  return one.wanted.size > 0 && isWithin(less.rejected, more.rejected) && shared === short.words.size;
}

function splitClauses(sentence: string): readonly string[] {
  const codes: string[] = [];
  const hidden = sentence.replace(/`[^`]*`/g, (code) => `\ue000${codes.push(code) - 1}\ue000`);
  return hidden
    .split(CLAUSE_END)
    .map((clause) => clause.replace(/\ue000(\d+)\ue000/g, (_, at: string) => codes[Number(at)] ?? ''));
}

function addTerms(text: string, into: Set<string>): void {
  for (const match of text.matchAll(/`([^`]+)`/g)) {
    const code = (match[1] ?? '').trim().toLowerCase();
    into.add(code);
    const program = code.split(/\s+/)[0] ?? '';
    if (FAMILY_OF.has(program)) into.add(program);
  }
  for (const match of withoutCode(text)
    .toLowerCase()
    .matchAll(/[\p{Script=Latin}\d_]+/gu)) {
    if (FAMILY_OF.has(match[0]) && !ONLY_IN_CODE.has(match[0])) into.add(match[0]);
    if (match[0] === 'cargo') into.add('cargo');
  }
}

function withoutCode(text: string): string {
  return text.replace(/`[^`]*`/g, ' ');
}

function familiesOf(terms: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...terms].flatMap((term) => (FAMILY_OF.has(term) ? [String(FAMILY_OF.get(term))] : [])));
}

function shares(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return [...left].some((term) => right.has(term));
}

function sameSet(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && isWithin(left, right);
}

function isWithin(part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean {
  return [...part].every((term) => whole.has(term));
}

const STOP_WORDS = new Set(
  'a an the in on of to for and or is are be it you me i my we our use do not dont never always this that der die das ein eine und in im zu den dem bitte immer nie nicht keine ohne'.split(
    ' ',
  ),
);

function contentWords(normalised: string): ReadonlySet<string> {
  return new Set(normalised.split(' ').filter((word) => !STOP_WORDS.has(word)));
}
