import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, describe, expect, it } from 'vitest';
import { createSecretsClient } from '../../adapters/secrets/client.ts';
import { KEY_MAX_AGE_MS, SecretKey } from '../../adapters/secrets/secret-key.ts';
import { FixedClock } from '../doubles/fixed-clock.ts';
import { liveName } from '../support/live-name.ts';
import { NOW } from '../support/sample-state.ts';

const OLD = ['sk', 'old', '0123456789'].join('-');
const NEW = ['sk', 'new', '9876543210'].join('-');

const client = createSecretsClient();
const made: string[] = [];
afterAll(async () => {
  for (const SecretId of made)
    await client.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
  client.destroy();
});

async function makeSecret(SecretString?: string): Promise<string> {
  const given = SecretString === undefined ? {} : { SecretString };
  const { ARN = '' } = await client.send(new CreateSecretCommand({ Name: liveName(), ...given }));
  made.push(ARN);
  return ARN;
}

describe('a key in Secrets Manager', () => {
  it('is read by its ARN, alone or in JSON', async () => {
    for (const secret of [OLD, ` ${OLD}\n`, JSON.stringify({ api_key: OLD })])
      expect(await new SecretKey(client, await makeSecret(secret), new FixedClock(NOW)).current()).toBe(OLD);
  });

  it('is read anew after a rotation, when asked for or when it has grown old', async () => {
    const clock = new FixedClock(NOW);
    const SecretId = await makeSecret(OLD);
    const [asked, aging] = [new SecretKey(client, SecretId, clock), new SecretKey(client, SecretId, clock)];
    for (const key of [asked, aging]) expect(await key.current()).toBe(OLD);
    await client.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify({ api_key: NEW }) }));
    expect(await asked.current()).toBe(OLD);
    expect(await asked.refresh()).toBe(NEW);
    clock.advance(KEY_MAX_AGE_MS);
    expect(await aging.current()).toBe(NEW);
  });

  it('is told from a secret that is not there, that has no value yet, and that holds no key', async () => {
    const clock = new FixedClock(NOW);
    const missing = new SecretKey(client, liveName(), clock).current();
    await expect(missing).rejects.toMatchObject({ kind: 'defect', code: 'secret.unreadable' });
    const empty = new SecretKey(client, await makeSecret(), clock).current();
    await expect(empty).rejects.toMatchObject({ kind: 'defect', code: 'secret.unreadable' });
    const SecretId = await makeSecret(OLD);
    await client.send(new UpdateSecretCommand({ SecretId, SecretString: '{"other":"field"}' }));
    const other = new SecretKey(client, SecretId, clock).current();
    await expect(other).rejects.toMatchObject({ kind: 'defect', code: 'secret.no_key' });
  });
});
