import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

/** Calls that wait for a socket do not show as load: there are more sockets than one process has work at once (user case C30). */
const MAX_SOCKETS = 200;

/**
 * How a process talks to S3. A call is tried twice at most, so a socket that went stale while the process was frozen costs one
 * immediate retry (user case C31). Checksums are ours: SHA-256, given by each request and checked by each reader, instead of
 * the SDK's own CRC32.
 */
export function objectClientConfig() {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return {
    maxAttempts: 2,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 2_000,
      /** Until the answer begins; a part of an upload has 8 MB. */
      requestTimeout: 12_000,
      throwOnRequestTimeout: true,
      /** Silence on a socket, also in the middle of a body. */
      socketTimeout: 30_000,
      httpAgent: agent,
      httpsAgent: agent,
    },
  } as const satisfies S3ClientConfig;
}

/** The one S3 client of a process. Region, credentials and endpoint come from the environment. */
export function createObjectClient(): S3Client {
  return new S3Client(objectClientConfig());
}
