import { isPlaceholder } from './secret-rules.ts';
import { type CountSecrets, replaceSpans, type SecretSpan } from './secret-spans.ts';

/** How commands take a password that no name stands before. Each pattern is run over the arguments of one command only. */
const VALUE = `(?:[ =]|\\\\{0,15}["'], ?)?\\\\{0,15}["']?([^\\s"'\\\\|;&<>,]{2,128})`;
const GAP_VALUE = `(?:[ =]|\\\\{0,15}["'], ?)\\\\{0,15}["']?([^\\s"'\\\\|;&<>,]{2,128})`;
const OPTION = `(?:\\s|["'], ?\\\\{0,15}["'])`;

interface CommandRule {
  readonly command: RegExp;
  readonly secret: RegExp;
  /** Only where this stands in the arguments too. */
  readonly only?: RegExp;
}

const ATTACHED = `${OPTION}-p\\\\{0,15}["']?([^\\s"'\\\\|;&<>,-][^\\s"'\\\\|;&<>,]{1,127})`;
const COMMANDS: readonly CommandRule[] = [
  { command: /^(?:mysql|mariadb)/, secret: pattern(`(?:${ATTACHED}|${OPTION}--password=([^\\s"'\\\\|;&]{2,128}))`) },
  { command: /^sshpass$/, secret: pattern(`${OPTION}-p${VALUE}`) },
  { command: /^redis-cli$/, secret: pattern(`${OPTION}(?:-a|--pass)${GAP_VALUE}`) },
  { command: /^mongo/, secret: pattern(`${OPTION}(?:-p|--password)${GAP_VALUE}`) },
  {
    command: /^(?:docker|podman|nerdctl|helm|oras|skopeo|az)$/,
    secret: pattern(`${OPTION}(?:-p|--password)${GAP_VALUE}`),
    only: /^\W{1,4}(?:registry\W{1,4})?login\b/,
  },
  { command: /^(?:sqlcmd|bcp|zip|unzip)$/, secret: pattern(`${OPTION}-P${GAP_VALUE}`) },
  { command: /^ldap/, secret: pattern(`${OPTION}-w${GAP_VALUE}`) },
  { command: /^(?:7z|7za|7zz|rar|unrar)$/, secret: pattern(`${OPTION}-h?p([^\\s"'\\\\|;&]{2,128})`) },
  { command: /^smbclient$/, secret: pattern('%([^\\s"\'\\\\|;&]{2,128})') },
  { command: /^openssl$/, secret: pattern('pass:([^\\s"\'\\\\|;&]{2,128})') },
  { command: /^xfreerdp$/, secret: pattern(`${OPTION}/p:([^\\s"'\\\\|;&]{2,128})`) },
  { command: /^keytool$/, secret: pattern(`${OPTION}-(?:src|dest)?(?:store|key)pass${GAP_VALUE}`) },
  { command: /^gpg2?$/, secret: pattern(`${OPTION}--passphrase${GAP_VALUE}`) },
  { command: /^(?:wget|curl)$/, secret: pattern(`${OPTION}--(?:http-|proxy-)?password${GAP_VALUE}`) },
  { command: /^curl$/, secret: pattern(`${OPTION}-b \\\\{0,15}["']?[\\w.-]{1,64}=([^\\s"'\\\\|;&]{6,})`) },
  {
    command: /^kubectl$/,
    secret: pattern(`--from-literal[ =][\\w.-]{1,64}=([^\\s"'\\\\|;&]{2,256})`),
    only: /\bsecret\b/,
  },
  {
    command: /^setx$/,
    secret: pattern(`(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD)\\\\{0,15}["']? \\\\{0,15}["']?([^\\s"'\\\\|;&]{6,256})`),
  },
  { command: /^net$/, secret: pattern('^ user [\\w.-]{1,64} ([^\\s"\'\\\\|;&/*]{4,128})') },
  {
    command: /^htpasswd$/,
    secret: pattern('-[A-Za-z]*b[A-Za-z]* \\S{1,128} \\S{1,64} \\\\{0,15}["\']?([^\\s"\'\\\\|;&]{2,128})'),
  },
];
const COMMAND =
  /(?<![\w.-])(?:mysql(?:dump|admin|import|check|show|pump|sh)?|mariadb(?:-dump|-admin)?|sshpass|redis-cli|mongo(?:sh|dump|restore|export|import)?|docker|podman|nerdctl|helm|oras|skopeo|az|sqlcmd|bcp|zip|unzip|ldap(?:search|modify|add|passwd|whoami)|7za?|7zz|rar|unrar|smbclient|openssl|xfreerdp|keytool|gpg2?|wget|curl|htpasswd|kubectl|setx|net)(?=[\s"'\\])/g;
const MAX_ARGUMENTS = 400;

function pattern(source: string): RegExp {
  return new RegExp(source, 'g');
}

/** Passwords among the arguments of commands: `mysql -p…`, `sshpass -p …`. A command's arguments are looked at once. */
export function redactCommands(text: string, count: CountSecrets): string {
  const spans: SecretSpan[] = [];
  COMMAND.lastIndex = 0;
  for (let hit = COMMAND.exec(text); hit !== null; hit = COMMAND.exec(text)) {
    const from = hit.index + hit[0].length;
    const line = text.slice(from, from + MAX_ARGUMENTS).split(/[\n\r|;&]|(?<!\\)\\+[nr](?![a-z])/, 1)[0] ?? '';
    const found = secretsOf(hit[0], line, from);
    spans.push(...found);
    COMMAND.lastIndex = from + Math.max(1, line.length);
  }
  count('command_password', spans.length);
  return replaceSpans(text, spans);
}

function secretsOf(command: string, line: string, offset: number): readonly SecretSpan[] {
  const spans = COMMANDS.flatMap((known) => {
    if (!known.command.test(command) || (known.only && !known.only.test(line))) return [];
    return [...line.matchAll(known.secret)].flatMap((match) => {
      const secret = match.slice(1).find((group) => group !== undefined) ?? '';
      if (isPlaceholder(secret) || secret.startsWith('$') || secret.startsWith('-')) return [];
      const to = offset + match.index + match[0].length;
      return [{ from: to - secret.length, to }];
    });
  });
  return spans.sort((left, right) => left.from - right.from);
}

const BLANK = '(?:\\s|\\\\+[nrt])';
const NETRC = new RegExp(
  `(?:machine${BLANK}{1,8}(?:localhost|[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,8})(?::\\d{1,5})?|default)${BLANK}{1,8}login${BLANK}{1,8}[^\\s"'\\\\]{1,128}${BLANK}{1,8}password${BLANK}{1,8}([^\\s"'\\\\]{2,256})`,
  'g',
);
/** `host:port:database:user:password`, where the port is one of PostgreSQL's or the file is named nearby. */
const PGPASS =
  /(?<![\w.*:/-])[\w.*-]{1,253}:(?:\d{4,5}|\*):[A-Za-z_*][\w*-]{0,63}:[\w.@*-]{1,63}:([^\s:"'\\]{3,128})(?![^\s"'\\])/g;

/** Passwords in the files that clients read them from: `.netrc` and `.pgpass`. */
export function redactPasswordFiles(text: string, count: CountSecrets): string {
  let current = text;
  if (text.includes('login') && text.includes('password')) {
    current = current.replace(NETRC, (line: string, secret: string) => marked(line, secret, count));
  }
  if (current.includes('pgpass') || /:(?:543\d|6432|\*):/.test(current)) {
    current = current.replace(PGPASS, (line: string, secret: string) => marked(line, secret, count));
  }
  return current;
}

function marked(whole: string, secret: string, count: CountSecrets): string {
  if (isPlaceholder(secret)) return whole;
  count('password_file', 1);
  return replaceSpans(whole, [{ from: whole.length - secret.length, to: whole.length }]);
}
