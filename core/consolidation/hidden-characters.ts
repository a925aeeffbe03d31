/**
 * Characters that a person does not see and a model reads all the same: they can carry a message, or make a line read other
 * than it looks. Those that a script needs are left alone: joiners in Arabic, Indic and emoji, direction marks beside
 * right-to-left letters, the zero width space of scripts without spaces, flags, variation selectors.
 */
const HIDDEN: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0d, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];
const JOINED = /\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Mongolian}|\p{Extended_Pictographic}|\p{Emoji_Modifier}/u;
const INDIC =
  /\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Gurmukhi}|\p{Script=Gujarati}|\p{Script=Oriya}|\p{Script=Tamil}|\p{Script=Telugu}|\p{Script=Kannada}|\p{Script=Malayalam}|\p{Script=Sinhala}|\p{Script=Myanmar}|\p{Script=Khmer}|\p{Script=Tibetan}/u;
const RIGHT_TO_LEFT = /\p{Script=Arabic}|\p{Script=Hebrew}|\p{Script=Syriac}|\p{Script=Thaana}/u;
const UNSPACED = /\p{Script=Thai}|\p{Script=Lao}|\p{Script=Myanmar}|\p{Script=Khmer}/u;
const FLAG = '\u{1f3f4}';
/** Selects the emoji form of the character before it. */
const EMOJI_FORM = 0xfe0f;
/** How far from a mark the letters may stand that call for it. */
const NEAR = 8;
/** What may lie between a flag and its last tag. */
const CONTEXT = 24;

/** @returns where the first such character stands; -1: none */
export function findHidden(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (isHidden(code) && !isNeeded(text, at, code)) return at;
    if (code > 0xffff) at++;
  }
  return -1;
}

/** The text without them. Idempotent. */
export function stripHidden(text: string): string {
  if (findHidden(text) < 0) return text;
  let out = '';
  let at = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    // what is left before it decides, so that nothing is kept for the sake of what goes
    const before = isHidden(code) ? out.slice(-CONTEXT) : '';
    if (!isHidden(code) || isNeeded(before + text.slice(at, at + NEAR), before.length, code)) out += char;
    at += char.length;
  }
  return out;
}

function isHidden(code: number): boolean {
  if (code >= 0x20 && code < 0x7f) return false;
  return HIDDEN.some(([first, last]) => code >= first && code <= last);
}

function isNeeded(text: string, at: number, code: number): boolean {
  const before = charBefore(text, at);
  const around = text.slice(Math.max(0, at - NEAR), at + NEAR);
  if (code === 0x0d) return at + 1 >= text.length || text[at + 1] === '\n'; // part of a line end
  if (code === 0x200c || code === 0x200d) {
    return JOINED.test(before) || INDIC.test(before) || before.codePointAt(0) === EMOJI_FORM;
  }
  if (code === 0x200e || code === 0x200f || code === 0x61c) return RIGHT_TO_LEFT.test(around);
  if (code === 0x200b) return UNSPACED.test(around);
  if (code === 0xfe0e || code === EMOJI_FORM) return /\p{Emoji}|\p{S}/u.test(before);
  if (code >= 0xe0100 && code <= 0xe01ef) return /\p{Script=Han}/u.test(before);
  if (code >= 0x180b && code <= 0x180f) return /\p{Script=Mongolian}/u.test(before);
  return isTag(code) && isInFlag(text, at);
}

function isTag(code: number): boolean {
  return code >= 0xe0020 && code <= 0xe007f;
}

/** A flag of a region: a black flag with at most six tag letters and a cancel tag behind it. */
function isInFlag(text: string, at: number): boolean {
  let start = at;
  for (let steps = 0; steps < 7 && start >= 2 && isTag(charBefore(text, start).codePointAt(0) ?? 0); steps++)
    start -= 2;
  return charBefore(text, start) === FLAG;
}

function charBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return text.slice(low >= 0xdc00 && low < 0xe000 ? at - 2 : Math.max(0, at - 1), at);
}
