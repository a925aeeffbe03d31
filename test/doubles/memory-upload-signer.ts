import { requireThreadId } from '../../core/ids.ts';
import type { SignedUpload, UploadSigner, UploadToSign } from '../../core/ports/upload-signer.ts';
import { requireUpload, UPLOAD_VALID_MS } from '../../core/thread/upload-limits.ts';

/** Signs for a host that does not exist; keeps what was signed. */
export class MemoryUploadSigner implements UploadSigner {
  readonly signed: { readonly userKey: string; readonly threadId: string; readonly upload: UploadToSign }[] = [];

  async sign(userKey: string, threadId: string, upload: UploadToSign): Promise<SignedUpload> {
    requireThreadId(threadId);
    requireUpload(upload);
    this.signed.push({ userKey, threadId, upload });
    return {
      method: 'PUT',
      url: `https://uploads.invalid/${userKey}/${threadId}?signature=${this.signed.length}`,
      headers: {
        'x-hints': encodeURIComponent(JSON.stringify(upload.hints)),
        ...(upload.bytes === null ? {} : { 'content-length': String(upload.bytes) }),
        ...(upload.sha256 === null ? {} : { 'x-sha256': upload.sha256 }),
      },
      expiresAt: upload.now + UPLOAD_VALID_MS,
    };
  }
}
