import { S3Client } from '@aws-sdk/client-s3';

/** Calls that wait for a socket do not show as load; so there are more sockets than one process has work at once (user case C30). */
const MAX_SOCKETS = 200;

/**
 * The one S3 client of a process. Region, credentials and endpoint come from the environment.
 *
 * A call is tried twice at most, so a socket that went stale while the process was frozen costs one immediate retry (user case
 * C31). Checksums are ours: SHA-256, given by each request and checked by each reader, instead of the SDK's own CRC32.
 */
export function createObjectClient(): S3Client {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return new S3Client({
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
  });
}
