import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, redactCounted } from '../../../core/rollout/redact.ts';
import { base64, hex, join, mixed, R, SERVICE_TOKENS, UUID, WORD_SECRET } from '../../support/fake-secrets.ts';

const GITHUB = join('gh', 'p_', mixed(36));
const OPENAI = join('sk-', 'proj-', mixed(48));

/** Redacted wherever it stands: alone, in JSON, in JSON within JSON, and a second time without change. */
function expectGone(text: string, secret: string): void {
  for (const [depth, form] of [
    text,
    JSON.stringify({ o: text }),
    JSON.stringify({ o: JSON.stringify({ i: text }) }),
  ].entries()) {
    const once = redact(form);
    expect(once).not.toContain(secret);
    expect(once).toContain(R);
    expect(redactCounted(once)).toEqual({ text: once, found: {} });
    if (depth > 0) expect(() => JSON.parse(once)).not.toThrow();
  }
}

describe('tokens of services', () => {
  it.each(Object.entries(SERVICE_TOKENS))('%s', (_name, token) => {
    expectGone(`use ${token} here`, token);
    expectGone(`A\n${token}\nB`, token);
    expect(redact(`"${token}"`)).toBe(`"${R}"`);
  });
});

describe('escaped in JSON', () => {
  const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

  it('any characters of a key may be escaped, at any depth', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(GITHUB, OPENAI, ...Object.values(SERVICE_TOKENS)),
        fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (key, places, nested) => {
          const at = new Set(places.map((place) => place % key.length));
          const escaped = [...key].map((unit, index) => (at.has(index) ? escapeUnit(unit) : unit)).join('');
          const inner = `{"text":"use ${escaped} here"}`;
          const json = nested ? JSON.stringify({ output: inner }) : inner;
          const clean = redact(json);
          expect(JSON.parse(nested ? JSON.parse(clean).output : clean)).toEqual({ text: `use ${R} here` });
          expect(redact(clean)).toBe(clean);
        },
      ),
    );
  });

  it('names and signs may be escaped', () => {
    expect(redact(`{"q":"password\\u003d${WORD_SECRET}\\u0026a\\u003db"}`)).toBe(`{"q":"password=${R}&a=b"}`);
    expect(redact(`{"q":"{\\u0022password\\u0022:\\u0022${WORD_SECRET}\\u0022}"}`)).not.toContain(WORD_SECRET);
  });

  it('escapes that hide nothing stay as they are', () => {
    const text = '{"html":"\\u003cb\\u003e a \\u0026 b", "tr":"\\u00e9"}';
    expect(redact(text)).toBe(text);
  });
});

describe('base64 of a text that holds a secret', () => {
  it.each([
    ['a key', OPENAI],
    ['a key with its line end', `${GITHUB}\n`],
    ['an .env file', `DB_HOST=localhost\nDB_PASSWORD=${WORD_SECRET}\n`],
    ['a private key', `-----BEGIN ${'PRIVATE'} KEY-----\n${mixed(64)}\n-----END ${'PRIVATE'} KEY-----\n`],
  ])('%s', (_name, secret) => {
    expectGone(`data: ${base64(secret)}`, base64(secret));
  });

  it('credentials of a registry', () => {
    const auth = base64(`dev:${WORD_SECRET}`);
    expectGone(`{"auths":{"ghcr.io":{"auth":"${auth}"}}}`, auth);
  });

  it.each([
    base64('a plain sentence that goes on about nothing at all'),
    base64('-----BEGIN CERTIFICATE-----\nMIIBszCCARwCCQ\n-----END CERTIFICATE-----\n'),
    base64('{"version":3,"sources":["src/token.ts"],"names":[]}'),
    `integrity="sha512-${base64(mixed(64))}"`,
    `sha512-${Buffer.from(hex(128), 'hex').toString('base64')}`,
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${mixed(43)} dev@host`,
  ])('other base64 stays: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('arguments of commands', () => {
  it.each([
    ['mysql -u root -pS3', ''],
    ['mysqldump -h db -proot99 app', 'root99'],
    ["mysql -u root -p'hunter2' -e 'select 1'", 'hunter2'],
    ['mariadb --password=pw1 app', 'pw1'],
    ['sshpass -p pw77 ssh dev@host', 'pw77'],
    ['sshpass -phunter2 ssh dev@host', 'hunter2'],
    ['redis-cli -h cache -a hunter2 ping', 'hunter2'],
    ['mongosh -u admin -p hunter2 --host db', 'hunter2'],
    ['docker login -u dev -p hunter2 ghcr.io', 'hunter2'],
    ['helm registry login -u dev --password hunter2 ghcr.io', 'hunter2'],
    ['sqlcmd -S db -U sa -P hunter2', 'hunter2'],
    ['ldapsearch -D cn=admin -w hunter2 -b dc=x', 'hunter2'],
    ['zip -P hunter2 a.zip a', 'hunter2'],
    ['7z x -phunter2 a.7z', 'hunter2'],
    ['smbclient //host/share -U dev%hunter2', 'hunter2'],
    ['openssl rsa -in k.pem -passin pass:hunter2', 'hunter2'],
    ['keytool -list -keystore a.jks -storepass hunter2', 'hunter2'],
    ['gpg --batch --passphrase hunter2 -d a.gpg', 'hunter2'],
    ['wget --user dev --password hunter2 https://x.example', 'hunter2'],
    ["curl -b 'sid=abc123def' https://x.example", 'abc123def'],
    ['htpasswd -bc .htpasswd dev hunter2', 'hunter2'],
  ])('%s', (command, secret) => {
    if (secret !== '') expectGone(`$ ${command}`, secret);
    else expect(redact(command)).toBe(`mysql -u root -p${R}`);
  });

  it('as a list', () => {
    expectGone('["sshpass", "-p", "hunter2", "ssh", "host"]', 'hunter2');
    expectGone('["mysql","-uroot","-phunter2"]', 'hunter2');
  });

  it.each([
    'mysql -u root -p app',
    'mysql -P 3306 --protocol=tcp',
    'docker run -p 8080:80 -w /app image && docker ps -p x',
    'sshpass -p "$PASS" ssh host',
    'mkdir -p src/a; ssh -p 2222 host',
    'curl -b cookies.txt https://x.example',
    'zip -r a.zip folder && unzip a.zip -d out',
    'redis-cli -p 6379 ping',
  ])('stays: %s', (command) => {
    expect(redact(command)).toBe(command);
  });
});

describe('headers', () => {
  it.each([
    ['Set-Cookie: session=', 'abc123def456', '; Path=/; HttpOnly'],
    ['Cookie: theme=x; sid=', 'abc123def456', ''],
    ['{"set-cookie":["sid=', 'abc123def456', '; Path=/; Secure"]}'],
    ['curl --cookie "sid=', 'abc123def456', '" https://x.example'],
    ['Authorization: Negotiate ', mixed(40), ''],
    ['Authorization: NTLM ', mixed(24), ''],
    ['Authorization: ApiKey ', 'abcdefgh-ijkl', ''],
    ['authorization: Bot ', mixed(59), ''],
    ['Authorization: GenieKey ', 'abcdefghijkl', ''],
    ['Authorization: SSWS ', mixed(42), ''],
    ['Proxy-Authorization: Basic ', 'ZGV2OnNlY3JldA==', ''],
    ['Authorization: ', hex(40), ''],
    ['Authorization: Digest username="dev", realm="x", response="', hex(32), '"'],
    ['Authorization: AWS4-HMAC-SHA256 Credential=x/20261101/eu/s3/aws4_request, Signature=', hex(64), ''],
    ['Authorization: Hawk id="dev", ts="1", mac="', mixed(43), '="'],
    ['Authorization: OAuth oauth_consumer_key="k", oauth_signature="', mixed(28), '"'],
    ['headers.set("Authorization", "', hex(40), '")'],
    ["{ 'Authorization': '", hex(40), "' }"],
    ['X-Vault-Token: ', mixed(24), ''],
  ])('%s…', (before, secret, after) => {
    expectGone(`${before}${secret}${after}`, secret);
  });

  it.each([
    'Authorization: required for every request',
    'authorization: req.headers.authorization',
    'The Authorization: header holds documentation',
    'Set-Cookie: theme=; Path=/; Max-Age=0',
    'const cookie = parse(req.headers.cookie);',
    'cookie: string; cookies: { secure: true }',
    'Authorization: Bearer <token>',
  ])('stays: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('told in a sentence', () => {
  it.each([
    'the password is X',
    'The password for staging is X.',
    'my password is: X',
    'Password: X',
    'password is "X"',
    'the API key is X, use it',
    'mein Passwort ist X',
    'Das Datenbankpasswort lautet X',
    'contraseña: X',
    'la contraseña es X',
    'Contraseña de la base: X',
    '密码：X',
    '密码是X',
    '密码是 X，请保密',
    '密碼為X',
    'パスワードはXです',
    'パスワード: X',
    '비밀번호는 X 입니다',
    '비밀번호: X',
    'le mot de passe est X',
    'mot de passe : X',
    'a senha é X',
    'senha: X',
    'пароль X'.replace(' ', ': '),
    'мой пароль — X',
    'wachtwoord is X',
    'hasło: X',
    'la clave es X',
    'şifre: X',
    '{"contraseña":"X"}',
  ])('%s', (sentence) => {
    expectGone(sentence.replace('X', WORD_SECRET), WORD_SECRET);
  });

  it('short ones with a digit, after a colon', () => {
    expectGone('password: hunter2', 'hunter2');
    expectGone('contraseña: hunter2', 'hunter2');
    expectGone('密码：hunter2', 'hunter2');
  });

  it.each([
    'the password is stored in the vault',
    'the password is incorrect',
    'The password is hashed with sha256.',
    'password is base64-encoded and at least 8-16 characters',
    'the token is expired; the secret is rotated weekly',
    'the token is sent as x-request-id',
    'Das Passwort ist falsch, Passwort vergessen?',
    'Passwort: bitte eingeben',
    'la contraseña es obligatoria',
    '密码不能为空，密码是必填项，密码：不能为空',
    'パスワードは必須です',
    '비밀번호는 필수입니다',
    'пароль: обязательное поле',
    'le mot de passe est requis',
    'a senha é obrigatória',
    'la clave es primaria',
    'the secret is `webhookSecret`, the token is `refreshToken`',
    'the password is "required"',
    'Password is https://x.example/reset1',
    'the password is in config/secrets2.yaml or at src/a1.ts',
    'password: sha256(x1)',
    'password is user.pass1(x)',
    'the password field is type2 of 4',
    'the token is 2048 bytes, the secret is v2',
    'no API key in this build',
  ])('stays: %s', (sentence) => {
    expect(redact(sentence)).toBe(sentence);
  });
});

describe('connection strings', () => {
  it.each([
    'jdbc:postgresql://db:5432/app?user=dev&password=X',
    'jdbc:sqlserver://db;user=sa;password=X;encrypt=true',
    'amqp://dev:X@mq:5672/vhost',
    'mongodb+srv://dev:X@cluster0.example.net/app',
    'redis://:X@cache:6379/0',
    'rediss://default:X@cache:6379',
    'mysql://dev:X@db/app',
    'Server=db;Database=app;User Id=sa;Password=X;',
    'host=db user=dev password=X dbname=app',
    'https://dev:X@git.example.com/a/b.git',
    'ftp://dev:X@files.example.com',
    'postgres://dev:X@b@db/app',
  ])('%s', (text) => {
    expectGone(text.replace('X', WORD_SECRET), WORD_SECRET);
  });

  it('short passwords, and passwords that hold an @', () => {
    expectGone('Server=db;Uid=sa;Pwd=sa1;', 'sa1');
    expect(redact('postgres://dev:p@ss@db/app')).toBe(`postgres://dev:${R}@db/app`);
  });

  it('keys of Azure', () => {
    expectGone(`Endpoint=sb://x;SharedAccessKeyName=n;SharedAccessKey=${mixed(43)}=`, mixed(43));
    expectGone(`DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${mixed(86)}==;EndpointSuffix=x`, mixed(86));
  });

  it('tokens in remotes of git', () => {
    expectGone(`https://x-access-token:${mixed(40)}@github.com/a/b`, mixed(40));
    expectGone(`https://${hex(40)}@github.com/a/b.git`, hex(40));
    expectGone(`https://${hex(40)}:x-oauth-basic@github.com/a/b.git`, hex(40));
  });

  it.each([
    'postgres://user:password@localhost:5432/db',
    'https://user:<password>@host',
    'git+ssh://git@github.com/a/b.git',
    'https://registry.npmjs.org/@scope/name',
    'redis://localhost:6379',
  ])('stays: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('private keys', () => {
  it('of PuTTY, up to their last line', () => {
    const lines = [mixed(64), mixed(64), 'aB3dE5gH'];
    const file = [
      'PuTTY-User-Key-File-2: ssh-rsa',
      'Encryption: none',
      'Private-Lines: 3',
      ...lines,
      'Private-MAC: 00',
    ].join('\n');
    expectGone(file, lines[2] ?? '');
    expectGone(file, lines[0] ?? '');
    expect(redact(file)).toContain('Private-MAC');
  });

  it('of OpenSSH, PKCS 8 and PGP', () => {
    for (const kind of ['OPENSSH PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'EC PRIVATE KEY', 'PGP PRIVATE KEY BLOCK']) {
      expectGone(`-----BEGIN ${kind}-----\n${mixed(70)}\n${mixed(30)}\n-----END ${kind}-----`, mixed(30));
    }
  });

  it('as JSON Web Keys: private members go, public ones stay', () => {
    const jwk = { kty: 'EC', crv: 'P-256', x: `X${mixed(42)}`, y: `Y${mixed(42)}`, d: `D${mixed(42)}` };
    expectGone(JSON.stringify(jwk), jwk.d);
    expect(JSON.parse(redact(JSON.stringify(jwk)))).toEqual({ ...jwk, d: R });
    expectGone(JSON.stringify({ kty: 'oct', k: mixed(43) }), mixed(43));
  });

  it('of a Google service account', () => {
    const key = join('-----BEGIN ', 'PRIVATE KEY-----\n', mixed(64), '\n-----END ', 'PRIVATE KEY-----\n');
    const account = JSON.stringify({
      type: 'service_account',
      private_key_id: hex(40),
      private_key: key,
      client_email: 'a@b',
    });
    expectGone(account, mixed(64));
    expect(JSON.parse(redact(account))).toMatchObject({ private_key: expect.stringContaining(R), client_email: 'a@b' });
  });
});

describe('files that hold credentials', () => {
  it.each([
    ['.netrc', 'machine api.example.com\n  login dev\n  password X\n'],
    ['.netrc on one line', 'machine api.example.com login dev password X'],
    ['.pgpass', 'db.example.com:5432:app:dev:X\n'],
    ['.pgpass for all', '*:*:*:dev:X'],
    ['kubeconfig tokens', 'users:\n- name: dev\n  user:\n    token: X'],
    ['kubeconfig keys', `    client-key-data: X${mixed(60)}`],
    ['AWS credentials', 'aws_session_token = X'],
    ['AWS credentials as JSON', '{"SecretAccessKey":"X","SessionToken":"Y"}'],
    ['seeds of one-time passwords', 'otpauth://totp/app:dev?secret=X&issuer=app'],
    ['npm', '//registry.example.com/:_authToken=X'],
    ['environment files', 'TWILIO_AUTH_TOKEN=X\nDD_API_KEY=X'],
  ])('%s', (_name, text) => {
    expectGone(text.replaceAll('X', WORD_SECRET), WORD_SECRET);
  });
});

describe('what is no secret stays', () => {
  it.each([
    hex(40),
    UUID,
    `sha256:${hex(64)}`,
    'OPENAI_API_KEY and DATABASE_URL are read from the environment',
    'a risk-based task-oriented disk-based choice',
    'src/core/token.ts:120:5:error:secret',
    'const vca_router_live_session_helpers_test = phx_router_live_session_helpers;',
    'access-control-allow-origin: *',
    'machine learning login page password reset',
    'public key: ssh-rsa (see docs)',
    'Namespace.method.call and M.a.b',
    `{"kty":"RSA","n":"${mixed(80)}","e":"AQAB"}`,
    'image/svg+xml;utf8,<svg d="M0 0L10 10"/>',
    '#ff00aa url(data:,) .token-list > .secret-item { color: red }',
    'password=changeme in docs: use YOUR_PASSWORD or <password>'.replace('changeme', '<password>'),
    'api_key: "YOUR_API_KEY", token: "xxxxxxxxxxxx"',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('where agents show secrets', () => {
  const cell = `hunter2${mixed(8)}`;
  const hash = mixed(53);
  it.each([
    ['a name that goes on', `SECRET_KEY_BASE=${mixed(40)}`, mixed(40)],
    ['a setting of Rails', `config.secret_key_base = "${mixed(40)}"`, mixed(40)],
    ['colours around the sign', `\u001b[32mAPI_KEY\u001b[0m=\u001b[33m${mixed(30)}\u001b[0m`, mixed(30)],
    ['a list of arguments', `["run","--token","${mixed(24)}"]`, mixed(24)],
    ['a table', `| DB_PASSWORD | ${cell} |`, cell],
    ['SQL, MySQL', `CREATE USER bob IDENTIFIED BY '${cell}'`, cell],
    ['SQL, PostgreSQL', `ALTER ROLE bob WITH PASSWORD '${cell}'`, cell],
    ['kubectl', `kubectl create secret generic x --from-literal=pw=${cell}`, cell],
    ['setx', `setx OPENAI_API_KEY "${mixed(40)}"`, mixed(40)],
    ['net', `net user bob ${cell} /add`, cell],
    ['a parameter of a URL', `https://api.example.com/v1?key=${mixed(32)}`, mixed(32)],
    ['a hash of a password', `bob:$2y$10$${hash}`, hash],
    ['a line of shadow', `root:$6$salt$${mixed(86)}:19000:0:`, mixed(86)],
    ['the end of a private key', `${mixed(64)}\n${mixed(40)}\n-----END RSA PRIVATE KEY-----`, mixed(40)],
  ])('%s', (_name, text, secret) => expectGone(text, secret));

  it('of a private key only its own lines go, and nothing is known of a footer alone', () => {
    const words = 'the file ends so:';
    const tail = `${mixed(64)}\n${mixed(20)}\n-----END PRIVATE KEY-----`;
    expect(redact(`${words}\n${tail}\nbye`)).toBe(`${words}\n${R}\nbye`);
    expect(redact(JSON.stringify(`${words}\n${tail}`))).toBe(JSON.stringify(`${words}\n${R}`));
    for (const text of ['it ends in -----END PRIVATE KEY-----', `${mixed(64)}\n-----END CERTIFICATE-----`])
      expect(redact(text)).toBe(text);
  });

  it.each([
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf',
    '| API_KEY | required |',
    '| PASSWORD | the password of the user, at least 8 characters |',
    '["--token","$GITHUB_TOKEN_2"]',
    "db.query('SELECT password FROM users WHERE id = $1', [id])",
    "SET PASSWORD = '<your password here>'",
    'https://example.com/a?key=some-cache-entry-of-the-page-2',
    'kubectl get secret my-secret-2 -o yaml',
    'net user bob /delete',
    'echo "$1$2$3"',
  ])('and not here: %s', (text) => expect(redact(text)).toBe(text));
});
