import { S3Client } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, it } from 'vitest';
import { createObjectClient } from '../../../adapters/s3/client.ts';
import { S3UploadSigner } from '../../../adapters/s3/presign-upload.ts';
import { sha256Hex } from '../../../core/ids.ts';
import type { UploadToSign } from '../../../core/ports/upload-signer.ts';
import { NO_HINTS } from '../../../core/thread/thread.ts';

const NOW = Date.UTC(2026, 10, 30, 8, 0, 0);
/** As a function finds it. */
const ENVIRONMENT = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
const upload: UploadToSign = {
  bytes: 3,
  sha256: sha256Hex('abc'),
  hints: { ...NO_HINTS, cwd: '/a b', ended: true },
  now: NOW,
};

function signerOf(client: S3Client = new S3Client({ region: 'eu-central-1', credentials })): S3UploadSigner {
  return new S3UploadSigner(client, 'rollouts');
}

describe('a presigned upload', () => {
  it('is signed with every header it names, for its key and 15 minutes', async () => {
    const { url, headers, expiresAt } = await signerOf().sign('~Wm_Dqw', 't1', upload);
    const { searchParams, pathname, host } = new URL(url);
    expect(host).toContain('rollouts.s3.');
    expect(decodeURIComponent(pathname)).toBe('/rollouts/~Wm_Dqw/t1.jsonl');
    expect(searchParams.get('X-Amz-SignedHeaders')?.split(';').sort()).toEqual(
      [...Object.keys(headers), 'host'].sort(),
    );
    expect(searchParams.get('X-Amz-Expires')).toBe('900');
    expect(searchParams.get('X-Amz-Date')).toBe('20261130T080000Z');
    expect(expiresAt).toBe(NOW + 900_000);
  });

  it('hides nothing in the address: no metadata, no checksum of an empty body', async () => {
    Object.assign(process.env, ENVIRONMENT);
    const { url } = await signerOf(createObjectClient()).sign('user1', 't1', upload);
    const names = [...new URL(url).searchParams.keys()].map((name) => name.toLowerCase());
    expect(names.filter((name) => /^x-amz-(meta|checksum|sdk-checksum)/.test(name))).toEqual([]);
    const bare = await signerOf(createObjectClient()).sign('user1', 't1', { ...upload, bytes: null, sha256: null });
    expect(bare.url).not.toContain('checksum');
  });

  it.each([
    ['size', { ...upload, bytes: 4 }],
    ['checksum', { ...upload, sha256: sha256Hex('abd') }],
    ['hints', { ...upload, hints: NO_HINTS }],
    ['time', { ...upload, now: NOW + 1_000 }],
  ])('has another signature for another %s', async (_name, other) => {
    const signatureOf = async (what: UploadToSign) => {
      const { url } = await signerOf().sign('user1', 't1', what);
      return new URL(url).searchParams.get('X-Amz-Signature');
    };
    expect(await signatureOf(upload)).toBe(await signatureOf({ ...upload }));
    expect(await signatureOf(other)).not.toBe(await signatureOf(upload));
  });
});
