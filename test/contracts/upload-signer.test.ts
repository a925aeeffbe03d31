import { S3Client } from '@aws-sdk/client-s3';
import { S3UploadSigner } from '../../adapters/s3/presign-upload.ts';
import { MemoryUploadSigner } from '../doubles/memory-upload-signer.ts';
import { uploadSignerContract } from './upload-signer.contract.ts';

uploadSignerContract('in memory', async () => new MemoryUploadSigner());

uploadSignerContract('S3', async () => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  return new S3UploadSigner(new S3Client({ region: 'eu-central-1', credentials }), 'rollouts');
});
