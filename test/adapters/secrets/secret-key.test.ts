import {
  DecryptionFailure,
  GetSecretValueCommand,
  InternalServiceError,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecretsClient } from '../../../adapters/secrets/client.ts';
import { KEY_MAX_AGE_MS, SecretKey } from '../../../adapters/secrets/secret-key.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { NOW } from '../../support/sample-state.ts';

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:model-key-a1b2c3';
const OLD = ['sk', 'old', '0123456789'].join('-');
const NEW = ['sk', 'new', '9876543210'].join('-');

const secrets = mockClient(SecretsManagerClient);
const clock = new FixedClock(NOW);
beforeEach(() => clock.set(NOW));
afterEach(() => secrets.reset());

function open(): SecretKey {
  return new SecretKey(new SecretsManagerClient({ region: 'eu-west-1' }), ARN, clock);
}

function answer(...strings: readonly (string | undefined)[]): void {
  let chain = secrets.on(GetSecretValueCommand, { SecretId: ARN });
  for (const SecretString of strings) chain = chain.resolvesOnce(SecretString === undefined ? {} : { SecretString });
  chain.rejects(new Error('one read too many'));
}

function reads(): number {
  return secrets.commandCalls(GetSecretValueCommand).length;
}

describe('SecretKey', () => {
  it.each([
    ['the key alone', OLD],
    ['the key with white space around it', `  ${OLD}\n`],
    ['JSON', JSON.stringify({ api_key: OLD, note: 'of the team' })],
  ])('reads %s', async (_name, secret) => {
    answer(secret);
    expect(await open().current()).toBe(OLD);
  });

  it('reads once for the life of the process, also when many ask at once', async () => {
    answer(OLD);
    const key = open();
    expect(await Promise.all([key.current(), key.current(), key.current()])).toEqual([OLD, OLD, OLD]);
    clock.advance(KEY_MAX_AGE_MS - 1);
    expect(await key.current()).toBe(OLD);
    expect(reads()).toBe(1);
  });

  it('reads anew after a quarter of an hour', async () => {
    answer(OLD, NEW);
    const key = open();
    await key.current();
    clock.advance(KEY_MAX_AGE_MS);
    expect(await key.current()).toBe(NEW);
  });

  it('reads anew when asked to, once for all that ask at once', async () => {
    answer(OLD, NEW);
    const key = open();
    await key.current();
    expect(await Promise.all([key.refresh(), key.refresh()])).toEqual([NEW, NEW]);
    expect(await key.current()).toBe(NEW);
    expect(reads()).toBe(2);
  });

  it('keeps an old key in use while Secrets Manager is out, and says so when asked for a fresh one', async () => {
    const outage = new InternalServiceError({ message: 'out', $metadata: {} });
    secrets.on(GetSecretValueCommand).resolvesOnce({ SecretString: OLD }).rejects(outage);
    const key = open();
    await key.current();
    clock.advance(KEY_MAX_AGE_MS);
    expect(await key.current()).toBe(OLD);
    await expect(key.refresh()).rejects.toMatchObject({ kind: 'unavailable', code: 'secret.unavailable' });
  });

  it('tries again after a failed first read', async () => {
    const outage = new InternalServiceError({ message: 'out', $metadata: {} });
    secrets.on(GetSecretValueCommand).rejectsOnce(outage).resolves({ SecretString: OLD });
    const key = open();
    await expect(key.current()).rejects.toMatchObject({ code: 'secret.unavailable' });
    expect(await key.current()).toBe(OLD);
  });

  it.each([
    new ResourceNotFoundException({ message: 'none', $metadata: {} }),
    new DecryptionFailure({ message: 'kms', $metadata: {} }),
  ])('$name is a defect of the deployment', async (fault) => {
    secrets.on(GetSecretValueCommand).rejects(fault);
    await expect(open().current()).rejects.toMatchObject({
      kind: 'defect',
      code: 'secret.unreadable',
      details: { reason: fault.name },
    });
  });

  it.each([
    ['nothing', undefined],
    ['white space', ' \n '],
    ['JSON without the field', JSON.stringify({ key: OLD })],
    ['JSON with a number', JSON.stringify({ api_key: 5 })],
    ['a cut JSON', `{"api_key":"${OLD}`],
    ['two lines', `${OLD}\n${NEW}`],
  ])('%s is no key, and the error does not show it', async (_name, secret) => {
    answer(secret);
    const failure: unknown = await open()
      .current()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'defect', code: 'secret.no_key' });
    const shown =
      failure instanceof Error ? `${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}` : '';
    expect(shown).not.toContain(OLD);
  });

  it('has a client that retries at most once', async () => {
    expect(await createSecretsClient().config.maxAttempts()).toBe(2);
  });
});
