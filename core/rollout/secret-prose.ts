import { skipQuote } from './quoted-text.ts';
import { isReference, isVariable } from './secret-reference.ts';
import { WORD } from './secret-rules.ts';
import { type CountSecrets, replaceSpans, type SecretSpan } from './secret-spans.ts';

/**
 * Passwords that people tell in sentences, in many languages: "the password is …", `contraseña: …`, `密码是…`. A sentence
 * says much about passwords that is none, so what follows must look like one: letters with digits or signs, ASCII only.
 */
const LATIN =
  'passwor[dt]|passphrase|passcode|passwd|kennwort|contrase(?:ñ|n)a|clave|mot de passe|senha|palavra-passe|wachtwoord|has(?:ł|l)o|parola|heslo|jelsz(?:ó|o)|salasana|adgangskode|l(?:ö|o)senord|passord|(?:ş|s)ifre|m(?:ậ|a)t kh(?:ẩ|a)u|kata sandi|api[ _-]?(?:key|schlüssel)|access key|secret|token';
const OTHER =
  'пароль|密[码碼]|口令|パスワード|暗証番号|비밀번호|암호|패스워드|κωδικός|סיסמה|סיסמא|كلمة المرور|كلمة السر|रหัสผ่าน|รหัสผ่าน|पासवर्ड|секрет|токен';
const NOUN = new RegExp(`(?:${LATIN}|${OTHER})(?=(?![${WORD}])|[是为為はが은는이가])`, 'giu');
/** As NOUN, where the text is ASCII: several times as fast. */
const ASCII_NOUN =
  /(?:passwor[dt]|passphrase|passcode|passwd|kennwort|contrasena|clave|mot de passe|senha|palavra-passe|wachtwoord|haslo|parola|heslo|jelszo|salasana|adgangskode|losenord|passord|sifre|mat khau|kata sandi|api[ _-]?key|access key|secret|token)(?![\w])/gi;
/** "… for staging", "… de la base": up to four words between the noun and what links it to the value. */
const ABOUT = '(?: (?:for|of|to|on|für|von|zu|de|del|da|do|du|pour|para|voor|для|от)(?: [^\\s:=：＝.,;]{1,40}){1,4}?)?';
const COPULA = '(?:is|was|ist|lautet|war|es|est|é|è|jest|is het|är|er|on|это|—|–|:|：|=|＝)';
const LINK = new RegExp(
  `${ABOUT}(?:\\s{0,3}(?:[:：=＝]|是|为|為|は|が|은|는|이|가)| {1,3}${COPULA}(?= |:|："))\\s{0,2}[:：]?\\s{0,2}`,
  'yiu',
);
const OPENING = /[“”„«「『‘（]/;
const MAX_SECRET = 128;
/** Printable ASCII without quotes and back slashes; one more than a secret may have tells a longer run. */
const RUN = /[!#-&(-[\]-_a-~]{4,129}/y;
/** What sentences say of passwords in the form of one. */
const MANNER =
  /^(?:(?:sha|md|base|bcrypt|utf|argon|pbkdf|aes|rsa|hs|rs|es|ed|x|v|rfc|http|oauth|iso|e2e|p|2fa|mfa|u2f)-?_?\d[\w-]*|https?:.*|[/~.].*|\d[\d.,:/-]*(?:[a-z]{1,3}|-?(?:char|digit|bit|byte|day|hour|minute|second|letter)\w*)?|\w+\(.*|.*\.(?:ts|js|py|md|json|ya?ml|toml|txt|env|go|rs|sh))$/i;

export function redactProse(text: string, count: CountSecrets): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is the range of ASCII
  const noun = /[^\x00-\x7f]/.test(text) ? NOUN : ASCII_NOUN;
  const spans: SecretSpan[] = [];
  noun.lastIndex = 0;
  for (let hit = noun.exec(text); hit !== null; hit = noun.exec(text)) {
    LINK.lastIndex = hit.index + hit[0].length;
    const quoteEnd = skipQuote(text, LINK.lastIndex);
    if (quoteEnd.quote !== '') LINK.lastIndex = quoteEnd.at; // `"contraseña": "…"`
    const link = LINK.exec(text);
    if (!link) continue;
    const found = toldSecret(text, link.index + link[0].length, { noun: hit[0], sign: /[:：=＝]/.test(link[0]) });
    if (!found) continue;
    spans.push(found);
    noun.lastIndex = found.to;
  }
  count('told_password', spans.length);
  return replaceSpans(text, spans);
}

interface Telling {
  readonly noun: string;
  /** A colon or an equals sign links, not a word. */
  readonly sign: boolean;
}

function toldSecret(text: string, at: number, telling: Telling): SecretSpan | undefined {
  const open = skipQuote(text, at);
  const quoted = open.quote !== '' || OPENING.test(text.charAt(at));
  const from = open.quote !== '' ? open.at : quoted ? at + 1 : at;
  RUN.lastIndex = from;
  if (!RUN.test(text)) return undefined;
  const full = RUN.lastIndex;
  let to = full;
  while (to > from && '.,;:!?)]}>*_'.includes(text.charAt(to - 1))) to--;
  const value = text.slice(from, to);
  if (value.length < 4 || value.length > MAX_SECRET || isReference(value, 'code') || isVariable(value))
    return undefined;
  if (MANNER.test(value) || value.startsWith('<') || value.startsWith('$')) return undefined;
  const isToken = /key|secret|token|schlüssel|секрет|токен/iu.test(telling.noun);
  const random = /\d/.test(value) && /[A-Za-z]/.test(value);
  const signed = /[!@#$%^&*+?~]/.test(value) && /[A-Za-z]/.test(value) && !/[()<>{}[\]|;=,]/.test(value);
  if (isToken) return random && value.length >= 10 && !telling.sign ? { from, to } : undefined;
  if (value.length >= 6 && (random || signed) && !/[()<>{}[\]|;,]/.test(value)) return { from, to };
  if (quoted && value.length >= 6 && full - from === value.length && !STATE.test(value)) return { from, to };
  const alone = /^(?:$|[\r\n"'\\，。」』”»])/.test(text.slice(full, full + 1));
  return telling.sign && !quoted && value.length >= 8 && alone && /^[a-z]+$/i.test(value) ? { from, to } : undefined;
}

/** States that sentences put in quotes. */
const STATE =
  /^(?:required|incorrect|invalid|missing|expired|optional|correct|encrypted|hashed|stored|string|undefined|hidden|masked|unknown|rejected|accepted|changed|updated|forgotten|disabled|enabled|current-password|new-password|password|passwort)$/i;
