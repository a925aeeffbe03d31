import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, redactCounted } from '../../../core/rollout/redact.ts';

const R = '[REDACTED_SECRET]';
/** Fake secrets are put together at run time, so that no scanner finds one in this file. */
const join = (...parts: readonly string[]): string => parts.join('');
const letters = (count: number): string => 'abcdefghijklmnopqrstuvwxyz'.repeat(9).slice(0, count);
const mixed = (count: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z'.repeat(9).slice(0, count);
const AWS_ID = join('AKIA', 'IOSFODNN7', 'EXAMPLE');
const AWS_KEY = join('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY');
const JWT = join('eyJ', 'hbGciOiJIUzI1NiJ9', '.eyJ', 'zdWIiOiIxMjM0NTY3ODkwIn0', '.', mixed(43));
const pem = (end: string, kind = 'RSA '): string =>
  [
    '-----BEGIN ',
    kind,
    'PRIVATE KEY-----',
    end,
    mixed(64),
    end,
    mixed(40),
    '==',
    end,
    '-----END ',
    kind,
    'PRIVATE KEY-----',
  ].join('');

describe('the four passes of upstream', () => {
  it.each([
    ['TC-264: 19 characters stay', join('sk-', letters(19)), join('sk-', letters(19))],
    ['TC-264: 20 characters go', join('sk-', letters(20)), R],
    ['TC-264: project keys go (DV-6 closes the gap)', join('sk-', 'proj-', letters(26)), R],
    ['TC-265: task- stays (DV-6)', join('task-', letters(24)), join('task-', letters(24))],
    ['TC-266: an AWS id goes', AWS_ID, R],
    ['TC-266: not after a letter', `x${AWS_ID}`, `x${AWS_ID}`],
    ['TC-266: not with one letter more', `${AWS_ID}A`, `${AWS_ID}A`],
    ['TC-266: not in lower case', AWS_ID.toLowerCase(), AWS_ID.toLowerCase()],
    ['TC-267: bearer is re-cased', `Authorization: bearer ${letters(16)}`, `Authorization: Bearer ${R}`],
    ['TC-267: a short bearer stays', 'Bearer abc', 'Bearer abc'],
    ['TC-269: the name stays', 'API-KEY=abcdefgh', `API-KEY=${R}`],
    ['TC-269: quotes stay', 'apikey = "abcdefgh1"', `apikey = "${R}"`],
    ['TC-270: plural names stay', 'tokens=abcdefgh', 'tokens=abcdefgh'],
    ['TC-270: NAME_TOKEN goes (DV-6)', 'my_token=abcdefgh', `my_token=${R}`],
    ['TC-270: NAME_KEY goes (DV-6)', 'OPENAI_API_KEY=abcdefghijk', `OPENAI_API_KEY=${R}`],
    ['TC-270: JSON passwords go (DV-6)', '{"password":"abcdefgh1"}', `{"password":"${R}"}`],
    ['TC-271: é is a letter', '\u00e9token=abcdefgh', '\u00e9token=abcdefgh'],
    ['TC-272: white space may hold line ends', 'Secret:\n  longvalue99', `Secret:\n  ${R}`],
  ])('%s', (_name, text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(redact(text))).toBe(expected);
  });
});

describe('keys known by their shape (DV-6, A21)', () => {
  const tokens: readonly (readonly [string, string])[] = [
    ['openai_key', join('sk-', mixed(48))],
    ['openai_key', join('sk-', 'proj-', mixed(40), '_', mixed(20), '-', mixed(10))],
    ['openai_key', join('sk-', 'svcacct-', mixed(40))],
    ['openai_key', join('sk-', 'admin-', mixed(40))],
    ['openai_key', join('sk-', 'or-v1-', 'ab12'.repeat(16))],
    ['anthropic_key', join('sk-', 'ant-', 'api03-', mixed(90), 'AA')],
    ['github_token', join('gh', 'p_', mixed(36))],
    ['github_token', join('gh', 's_', mixed(36))],
    ['github_token', join('gh', 'o_', mixed(36))],
    ['github_token', join('github', '_pat_', mixed(22), '_', mixed(59))],
    ['gitlab_token', join('gl', 'pat-', mixed(20))],
    ['aws_key', AWS_ID],
    ['aws_key', AWS_ID.replace('AKIA', 'ASIA')],
    ['google_key', join('AI', 'za', mixed(35))],
    ['google_key', join('GOC', 'SPX-', mixed(28))],
    ['azure_secret', join('aB3', '8', 'Q~', mixed(34))],
    ['slack_token', join('xo', 'xb-', '123456789012-', mixed(24))],
    ['slack_token', join('xa', 'pp-1-A0B1C2D3-', mixed(24))],
    ['stripe_key', join('sk', '_live_', mixed(24))],
    ['stripe_key', join('rk', '_test_', mixed(24))],
    ['stripe_key', join('wh', 'sec_', mixed(32))],
    ['npm_token', join('np', 'm_', mixed(36))],
    ['hugging_face_token', join('h', 'f_', mixed(34))],
    ['jwt', JWT],
    ['pypi_token', join('pyp', 'i-', mixed(60))],
    ['sendgrid_key', join('S', 'G.', mixed(22), '.', mixed(43))],
    ['private_key', pem('\n')],
    ['private_key', pem('\\n')],
    ['private_key', pem('\r\n', 'OPENSSH ')],
  ];

  it.each(tokens)('%s: %#', (kind, token) => {
    expect(redactCounted(`use ${token} here`)).toEqual({ text: `use ${R} here`, found: { [kind]: 1 } });
  });

  it.each(tokens)('%s after an escaped line end and in nested JSON: %#', (_kind, token) => {
    const nested = JSON.stringify({ output: JSON.stringify({ text: `first\n${token}\nlast` }) });
    const result = redact(nested);
    expect(result).not.toContain(token.slice(4, 24));
    expect(JSON.parse(JSON.parse(result).output)).toEqual({ text: `first\n${R}\nlast` });
  });

  it.each(tokens.filter(([kind]) => kind !== 'jwt' && kind !== 'azure_secret'))(
    '%s as the end of a longer name: %#',
    (_kind, token) => {
      expect(redact(`call_${token}`)).toBe(`call_${R}`);
    },
  );

  it.each(tokens)('%s after a colour code: %#', (_kind, token) => {
    expect(redact(`\u001b[32m${token}\u001b[0m`)).not.toContain(token.slice(10, 24));
    expect(redact(JSON.stringify(`\u001b[1;32m${token}\u001b[0m`))).not.toContain(token.slice(10, 24));
  });

  it.each([
    ['URL passwords', 'postgres://app:hunter22@db:5432/x', `postgres://app:${R}@db:5432/x`],
    ['URL passwords without a user', 'redis://:hunter22@cache', `redis://:${R}@cache`],
    ['the AWS pair', `${AWS_ID},${AWS_KEY}`, R],
    [
      'the AWS pair as a file',
      `aws_access_key_id = ${AWS_ID}\naws_secret_access_key = ${AWS_KEY}`,
      `aws_access_key_id = ${R}\naws_secret_access_key = ${R}`,
    ],
    [
      'SAS signatures',
      `https://a.blob.core.windows.net/c?sv=1&sig=${mixed(43)}%3D&se=2`,
      `https://a.blob.core.windows.net/c?sv=1&sig=${R}&se=2`,
    ],
    ['storage keys', `AccountName=a;AccountKey=${mixed(86)}==`, `AccountName=a;AccountKey=${R}`],
    [
      'Slack hooks',
      join('https://hooks.slack.com/', 'services/T0001/B0002/', mixed(24)),
      `https://hooks.slack.com/services/${R}`,
    ],
    ['basic credentials', 'Authorization: Basic dXNlcjpwYXNzd29yZA==', `Authorization: Basic ${R}`],
    ['bearer tokens with a JWT', `curl -H "Authorization: Bearer ${JWT}"`, `curl -H "Authorization: Bearer ${R}"`],
    ['a PEM block that was cut', `${pem('\n').slice(0, 120)}\u2026 truncated`, `${R}\u2026 truncated`],
  ])('%s', (_name, text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe('values known by their name (DV-6)', () => {
  it.each([
    ['DB_PASSWORD=correcthorse', `DB_PASSWORD=${R}`],
    ['PGPASSWORD=hunter2hunter psql', `PGPASSWORD=${R} psql`],
    ['SERVICE_KEY=abcdefghijk', `SERVICE_KEY=${R}`],
    [`x-api-key: ${mixed(32)}`, `x-api-key: ${R}`],
    ['clientSecret: "abcdefgh1"', `clientSecret: "${R}"`],
    ["{ 'apiKey': 'abcdefgh1' }", `{ 'apiKey': '${R}' }`],
    ['{"password": "hunter2"}', `{"password": "${R}"}`],
    ['{"password": "correct horse battery"}', `{"password": "${R}"}`],
    ['{"password":"ab\\"cd\'efgh"}', `{"password":"${R}"}`],
    ['{"a":"{\\"password\\":\\"abcdefgh1\\"}"}', `{"a":"{\\"password\\":\\"${R}\\"}"}`],
    [
      '{"a":"{\\"b\\":\\"{\\\\\\"token\\\\\\": \\\\\\"abcdefgh1\\\\\\"}\\"}"}',
      `{"a":"{\\"b\\":\\"{\\\\\\"token\\\\\\": \\\\\\"${R}\\\\\\"}\\"}"}`,
    ],
    ['{"output":"TOKEN=abcdefgh1\\nnext line"}', `{"output":"TOKEN=${R}\\nnext line"}`],
    [
      '{"output":"{\\"o\\":\\"TOKEN=abcdefgh1\\\\nnext line\\"}"}',
      `{"output":"{\\"o\\":\\"TOKEN=${R}\\\\nnext line\\"}"}`,
    ],
    ['password: abc\\def12345 end', `password: ${R} end`],
    ['//registry.npmjs.org/:_authToken=abcdefgh-1234', `//registry.npmjs.org/:_authToken=${R}`],
    ['?access_token=abcdefgh1&user=joe', `?access_token=${R}&user=joe`],
    ['login --password hunter2hunter now', `login --password ${R} now`],
    ['--api-key=abcdefgh1', `--api-key=${R}`],
    ['<password>hunter2</password>', `<password>${R}</password>`],
    ['const token: string = "abcdefgh1";', `const token: string = "${R}";`],
    ['os.environ["API_KEY"] = "abcdefgh1"', `os.environ["API_KEY"] = "${R}"`],
    ['The API key: abcdefgh1', `The API key: ${R}`],
    ['OPENAI_API_KEY_2=abcdefgh', `OPENAI_API_KEY_2=${R}`],
    ['export DB_PASS="hunter2hunter"', `export DB_PASS="${R}"`],
    ['MYSQL_PASS: hunter2hunter', `MYSQL_PASS: ${R}`],
    ['PGPASS=hunter2hunter', `PGPASS=${R}`],
    ['{"pass":"hunter2hunter"}', `{"pass":"${R}"}`],
    ['curl -u admin:hunter2 https://x.example', `curl -u admin:${R} https://x.example`],
    ['curl -s --user "ci:hunter2x" https://x.example', `curl -s --user "ci:${R}" https://x.example`],
    [`Authorization: token ${'0123abcd'.repeat(5)}`, `Authorization: token ${R}`],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe('what is no secret stays', () => {
  it.each([
    'PASS: test_login and pass="true" and pass: everything',
    'docker run -u 1000:1000 image; curl -u "$USER:$PASS" https://x.example',
    'task-0194f5a689ab7cde8123456789abcdef and risk-based and disk-abcdefghijklmnopqrstuvwxyz',
    'sk-fading-circle-of-twelve-dots',
    '550e8400-e29b-41d4-a716-446655440000',
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'commit e421928e7219285177e7487a8c4445cc12e93eee\nAuthor: Dev',
    'OPENAI_API_KEY is not set; no API key in this build',
    'export TOKEN=$GITHUB_TOKEN',
    ['token: $', '{{ secrets.GITHUB_TOKEN }}'].join(''),
    'password=%DB_PASSWORD%',
    'const apiKey = process.env.API_KEY;',
    'api_key = os.environ["API_KEY"]',
    "token = os.getenv('TOKEN_NAME')",
    ['headers: `Bearer $', '{accessToken}`'].join(''),
    'Authorization: Bearer process.env.GITHUB_TOKEN',
    'function login(token: string, password: string | undefined): void',
    'cancel(token: CancellationToken)',
    'secret: Uint8Array,',
    'password: Optional[str] = None',
    'this.token = request.headers.authorization;',
    'token = generateToken(user)',
    'connect(password=userPassword, token=api_token)',
    '"token": "GITHUB_TOKEN"',
    '"password": "string"',
    'password=<your-password>',
    'password=********',
    'https://user:$PASSWORD@host/x',
    'https://host:8080/a@b',
    'PWD=/home/dev/project',
    'PRIMARY_KEY=abcdefghijk and sort_key: user#abcdefgh',
    '{"max_output_tokens":12345678,"total_tokens":123456789}',
    '{"token":12345678,"x":[1]}',
    'Token::from_bytes(bytes)',
    'secret:\n  secretName: database',
    '-----BEGIN PRIVATE KEY----- is how it starts',
    '-----BEGIN CERTIFICATE-----\nMIIBszCCARwCCQ\n-----END CERTIFICATE-----',
    `password=${R} and "token": "${R}" and Bearer ${R} and https://u:${R}@h`,
    'eyJhbGciOiJIUzI1NiJ9 alone is a header',
    'node_modules/@types/token/index.d.ts:12345678',
  ])('%s', (text) => {
    expect(redactCounted(text)).toEqual({ text, found: {} });
  });
});

it('counts by kind and tells no value', () => {
  const { found } = redactCounted(`${AWS_ID} ${join('gh', 'p_', mixed(36))} password=abcdefgh1 token=abcdefgh2`);
  expect(found).toEqual({ aws_key: 1, github_token: 1, named_secret: 2 });
});

const fragment = fc.oneof(
  fc.constantFrom(
    'password',
    'token',
    'SECRET',
    'api_key',
    'MY_KEY',
    'apiKey',
    'bearer ',
    'sk-',
    join('sk-', letters(20)),
    AWS_ID,
    JWT,
    '=',
    ':',
    ' = ',
    ': ',
    '"',
    "'",
    '`',
    '\\',
    '\\\\',
    '\\"',
    '\\n',
    '\n',
    ' ',
    ',',
    '}',
    '[',
    ']',
    '&a=',
    '<',
    '>',
    '--',
    '://u:',
    '@',
    R,
    'abcdefgh',
    'abcdefgh1',
    mixed(24),
    '\u00e9',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
    'process.env.',
    '$',
    '_',
    '-',
    '.',
  ),
  fc.string({ maxLength: 5, unit: 'binary' }),
);
const hostileText = fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join(''));

describe('properties', () => {
  it('redacting twice changes nothing more', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const once = redactCounted(text);
        expect(redactCounted(once.text)).toEqual({ text: once.text, found: {} });
      }),
      { numRuns: 3_000 },
    );
  });

  it('JSON stays JSON, of the same shape', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        hostileText,
        fc.integer({ min: 0 }),
        fc.constant(null),
        fc.boolean(),
        tie('list'),
        tie('map'),
        tie('nested'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      map: fc.dictionary(hostileText, tie('value'), { maxKeys: 4 }),
      nested: tie('value').map((value) => JSON.stringify(value)),
    }));
    fc.assert(
      fc.property(json.value, fc.constantFrom(undefined, 1), (value, indent) => {
        const parsed: unknown = JSON.parse(redact(JSON.stringify(value, null, indent)));
        expect(typeof parsed).toBe(typeof value);
        if (Array.isArray(value)) expect(Array.isArray(parsed) && parsed.length).toBe(value.length);
      }),
      { numRuns: 3_000 },
    );
  });

  it('a known key never survives, whatever stands around it', () => {
    const key = join('gh', 'p_', mixed(36));
    fc.assert(
      fc.property(hostileText, hostileText, (before, after) => {
        expect(redact(`${before} ${key} ${after}`)).not.toContain(key);
        expect(redact(JSON.stringify(`${before}\n${key}\n${after}`))).not.toContain(key);
      }),
    );
  });
});

describe('time grows with length only', () => {
  const LENGTH = 1_000_000;
  it.each([
    'token=',
    'token=,',
    'token=&a=',
    'password="',
    "password='x\\'",
    'A_KEY: ',
    'A_KEY:A_KEY',
    '\\',
    'token\\\\\\\\"',
    'bearer ',
    'bearer aaaaaaaaaaaaaaaa-',
    'sk-',
    '-eyJ',
    'eyJaaaaaaaa.',
    '://',
    '://a:',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaa',
    '[0;0;0;msk-',
    'Q~',
    'secret:   ',
    ' ',
    'x',
    '--password ',
    '<password>',
    'Authorization: basic ',
    'authorization: D a="',
    'mysql -p',
    'password : ',
    '密码是',
    'c2stcHJvaiBwYXNzd29yZDogaHVudGVyMmh1bnRlcg ',
    `\\u0041${'\\'.repeat(LENGTH)}`,
  ])('of a text made of %j', (piece) => {
    const text = piece.repeat(Math.ceil(LENGTH / piece.length));
    expect(typeof redact(text)).toBe('string');
    expect(typeof redact(`${text}"`)).toBe('string');
  });
});
