import * as z from 'zod';
import { unknownKeys } from './context-keys.ts';

/** A value of the context that cannot be used. The message names every key and what it may be. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The name of an issuer that no token can come from: lets a template be made and looked at before an issuer is chosen. */
export const NO_ISSUER = 'https://issuer.invalid';

/** As CloudWatch Logs offers them. */
const LOG_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const text = z.string().trim().min(1);
const https = z.url({ protocol: /^https$/, error: 'must be an https address' });
const arn = (service: string, resource: string, form: string): z.ZodType<string> =>
  z.string().regex(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z]{2}(-[a-z]+)+-\\d:\\d{12}:${resource}$`), {
    error: `must be an ARN such as arn:aws:${service}:eu-central-1:111122223333:${form}`,
  });
/** An alias can be pointed at another key, which policies and stores would not follow. */
const keyArn = arn('kms', 'key/[\\w-]{1,128}', 'key/<id>; of an alias, aws kms describe-key tells the key');
/** An issuer is compared with `iss` letter by letter, and its keys are looked up below its path (OpenID Connect Discovery). */
const issuer = https.refine((value) => /^https:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/.test(value), {
  error: 'must be an https address without user, query or fragment',
});
const audiences = text.refine((value) => value.split(',').every((item) => item.trim() !== ''), {
  error: 'must be audiences with commas between them, none of them empty',
});
/** The command line gives text, `cdk.json` may give numbers. */
const whole = (min: number, max: number): z.ZodType<number> =>
  z.coerce.number({ error: 'must be a number' }).int().min(min).max(max);

const shape = z.object({
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,11}$/, { error: 'must be 1 to 12 of a-z, 0-9 and -, a letter first' })
    .default('dev'),
  account: z
    .string()
    .regex(/^\d{12}$/, { error: 'must be 12 digits' })
    .optional(),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, { error: 'must be a region such as eu-central-1' })
    .optional(),
  auth: z.enum(['jwt', 'iam']).default('jwt'),
  'jwt-issuer': issuer.default(NO_ISSUER),
  'jwt-audience': audiences.default('stillroom'),
  'user-claim': z
    .string()
    .regex(/^[\w:./-]{1,128}$/, { error: 'must be the name of a claim' })
    .default('sub'),
  'model-base-url': https.optional(),
  'model-api': z.enum(['responses', 'chat']).default('responses'),
  'extract-model': text.default('gpt-5.4-mini'),
  'consolidation-model': text.default('gpt-5.4'),
  'model-secret-arn': arn('secretsmanager', 'secret:[\\w/+=.@-]+', 'secret:<name>').optional(),
  'daily-token-budget': whole(0, 1_000_000_000).optional(),
  'one-shot-tokens': whole(0, 200_000).optional(),
  // A rollout must outlive its way to an extraction: the idle wait, a spent budget, an outage of the provider.
  'rollout-retention-days': whole(3, 3_650).default(30),
  // Readers promise 90 days of history (core/settings.ts), so nothing may go earlier.
  'history-days': whole(90, 3_650).default(90),
  'log-days': whole(1, 3_653)
    .refine((days) => LOG_DAYS.includes(days), { error: `must be one of ${LOG_DAYS.join(', ')}` })
    .default(30),
  'kms-key-arn': keyArn.optional(),
  'alarm-email': z.email({ error: 'must be an e-mail address' }).optional(),
  'alarm-topic-arn': arn('sns', '[\\w-]+', '<topic>').optional(),
  'extraction-concurrency': whole(2, 1_000).default(8),
  removal: z.enum(['retain', 'destroy']).default('retain'),
});

type Context = z.output<typeof shape>;

/** Every key of the context that means something here. */
export const CONTEXT_KEYS: readonly string[] = Object.keys(shape.shape);

export type IdentityConfig =
  | { readonly mode: 'jwt'; readonly issuer: string; readonly audience: readonly string[]; readonly userClaim: string }
  | { readonly mode: 'iam' };

export interface ModelConfig {
  /** Undefined: the provider's own address. */
  readonly baseUrl: string | undefined;
  readonly api: 'responses' | 'chat';
  readonly extractModel: string;
  readonly consolidationModel: string;
  /** Undefined: the stack makes a secret. */
  readonly secretArn: string | undefined;
  /** Tokens a user and day; undefined: the default of the core. */
  readonly dailyTokenBudget: number | undefined;
  /** Undefined: the built-in limit. */
  readonly oneShotTokens: number | undefined;
}

/** What one deployment is made of; see docs/deploy.md for each key. */
export interface DeployConfig {
  readonly stage: string;
  readonly account: string | undefined;
  readonly region: string | undefined;
  readonly identity: IdentityConfig;
  readonly model: ModelConfig;
  readonly rolloutRetentionDays: number;
  readonly historyDays: number;
  readonly logDays: number;
  readonly kmsKeyArn: string | undefined;
  readonly alarmEmail: string | undefined;
  readonly alarmTopicArn: string | undefined;
  readonly extractionConcurrency: number;
  /** True only where somebody asked for it, and only for the stage `dev`. */
  readonly destroyData: boolean;
}

/**
 * Reads the configuration from the CDK context.
 * @param context every key of it, those of the CDK as well
 * @throws ConfigError that names every key with a fault
 */
export function readConfig(context: Readonly<Record<string, unknown>>): DeployConfig {
  const given = Object.fromEntries(Object.entries(context).filter(([, value]) => isGiven(value)));
  const parsed = shape.safeParse(given);
  const issues = parsed.error?.issues ?? [];
  const faults = [
    ...unknownKeys(Object.keys(given), CONTEXT_KEYS),
    ...issues.map(({ path, message }) => `context ${path.join('.')}: ${message}`),
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join('\n'));
  checkTogether(parsed.data);
  return toConfig(parsed.data);
}

/** An empty value on the command line is no value. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function checkTogether(context: Context): void {
  if (context.removal === 'destroy' && context.stage !== 'dev') {
    throw new ConfigError('context removal: destroy is for the stage dev only; other stages keep their data');
  }
  if (context['alarm-email'] !== undefined && context['alarm-topic-arn'] !== undefined) {
    throw new ConfigError(
      'context alarm-email: not together with alarm-topic-arn; subscribe the address to that topic',
    );
  }
  if (context.account !== undefined && context.region === undefined) {
    throw new ConfigError('context region: needed where account is given');
  }
  const keyRegion = context['kms-key-arn']?.split(':')[3];
  if (keyRegion !== undefined && context.region !== undefined && keyRegion !== context.region) {
    throw new ConfigError(`context kms-key-arn: a key of ${keyRegion} cannot be used in ${context.region}`);
  }
}

function toConfig(context: Context): DeployConfig {
  return {
    stage: context.stage,
    account: context.account,
    region: context.region,
    identity:
      context.auth === 'iam'
        ? { mode: 'iam' }
        : {
            mode: 'jwt',
            issuer: context['jwt-issuer'],
            audience: context['jwt-audience'].split(',').map((item) => item.trim()),
            userClaim: context['user-claim'],
          },
    model: {
      baseUrl: context['model-base-url'],
      api: context['model-api'],
      extractModel: context['extract-model'],
      consolidationModel: context['consolidation-model'],
      secretArn: context['model-secret-arn'],
      dailyTokenBudget: context['daily-token-budget'],
      oneShotTokens: context['one-shot-tokens'],
    },
    rolloutRetentionDays: context['rollout-retention-days'],
    historyDays: context['history-days'],
    logDays: context['log-days'],
    kmsKeyArn: context['kms-key-arn'],
    alarmEmail: context['alarm-email'],
    alarmTopicArn: context['alarm-topic-arn'],
    extractionConcurrency: context['extraction-concurrency'],
    destroyData: context.removal === 'destroy',
  };
}
