import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** A secret is small and near: what takes longer than this is not coming. */
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 3_000;

/** The process's client. Region, credentials and endpoint come from the environment; at most one retry. */
export function createSecretsClient(): SecretsManagerClient {
  return new SecretsManagerClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
}
