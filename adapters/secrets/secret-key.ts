import {
  GetSecretValueCommand,
  type GetSecretValueCommandOutput,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { DefectError, UnavailableError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { MINUTE_MS } from '../../core/time.ts';

/** A rotated key is picked up within this time, also where the old one still works. */
export const KEY_MAX_AGE_MS = 15 * MINUTE_MS;

/** What a person must repair: the name, the policy, the encryption key. Everything else may pass by itself. */
const LASTING = new Set([
  'ResourceNotFoundException',
  'AccessDeniedException',
  'DecryptionFailure',
  'InvalidParameterException',
  'InvalidRequestException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'ValidationException',
]);

/** A key that can travel in a header. */
const KEY = /^[\x21-\x7e]{1,4096}$/;
const keyShape = z.object({ api_key: z.string() });

interface CachedKey {
  readonly key: string;
  readonly readAt: number;
}

/**
 * An API key kept in Secrets Manager: the secret's string is the key alone, or JSON `{ "api_key": "…" }`. Read when it is first
 * needed and kept for the life of the process, at most `KEY_MAX_AGE_MS`; callers at the same time share one read. A key that has
 * grown old stays in use while Secrets Manager is out. Errors name the reason, never the value.
 */
export class SecretKey {
  readonly #client: SecretsManagerClient;
  readonly #secretId: string;
  readonly #clock: Clock;
  #cached: CachedKey | undefined;
  #reading: Promise<string> | undefined;

  constructor(client: SecretsManagerClient, secretId: string, clock: Clock) {
    this.#client = client;
    this.#secretId = secretId;
    this.#clock = clock;
  }

  /**
   * The key as last read.
   * @throws UnavailableError `secret.unavailable`; DefectError `secret.unreadable` or `secret.no_key`
   */
  async current(): Promise<string> {
    const cached = this.#cached;
    if (cached !== undefined && this.#clock.now() - cached.readAt < KEY_MAX_AGE_MS) return cached.key;
    try {
      return await this.refresh();
    } catch (error) {
      if (cached !== undefined && error instanceof UnavailableError) return cached.key;
      throw error;
    }
  }

  /** Reads the key anew: the provider no longer takes the one we have. @throws as `current` */
  refresh(): Promise<string> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<string> {
    const answer = await this.#fetch();
    const key = readKey(answer.SecretString);
    if (key === undefined) {
      throw new DefectError('secret.no_key', 'the secret must be a key, or JSON with the field api_key');
    }
    this.#cached = { key, readAt: this.#clock.now() };
    return key;
  }

  async #fetch(): Promise<GetSecretValueCommandOutput> {
    try {
      return await this.#client.send(new GetSecretValueCommand({ SecretId: this.#secretId }));
    } catch (error) {
      const reason = error instanceof Error ? error.name : 'unknown';
      const options = { details: { reason }, cause: error };
      if (LASTING.has(reason)) throw new DefectError('secret.unreadable', 'the secret cannot be read', options);
      throw new UnavailableError('secret.unavailable', 'the secret cannot be read now', options);
    }
  }
}

/** @returns undefined for a secret that holds no key. Nothing of it enters an error: a parser's message may quote it. */
function readKey(secret: string | undefined): string | undefined {
  const text = secret?.trim() ?? '';
  const key = text.startsWith('{') ? readJsonKey(text)?.trim() : text;
  return key !== undefined && KEY.test(key) ? key : undefined;
}

function readJsonKey(text: string): string | undefined {
  try {
    return keyShape.safeParse(JSON.parse(text)).data?.api_key;
  } catch {
    return undefined; // the only failure: not JSON
  }
}
