import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../core/errors.ts';
import { sha256Hex } from '../../core/ids.ts';
import type { UploadSigner, UploadToSign } from '../../core/ports/upload-signer.ts';
import { LIMITS } from '../../core/settings.ts';
import { NO_HINTS } from '../../core/thread/thread.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { NOW } from '../support/sample-state.ts';

const BARE: UploadToSign = { bytes: null, sha256: null, hints: NO_HINTS, now: NOW };
const invalid = (code: string) =>
  expect.toSatisfy((error) => error instanceof InvalidInputError && error.code === code);

/** What every UploadSigner must do. */
export function uploadSignerContract(name: string, openSigner: () => Promise<UploadSigner>): void {
  describe(`UploadSigner: ${name}`, () => {
    it('answers a PUT for 15 minutes to an address that differs by user and thread', async () => {
      const signer = await openSigner();
      const signed = await signer.sign('user1', 't1', BARE);
      expect(signed).toMatchObject({ method: 'PUT', expiresAt: NOW + 15 * MINUTE_MS });
      const paths = [signed, await signer.sign('user10', 't1', BARE), await signer.sign('user1', 't2', BARE)].map(
        ({ url }) => new URL(url).pathname,
      );
      expect(new Set(paths).size).toBe(3);
      expect(paths[0]).toContain('user1/t1');
    });

    it('has headers that HTTP can carry, whatever the uploader says of itself', async () => {
      const hints = { ...NO_HINTS, cwd: '/Zoë/日本 😀\n', gitBranch: 'x'.repeat(5_000), repository: '%%', ended: true };
      const upload = { ...BARE, hints, bytes: 3, sha256: sha256Hex('abc') };
      const { headers, url } = await (await openSigner()).sign('~Wm_Dqw', 't1', upload);
      expect(new Headers(headers).get('content-length')).toBe('3');
      for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
      expect(new URL(url).href).toBe(url);
    });

    it.each([
      ['a thread id that is no id', '../x', BARE, 'thread.invalid_id'],
      ['more than is read of a rollout', 't1', { ...BARE, bytes: LIMITS.rolloutBytes + 1 }, 'rollout.too_large'],
      ['a checksum that is none', 't1', { ...BARE, sha256: 'ABC' }, 'rollout.invalid_sha256'],
    ])('refuses %s', async (_name, threadId, upload, code) => {
      await expect((await openSigner()).sign('user1', threadId, upload)).rejects.toEqual(invalid(code));
    });
  });
}
