import { answer, create, edit, type Project, run, type Session, say, spawn, user, wait } from '../session.ts';
import { FAKE_AWS_KEY_ID, FAKE_GITHUB_TOKEN, FAKE_PASSWORD_URL } from './fake-secrets.ts';

/** A booking API for berths: TypeScript, pnpm, Postgres. Its user writes English. */
const project: Project = {
  name: 'harbor-api',
  cwd: '/home/robin/src/harbor-api',
  repository: 'https://github.com/quayside/harbor-api.git',
  branch: 'main',
  commit: '5f0c2f6f1c0c4a7d9f3f5b0a1f2c3d4e5f607182',
  rules: '# harbor-api\n\nHandlers live in src/routes, one file a resource. Every route has a test beside it.\n',
  timezone: 'Europe/Berlin',
};

const NO_NPM =
  'npm error code EBADDEVENGINES\nnpm error EBADDEVENGINES The developer of this package has specified pnpm as the ' +
  'package manager\nnpm error EBADDEVENGINES Invalid name "pnpm" does not match "npm" for "packageManager"\n';
const NO_DATABASE =
  ' FAIL  src/routes/login.test.ts > login > refuses the sixth attempt\nError: connect ECONNREFUSED 127.0.0.1:5432\n' +
  ' ❯ TCPConnectWrap.afterConnect node:net:1637:16\n\n Test Files  1 failed (1)\n';

const loginLimit: Session = {
  key: 'harbor-login-limit',
  project,
  format: { agent: 'codex', version: '0.104.0', model: 'gpt-5.3-codex', originator: 'codex_cli_rs' },
  startedAt: '2026-10-06T07:12:40.118Z',
  steps: [
    user('Add a rate limit to POST /login: five attempts a minute per account, then 429 with Retry-After.'),
    say('I will look at the login route and its test first.'),
    run(
      'ls src/routes && cat src/routes/login.ts',
      0,
      "berths.ts\nbookings.ts\nlogin.test.ts\nlogin.ts\nimport { verify } from '../auth/verify.ts';\n\nexport async function login(request: LoginRequest): Promise<Reply> {\n  const account = await verify(request.name, request.password);\n  return account ? ok(account) : unauthorized();\n}\n",
    ),
    run('npm test -- src/routes/login.test.ts', 1, NO_NPM),
    user("Don't use npm in this repository, always use pnpm."),
    say('Understood, pnpm it is.'),
    run('pnpm vitest run src/routes/login.test.ts', 1, NO_DATABASE),
    say('The tests want a database on 5432. The compose file has one.'),
    run('cat .env.test', 0, `DATABASE_URL=${FAKE_PASSWORD_URL}\nLOG_LEVEL=warn\n`),
    run('docker compose up -d --wait db', 0, ' Container harbor-api-db-1  Healthy\n'),
    run(
      'pnpm vitest run src/routes/login.test.ts',
      0,
      ' ✓ src/routes/login.test.ts (4 tests) 212ms\n\n Test Files  1 passed (1)\n      Tests  4 passed (4)\n',
    ),
    create(
      'src/auth/attempts.ts',
      'const WINDOW_MS = 60_000;\nconst LIMIT = 5;\n\n/** Counts failed logins of an account within a minute. */\nexport function tooMany(times: readonly number[], now: number): boolean {\n  return times.filter((time) => now - time < WINDOW_MS).length >= LIMIT;\n}\n',
    ),
    edit('src/routes/login.ts', [
      '-  const account = await verify(request.name, request.password);',
      '+  if (tooMany(await attempts.of(request.name), clock.now())) return tooManyRequests(60);',
      '+  const account = await verify(request.name, request.password);',
    ]),
    run(
      'pnpm vitest run src/routes/login.test.ts',
      0,
      ' ✓ src/routes/login.test.ts (6 tests) 240ms\n\n Test Files  1 passed (1)\n      Tests  6 passed (6)\n',
    ),
    run('pnpm check', 0, '$ biome check . && tsc --noEmit\nChecked 84 files in 61ms. No fixes applied.\n'),
    answer('POST /login now answers 429 with Retry-After: 60 after five attempts a minute. Tests and checks pass.'),
    user('Great, thanks. I prefer small commits with one change each, so commit the helper and the route apart.'),
    run('git add src/auth/attempts.ts && git commit -qm "Count failed logins of an account"', 0, ''),
    run('git add -A && git commit -qm "Limit login attempts to five a minute"', 0, ''),
    answer('Two commits: the counter, then the route.'),
  ],
};

const flakyTest: Session = {
  key: 'harbor-flaky-test',
  project,
  format: { agent: 'codex', version: '0.107.0', model: 'gpt-5.3-codex', originator: 'codex_cli_rs' },
  startedAt: '2026-10-15T13:30:02.004Z',
  steps: [
    user('bookings.test.ts fails about once in ten runs on CI. Find out why and fix it.'),
    say('Running the file a few times to see the failure.'),
    run('npm test -- src/routes/bookings.test.ts', 1, NO_NPM),
    say('This repository wants pnpm.'),
    run('pnpm vitest run src/routes/bookings.test.ts', 1, NO_DATABASE.replaceAll('login', 'bookings')),
    run('docker compose up -d --wait db', 0, ' Container harbor-api-db-1  Healthy\n'),
    run(
      'for i in $(seq 10); do pnpm vitest run src/routes/bookings.test.ts || exit 1; done',
      1,
      ' FAIL  src/routes/bookings.test.ts > lists bookings of a day\nAssertionError: expected [ 2 items ] to have a length of 3 but got 2\n',
    ),
    run(
      "sed -n '1,40p' src/routes/bookings.test.ts",
      0,
      "const today = new Date();\n\nit('lists bookings of a day', async () => {\n  await book(today, 3);\n  expect(await list(today)).toHaveLength(3);\n});\n",
    ),
    say('The test takes the day from the wall clock, so it breaks when a run crosses midnight UTC.'),
    edit('src/routes/bookings.test.ts', [
      '-const today = new Date();',
      "+const today = new Date('2026-03-03T12:00:00Z');",
    ]),
    run(
      'for i in $(seq 10); do pnpm vitest run src/routes/bookings.test.ts || exit 1; done',
      0,
      ' Test Files  1 passed (1)\n      Tests  9 passed (9)\n',
    ),
    answer('The day came from the wall clock; it is fixed to a date now. Ten runs in a row pass.'),
    user('Good. From now on, never take the current time in a test, always pass a fixed clock.'),
    run(
      'rg -n "new Date\\(\\)|Date.now\\(\\)" src --glob "*.test.ts"',
      0,
      'src/routes/berths.test.ts:11:  const now = Date.now();\n',
    ),
    edit('src/routes/berths.test.ts', [
      '-  const now = Date.now();',
      "+  const now = Date.parse('2026-03-03T12:00:00Z');",
    ]),
    run(
      'pnpm vitest run src/routes/berths.test.ts',
      0,
      ' ✓ src/routes/berths.test.ts (7 tests) 188ms\n\n Test Files  1 passed (1)\n',
    ),
    answer('One more test used the wall clock; it has a fixed time now.'),
    user('Always show me the plan before you change more than three files.'),
    answer('Noted. This change touched two files.'),
  ],
};

const migration: Session = {
  key: 'harbor-migration',
  project: { ...project, branch: 'berth-length' },
  format: {
    agent: 'claude',
    version: '2.1.174',
    model: 'claude-sonnet-4-6',
    title: 'Add a length column to berths',
  },
  startedAt: '2026-10-27T08:05:31.220Z',
  steps: [
    user('Berths need a length in centimetres. Add a migration, the column to the type, and show it in GET /berths.'),
    say('I will read the last migration for its style.'),
    run('ls migrations | tail -2', 0, '0011_bookings_index.sql\n0012_accounts_locked.sql\n'),
    create('migrations/0013_berths_length.sql', 'ALTER TABLE berths ADD COLUMN length_cm integer;\n'),
    run('npm run migrate', 1, NO_NPM),
    run(
      'pnpm migrate',
      1,
      'Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1637:16)\n',
    ),
    run('docker compose up -d --wait db', 0, ' Container harbor-api-db-1  Healthy\n'),
    run('pnpm migrate', 0, 'applied 0013_berths_length.sql\n'),
    edit('src/routes/berths.ts', [
      '-  return rows.map(({ id, name }) => ({ id, name }));',
      '+  return rows.map(({ id, name, length_cm }) => ({ id, name, length_cm }));',
    ]),
    run(
      'pnpm install',
      1,
      ' ERR_PNPM_FETCH_401  GET https://npm.pkg.github.com/@quayside%2Fwire: Unauthorized - 401\n',
    ),
    answer(
      'The column and the route are done. The new private package @quayside/wire cannot be fetched without a token.',
    ),
    user(
      `Use this token for the private registry: ${FAKE_GITHUB_TOKEN}\nDon't write it into any file, export it as NODE_AUTH_TOKEN only.`,
    ),
    run('pnpm install', 0, 'Packages: +1\n+ @quayside/wire 2.4.0\nDone in 1.9s\n'),
    run(
      'pnpm vitest run src/routes/berths.test.ts',
      0,
      ' ✓ src/routes/berths.test.ts (8 tests) 190ms\n\n Test Files  1 passed (1)\n      Tests  8 passed (8)\n',
    ),
    answer('Installed with the token from the environment. Migration applied, eight berth tests pass.'),
    user('No, the column must not be nullable. Use NOT NULL with a default of 0 instead.'),
    edit('migrations/0013_berths_length.sql', [
      '-ALTER TABLE berths ADD COLUMN length_cm integer;',
      '+ALTER TABLE berths ADD COLUMN length_cm integer NOT NULL DEFAULT 0;',
    ]),
    run('pnpm migrate:redo', 0, 'reverted 0013_berths_length.sql\napplied 0013_berths_length.sql\n'),
    run('pnpm check', 0, '$ biome check . && tsc --noEmit\nChecked 86 files in 64ms. No fixes applied.\n'),
    answer('length_cm is NOT NULL DEFAULT 0 now; the migration was redone and the checks pass.'),
    user('Perfect, thank you.'),
    answer('You are welcome.'),
  ],
};

const idempotency: Session = {
  key: 'harbor-idempotency',
  project,
  format: { agent: 'codex', version: '0.146.0', model: 'gpt-5.6-sol', originator: 'codex-tui' },
  startedAt: '2026-11-10T15:40:19.730Z',
  steps: [
    user('POST /bookings must be idempotent: same Idempotency-Key, same answer. Use Redis for the keys.'),
    say('I will check what is there for Redis, then write the store.'),
    run('rg -n "redis" package.json src || true', 0, ''),
    run('pnpm add ioredis@5', 0, 'dependencies:\n+ ioredis 5.8.2\nDone in 2.2s\n'),
    create(
      'src/idempotency/keys.ts',
      "import { Redis } from 'ioredis';\n\nexport class KeyStore {\n  readonly #redis: Redis;\n  constructor(redis: Redis) {\n    this.#redis = redis;\n  }\n}\n",
    ),
    user('Actually, use Postgres instead of Redis for the keys. We do not run Redis in production.'),
    say('Then a table with a unique key will do. I take the Redis package out again.'),
    run('pnpm remove ioredis', 0, 'dependencies:\n- ioredis 5.8.2\nDone in 1.1s\n'),
    create(
      'migrations/0014_idempotency_keys.sql',
      'CREATE TABLE idempotency_keys (\n  key text PRIMARY KEY,\n  answer jsonb NOT NULL,\n  created_at timestamptz NOT NULL DEFAULT now()\n);\n',
    ),
    edit('src/idempotency/keys.ts', ["-import { Redis } from 'ioredis';", "+import type { Pool } from 'pg';"]),
    spawn('race_test', 'Added src/idempotency/keys.race.test.ts; it fails without the unique key and passes with it.'),
    run('ls backups', 0, `2026-11-01.dump\nexport-${FAKE_AWS_KEY_ID}.dump\n`),
    run('pnpm vitest run src/idempotency', 1, 'Error: connect ECONNREFUSED 127.0.0.1:5432\n'),
    run('docker compose up -d --wait db', 0, ' Container harbor-api-db-1  Healthy\n'),
    run(
      'pnpm vitest run src/idempotency',
      0,
      ' ✓ src/idempotency/keys.test.ts (5 tests) 301ms\n ✓ src/idempotency/keys.race.test.ts (1 test) 420ms\n\n Test Files  2 passed (2)\n',
    ),
    run(
      'pnpm check',
      2,
      "src/idempotency/keys.ts(14,7): error TS2322: Type 'string | undefined' is not assignable to type 'string'.\n",
    ),
    edit('src/idempotency/keys.ts', [
      '-  const key: string = request.header(NAME);',
      '+  const key = request.header(NAME) ?? missingKey();',
    ]),
    run('pnpm check', 0, '$ biome check . && tsc --noEmit\nChecked 91 files in 70ms. No fixes applied.\n'),
    answer('Keys live in Postgres now, with a unique key against races. Six tests and the checks pass.'),
    user('Thanks, that works.'),
    answer('Good. The migration is 0014.'),
  ],
};

const raceTest: Session = {
  key: 'harbor-idempotency-race-test',
  project,
  format: { agent: 'codex', version: '0.146.0', model: 'gpt-5.6-luna', originator: 'codex-tui' },
  startedAt: '2026-11-10T15:52:44.090Z',
  parent: { session: idempotency, agentPath: '/root/race_test', nickname: 'Kepler' },
  steps: [
    user('Write a test that sends the same Idempotency-Key twice at once and expects one booking.'),
    run(
      'cat src/idempotency/keys.ts',
      0,
      "import type { Pool } from 'pg';\n\nexport class KeyStore {\n  readonly #pool: Pool;\n}\n",
    ),
    create(
      'src/idempotency/keys.race.test.ts',
      "it('books once for two requests with one key', async () => {\n  const answers = await Promise.all([post(KEY), post(KEY)]);\n  expect(new Set(answers.map((answer) => answer.id)).size).toBe(1);\n});\n",
    ),
    run('pnpm vitest run src/idempotency/keys.race.test.ts', 1, 'AssertionError: expected 2 to be 1\n'),
    edit('migrations/0014_idempotency_keys.sql', ['-  key text,', '+  key text PRIMARY KEY,']),
    run(
      'pnpm vitest run src/idempotency/keys.race.test.ts',
      0,
      ' ✓ src/idempotency/keys.race.test.ts (1 test) 420ms\n',
    ),
    wait(1),
    answer('Added src/idempotency/keys.race.test.ts; it fails without the unique key and passes with it.'),
  ],
};

export const HARBOR_API: readonly Session[] = [loginLimit, flakyTest, migration, idempotency, raceTest];
