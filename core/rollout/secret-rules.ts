/**
 * Tokens that are known by their own shape (behaviours U-01, DV-6). Every pattern runs in linear time: one unambiguous
 * run of characters after a literal prefix, no nested quantifiers, and a boundary before it so that a run has one start.
 * No class holds a quote or a back slash: a match never leaves the JSON string it stands in.
 */

/** What stands where a secret stood. */
export const REDACTED = '[REDACTED_SECRET]';

/** Word characters in the Unicode sense: JavaScript's own `\b` knows ASCII only (TC-271). */
export const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d';

/** A word starts here: at the edge of text, after `_`, a JSON escape such as `\n`, or a terminal colour code. */
export const START = `(?:(?<![${WORD}])|(?<=_)|(?<=\\\\[nrtbf])|(?<=\\[[0-9;]{0,12}m))`;
/** The same, where the pattern's own characters include `-`. */
export const RUN_START = `(?:(?<![-${WORD}])|(?<=\\\\[nrtbf])|(?<=\\[[0-9;]{0,12}m))`;
export const END = `(?![${WORD}])`;

export interface SecretRule {
  /** Shown in counts. */
  readonly kind: string;
  /** The pattern can match only where one of these occurs; they are looked for first. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  /** What replaces a match; the marker where absent. Answering the match itself leaves it. */
  readonly replace?: (match: string) => string;
}

/** @param source matched with the flags `g` and `u` */
export function rule(
  kind: string,
  hints: readonly string[],
  source: string,
  replace?: SecretRule['replace'],
): SecretRule {
  const pattern = new RegExp(source, 'gu');
  return replace === undefined ? { kind, hints, pattern } : { kind, hints, pattern, replace };
}

export const SECRET_RULES: readonly SecretRule[] = [
  rule('anthropic_key', ['sk-ant-'], `${START}sk-ant-[A-Za-z0-9_-]{16,}`),
  rule('openai_key', ['sk-'], `${START}sk-[A-Za-z0-9_-]{20,}`, (match) => (isOpenAiKey(match) ? REDACTED : match)),
  rule('github_token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], `${START}gh[pousr]_[A-Za-z0-9]{20,}`),
  rule('github_token', ['github_pat_'], `${START}github_pat_[A-Za-z0-9_]{20,}`),
  rule('gitlab_token', ['gl'], `${START}gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_-]{20,}`),
  // an id directly before its key: the key has no shape of its own
  rule('aws_key', ['AKIA', 'ASIA'], `${START}A[KS]IA[A-Z0-9]{16}[\\s,;:|=]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])`),
  rule('aws_key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`),
  rule('aws_key', ['b3JpZ2lu', 'GZXIvYXdz'], `${START}(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/_%-]{40,}=*`),
  rule('signature', ['-Signature='], '(?<=[?&]X-(?:Amz|Goog)-Signature=)[A-Fa-f0-9]{40,}'),
  rule('google_key', ['AIza'], `${START}AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])`),
  rule('google_key', ['ya29.', 'GOCSPX-'], `${START}(?:ya29\\.|GOCSPX-)[A-Za-z0-9_-]{20,}`),
  rule('google_key', ['1//0'], `${RUN_START}1//0[A-Za-z0-9_-]{40,}`),
  rule('azure_secret', ['Q~'], '[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])'),
  rule('azure_secret', ['sig='], '(?<=[?&;]sig=)[A-Za-z0-9%/+_-]{30,}=*'),
  rule('slack_token', ['xox'], `${START}xox[abceoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,}`),
  rule('slack_token', ['xapp-'], `${START}xapp-[0-9A-Za-z-]{20,}`),
  rule(
    'slack_token',
    ['hooks.slack.com/'],
    '(?<=hooks\\.slack\\.com/(?:services|workflows|triggers)/)[A-Za-z0-9_/-]{20,}',
  ),
  rule('stripe_key', ['_live_', '_test_'], `${START}[sr]k_(?:live|test)_[A-Za-z0-9]{10,}`),
  rule('stripe_key', ['whsec_'], `${START}whsec_[A-Za-z0-9+/]{20,}=*`),
  rule('npm_token', ['npm_'], `${START}npm_[A-Za-z0-9]{30,}`),
  rule('hugging_face_token', ['hf_'], `${START}hf_[A-Za-z0-9]{30,}`),
  rule('jwt', ['eyJ'], `${RUN_START}eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*){1,3}`),
  // up to the last `@`: a password may hold one
  rule('url_password', ['://'], '(?<=://[^\\s/?#@:"\'\\\\`]{0,128}:)[^\\s/?#"\'\\\\`]{1,256}(?=@)', (match) =>
    isPlaceholder(match) || PASSWORD_WORD.test(match) ? match : REDACTED,
  ),
  rule('url_password', [':x-oauth-basic@'], '(?<=://)[^\\s/?#@:"\'\\\\`]{8,256}(?=:x-oauth-basic@)'),
  // a token in the place of the user, as in remotes of git
  rule('url_password', ['://'], '(?<=://)[A-Za-z0-9_.~-]{20,256}(?=@)', (match) =>
    /\d/.test(match) ? REDACTED : match,
  ),
  rule(
    'basic_credentials',
    ['asic '],
    `(?<=[Aa]uthorization["'\\\\]{0,8}[:=] {0,2}["'\\\\]{0,8})[Bb]asic [A-Za-z0-9+/]{8,}=*`,
    () => `Basic ${REDACTED}`,
  ),
  rule(
    'authorization',
    ['oken '],
    `(?<=[Aa]uthorization["'\\\\]{0,8}[:=] {0,2}["'\\\\]{0,8})[Tt]oken [A-Za-z0-9._~+/-]{16,}=*`,
    () => `token ${REDACTED}`,
  ),
  rule(
    'basic_credentials',
    ['curl'],
    `(?<=curl[^\n|;&]{0,200}\\s(?:-u|--user)[ =]["'\\\\]{0,4}[^\\s:"'\\\\]{1,64}:)[^\\s"'\\\\]{3,128}`,
    (match) => (isPlaceholder(match) ? match : REDACTED),
  ),
];

/** What documentation writes in the place of a password. */
const PASSWORD_WORD = /^(?:pass|passw(?:or)?d|pwd|secret|x-oauth-basic)$/i;

/** Kebab-case names start with `sk-` too: a key has a known prefix, one long plain run, or mixed letters and digits. */
function isOpenAiKey(match: string): boolean {
  return (
    /^sk-(?:[A-Za-z0-9]{20}|(?:proj|svcacct|admin|None|or-v1|lf)-)/.test(match) ||
    (/[0-9]/.test(match) && /[A-Z]/.test(match) && /[a-z]/.test(match.slice(3)))
  );
}

/** What documentation and templates write where a secret would stand. */
export function isPlaceholder(value: string): boolean {
  if (value === REDACTED) return true;
  if (value.length > 200) return false;
  return /^(?:\$(?:[A-Za-z_]\w*|\{.*|\(.*|env:.*)|%\w+%|\{\{.*|\{\w*\}|<[^>]*>?|\*+|[xX]+|your[-_]?\w[\w-]*|[^.]{0,20}\.{3,}|\[?REDACTED.*)[,;)}\]]*$/.test(
    value,
  );
}
