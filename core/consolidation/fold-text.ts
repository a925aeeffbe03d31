import { stripHidden } from './hidden-characters.ts';

/** Marks on letters, for every script: texts and patterns lose the same ones. */
const ACCENTS = /\p{Mn}/gu;
/** Letters that no decomposition takes to their Latin form. */
const PLAIN: ReadonlyMap<string, string> = new Map(
  [...'łlđdøoıiħhŧtɡgɑa'].flatMap((_, at, all) => (at % 2 === 0 ? [[all[at] ?? '', all[at + 1] ?? ''] as const] : [])),
);
/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  [
    ...'аaвbсcеeнhіiјjкkмmоoрpԛqѕsтtуyхxԝwԁdһhӏlгrпnαaβbεeηnιiκkνvοoρpτtυuχxωwσoγyօoսuոnһhցgꓲiꓰeѵvզqᴀaᴇeɪiᴏoʀrꜱsᴛtᴜuɴnᴘpᴍmɢgᴄcᴅdʏyᴠv',
  ].flatMap((_, at, all) => (at % 2 === 0 ? [[all[at] ?? '', all[at + 1] ?? ''] as const] : [])),
);
const DIGITS: ReadonlyMap<string, string> = new Map(
  [...'0o1i3e4a5s7t@a$s!i|l'].flatMap((_, at, all) =>
    at % 2 === 0 ? [[all[at] ?? '', all[at + 1] ?? ''] as const] : [],
  ),
);
const WORD = /[\p{L}\p{N}\p{M}¤]+/gu;
const WORD_OR_SIGN = /[\p{L}\p{N}\p{M}¤@$!|]+/gu;

/** A text in the forms in which commands are looked for. */
export interface FoldedText {
  /** Words in lower case without accents, one space between them and at both ends. */
  readonly words: string;
  /** The same with letters that only look Latin, and digits in place of letters, taken for what they look like. */
  readonly lookalike: string;
  /** The words without spaces, for scripts that write none. */
  readonly compact: string;
  /** Letters that stand one by one, joined: `i g n o r e`. */
  readonly spelled: string;
}

/** Brings letters to one form: compatibility forms, case and accents go, invisible characters too. For patterns as for texts. */
export function foldLetters(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase().replace(ACCENTS, '').replaceAll('\u0640', '').normalize('NFC');
  return mapChars(plain, PLAIN);
}

export function foldText(text: string): FoldedText {
  // `.env` is a file, and words may be joined by case alone
  const visible = stripHidden(text)
    .replace(/['’ʼ`]/g, '')
    .replace(/(?<![\p{L}\p{N}])\.env\b/giu, ' dotenv');
  const letters = foldLetters(visible.normalize('NFKC').replace(/(\p{Ll})(?=\p{Lu}\p{Ll})/gu, '$1 '));
  const found = letters.match(WORD) ?? [];
  const signs = letters.match(WORD_OR_SIGN) ?? [];
  const lookalike = signs.map((word) => mapChars(/\p{L}/u.test(word) ? mapChars(word, DIGITS) : word, LOOKALIKES));
  return {
    words: ` ${found.join(' ')} `,
    lookalike: ` ${lookalike.join(' ').match(WORD)?.join(' ') ?? ''} `,
    compact: found.join(''),
    spelled: joinSpelled(found.map((word) => mapChars(word, LOOKALIKES))),
  };
}

function joinSpelled(words: readonly string[]): string {
  let out = '';
  for (const word of words) out += word.length === 1 ? word : ' ';
  return out.replace(/ {2,}/g, ' ');
}

function mapChars(text: string, map: ReadonlyMap<string, string>): string {
  let out = '';
  for (const char of text) out += map.get(char) ?? char;
  return out;
}
