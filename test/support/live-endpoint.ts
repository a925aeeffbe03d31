/** What decides where the SDK sends its requests. */
export type Variables = Readonly<Record<string, string | undefined>>;

const ENDPOINT = /^AWS_ENDPOINT_URL(?:_[A-Z0-9_]+)?$/;

/** What the suite gives away to an emulator: never the keys of an account. */
const EMULATOR_ACCESS = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_SESSION_TOKEN: '',
  AWS_PROFILE: '',
} as const;

/**
 * Lets the live suite run against an emulator only: it makes tables, buckets, queues and secrets, and an account pays for
 * them. `STILLROOM_LIVE=1` allows an account.
 * @throws Error that says what to set
 */
export function requireEmulator(variables: Variables): void {
  if (variables['STILLROOM_LIVE'] === '1') return;
  if ((variables['AWS_ENDPOINT_URL'] ?? '') === '')
    throw new Error(
      'set AWS_ENDPOINT_URL to an AWS-compatible emulator, such as http://127.0.0.1:5000, or STILLROOM_LIVE=1 to use your AWS account',
    );
  if (variables['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'] === 'true')
    throw new Error(
      'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true leads past AWS_ENDPOINT_URL to your AWS account: unset it',
    );
  for (const [name, value = ''] of Object.entries(variables))
    if (ENDPOINT.test(name) && value !== '' && isAws(value))
      throw new Error(`${name} is AWS itself: set STILLROOM_LIVE=1 if the suite may use your AWS account`);
}

/** The environment of a run: keys that mean nothing for an emulator, the caller's own for an account. */
export function accessOf(variables: Variables = process.env): Record<string, string> {
  const region = variables['AWS_REGION'] ?? '';
  const common = region === '' ? { AWS_REGION: 'us-east-1' } : {};
  return variables['STILLROOM_LIVE'] === '1' ? common : { ...common, ...EMULATOR_ACCESS };
}

/** Vitest calls it once before a run. */
export async function setup(): Promise<void> {
  try {
    requireEmulator(process.env);
    await requireAnswer(process.env['AWS_ENDPOINT_URL'] ?? '');
  } catch (error) {
    // A sentence for a person, who has no use for where it was thrown.
    if (error instanceof Error) error.stack = '';
    throw error;
  }
}

async function requireAnswer(url: string): Promise<void> {
  if (url === '') return;
  try {
    await (await fetch(url)).arrayBuffer();
  } catch (cause) {
    throw new Error(`nothing answers at AWS_ENDPOINT_URL ${url}`, { cause });
  }
}

function isAws(url: string): boolean {
  const { hostname } = new URL(url);
  return ['amazonaws.com', 'amazonaws.com.cn', 'api.aws'].some(
    (domain) => hostname === domain || hostname.endsWith(`.${domain}`),
  );
}
