import { redactCounted } from '../core/rollout/redact.ts';
import { type Measurement, median } from './measurement.ts';

const LENGTH = 1_000_000;
const ROUNDS = 7;
const MARKER = '[REDACTED_SECRET]';

/** What rollouts are full of: paths, identifiers, hashes, talk of secrets, assignments that hold none. */
const DENSE = [
  '{"type":"function_call_output","call_id":"call_42","output":"const userName = getUser(42); // see https://example.com/a/b?c=d ',
  'id 550e8400-e29b-41d4-a716-446655440000\\npassword: <x> token=process.env.TOKEN api_key = config.get(\\"x\\") ',
  'da39a3ee5e6b4b0d3255bfef95601890afd80709\\n- [x] The session token is stored in src/auth/session-store.ts:120 and ',
  'the password is hashed. password: hunter2hunter Authorization: Basic ZGV2OmRldmRldmRldg==\\n"}\n',
].join('');

/** The worst that was found for each family of rules, by trying what its patterns begin with. */
const HOSTILE: Readonly<Record<string, string>> = {
  'names and quotes': 'password="',
  'names and space': 'secret:   ',
  'names of variables': 'A_KEY: ',
  flags: '--password ',
  'sentences, colon': 'password : ',
  'sentences, words': 'password for a b c d ',
  'sentences, Chinese': '\u5bc6\u7801\u662f',
  'base64 of text': 'c2stcHJvaiBwYXNzd29yZDogaHVudGVyMmh1bnRlcg ',
  escapes: '\\u0070assword: \\u0041',
  commands: 'mysql -p',
  'commands, pairs': 'htpasswd -b a b ',
  headers: 'Authorization: basic ',
  'headers, parameters': 'authorization: D a="',
  cookies: 'cookie: a=bcdefgh',
  'password files': 'machine a.b login a password ',
  pgpass: 'localhost:5432:a:',
  URLs: '://a:@',
  'private keys': '-----BEGIN PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaa',
  'ends of private keys': 'aaaaaaaaaaaaaaaaaaaaaaaa\\n-----END PRIVATE KEY-----x',
  'key text without a footer': `${'aaaaaaaaaaaaaaaaaaaaaaaa\\n'.repeat(200)}-----END PRIVATE KEY----- `,
  colours: 'TOKEN\\u001b[0m\\u001b[0m',
  tables: '| A_TOKEN | a1',
  'hashes of passwords': '"$6$a$a$',
  SQL: "IDENTIFIED BY 'a",
  'web tokens': 'eyJaaaaaaaa.',
  prefixes: 'sk-',
  'capital letters': 'A',
  'back slashes': '\\',
  'back slashes behind an escape': `\\u0041${'\\'.repeat(LENGTH)}`,
};

/** Redaction of 1 MB: ordinary dense text within 150 ms, hostile text within three times that. */
export async function benchRedaction(): Promise<readonly Measurement[]> {
  const dense = msOf(repeated(DENSE));
  const hostile = Object.entries(HOSTILE).map(([family, piece]) => ({ family, ms: msOf(repeated(piece)) }));
  const slowest = hostile.reduce((worst, next) => (next.ms > worst.ms ? next : worst));
  return [
    { name: 'redaction: 1 MB of dense text', value: dense, unit: 'ms', remark: 'wanted: at most 150' },
    ...hostile.map(
      ({ family, ms }): Measurement => ({
        name: `redaction: hostile, ${family}`,
        value: ms,
        unit: 'ms',
        remark: '1 MB',
      }),
    ),
    {
      name: 'redaction: slowest hostile text against the limit of dense text',
      value: slowest.ms / 150,
      unit: 'ratio',
      remark: `${slowest.family}; wanted: at most 3`,
    },
  ];
}

/** Median of processor time: the work is one synchronous call, and other processes of the machine do not count. */
function msOf(text: string): number {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    const { text: clean, found } = redactCounted(text);
    rounds.push(process.cpuUsage(before).user / 1_000);
    if (Object.keys(found).length > 0 && !clean.includes(MARKER)) throw new Error('counted what was not replaced');
  }
  return median(rounds);
}

function repeated(piece: string): string {
  return piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH);
}
