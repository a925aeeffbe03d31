import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as s3 from '@aws-sdk/client-s3';
import type { FakeS3 } from './fake-s3.ts';
import { xmlElement, xmlTexts } from './s3-xml.ts';

/** A request on its way to a command. */
interface Arrived {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

export interface S3Server {
  /** For `AWS_ENDPOINT_URL_S3`. An IP address, so that clients use path style. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The REST protocol of S3 in front of a `FakeS3`, for code that brings its own copy of the SDK, as a bundled function does.
 * Every request becomes a command to the fake, which refuses what it does not know; so does this.
 */
export async function startS3Server(fake: FakeS3): Promise<S3Server> {
  const server = createServer((incoming, outgoing) => {
    void serve(fake, incoming, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(fake: FakeS3, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  let answer: Answer;
  try {
    answer = await dispatch(fake, await arrive(incoming));
  } catch (error) {
    answer = answerOfError(error);
  }
  const headers = Object.entries(answer.headers ?? {}).filter(([, value]) => value !== undefined);
  outgoing.writeHead(answer.status, { 'x-amz-request-id': 'fake', ...Object.fromEntries(headers) });
  outgoing.end(incoming.method === 'HEAD' ? undefined : answer.body);
}

async function arrive(incoming: IncomingMessage): Promise<Arrived> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const url = new URL(incoming.url ?? '/', 'http://s3');
  const [, bucket = '', ...rest] = url.pathname.split('/');
  const key = decodeURIComponent(rest.join('/'));
  if (String(incoming.headers['x-amz-content-sha256']).startsWith('STREAMING-')) {
    throw new Error('S3 server: chunked signatures are not known');
  }
  const body = Buffer.concat(chunks);
  return { method: incoming.method ?? '', bucket, key, query: url.searchParams, headers: incoming.headers, body };
}

function dispatch(fake: FakeS3, request: Arrived): Promise<Answer> {
  const { method, key, query } = request;
  const of = (name: string): boolean => query.has(name);
  if (key === '') {
    if (method === 'GET' && query.get('list-type') === '2') return listObjects(fake, request);
    if (method === 'GET' && of('versions')) return listVersions(fake, request);
    if (method === 'GET' && of('uploads')) return listUploads(fake, request);
    if (method === 'POST' && of('delete')) return deleteObjects(fake, request);
  } else {
    if (method === 'PUT' && of('partNumber')) return uploadPart(fake, request);
    if (method === 'PUT') return putObject(fake, request);
    if (method === 'GET') return getObject(fake, request);
    if (method === 'HEAD') return headObject(fake, request);
    if (method === 'POST' && of('uploads')) return createUpload(fake, request);
    if (method === 'POST' && of('uploadId')) return completeUpload(fake, request);
    if (method === 'DELETE' && of('uploadId')) return abortUpload(fake, request);
    if (method === 'DELETE') return deleteObject(fake, request);
  }
  throw new Error(`S3 server: ${method} with ${[...query.keys()].join(', ') || 'no parameters'} is not known`);
}

const place = ({ bucket, key }: Arrived) => ({ Bucket: bucket, Key: key });

/** Only what was sent: the fake tells an absent parameter from an empty one. */
function given<T extends Record<string, unknown>>(values: T): { [K in keyof T]: Exclude<T[K], undefined | null> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined | null> };
}

function header(request: Arrived, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function metadataOf(request: Arrived): Record<string, string> | undefined {
  const entries = Object.entries(request.headers).flatMap(([name, value]) =>
    name.startsWith('x-amz-meta-') && typeof value === 'string' ? [[name.slice('x-amz-meta-'.length), value]] : [],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

async function putObject(fake: FakeS3, request: Arrived): Promise<Answer> {
  const stored = await fake.client.send(
    new s3.PutObjectCommand({
      ...place(request),
      Body: request.body,
      ContentLength: request.body.length,
      ...given({
        ContentType: header(request, 'content-type'),
        ChecksumSHA256: header(request, 'x-amz-checksum-sha256'),
        IfNoneMatch: header(request, 'if-none-match'),
        IfMatch: header(request, 'if-match'),
        Metadata: metadataOf(request),
      }),
    }),
  );
  return { status: 200, headers: { etag: stored.ETag, 'x-amz-version-id': stored.VersionId } };
}

function describe(found: s3.HeadObjectCommandOutput | s3.GetObjectCommandOutput): Record<string, string | undefined> {
  const metadata = Object.entries(found.Metadata ?? {}).map(([name, value]) => [`x-amz-meta-${name}`, value]);
  return {
    etag: found.ETag,
    'content-type': found.ContentType,
    'content-length': String(found.ContentLength),
    'content-range': 'ContentRange' in found ? found.ContentRange : undefined,
    'last-modified': found.LastModified?.toUTCString(),
    'x-amz-version-id': found.VersionId,
    'x-amz-checksum-sha256': found.ChecksumSHA256,
    ...Object.fromEntries(metadata),
  };
}

async function getObject(fake: FakeS3, request: Arrived): Promise<Answer> {
  const asked = given({ VersionId: request.query.get('versionId'), Range: header(request, 'range') });
  const found = await fake.client.send(new s3.GetObjectCommand({ ...place(request), ...asked }));
  const body = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
  return { status: found.ContentRange === undefined ? 200 : 206, headers: describe(found), body };
}

async function headObject(fake: FakeS3, request: Arrived): Promise<Answer> {
  const checksum = header(request, 'x-amz-checksum-mode') === 'ENABLED' ? ({ ChecksumMode: 'ENABLED' } as const) : {};
  const asked = given({ VersionId: request.query.get('versionId') });
  const found = await fake.client.send(new s3.HeadObjectCommand({ ...place(request), ...asked, ...checksum }));
  return { status: 200, headers: describe(found) };
}

async function deleteObject(fake: FakeS3, request: Arrived): Promise<Answer> {
  const asked = given({ VersionId: request.query.get('versionId') });
  const gone = await fake.client.send(new s3.DeleteObjectCommand({ ...place(request), ...asked }));
  const marker = gone.DeleteMarker === true ? 'true' : undefined;
  return { status: 204, headers: { 'x-amz-version-id': gone.VersionId, 'x-amz-delete-marker': marker } };
}

function xml(root: string, content: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body };
}

function listedXml(item: { Key?: string; Size?: number; ETag?: string; LastModified?: Date }): string {
  return (
    xmlElement('Key', item.Key) +
    xmlElement('LastModified', item.LastModified?.toISOString()) +
    xmlElement('ETag', item.ETag) +
    xmlElement('Size', item.Size)
  );
}

async function listObjects(fake: FakeS3, { bucket, query }: Arrived): Promise<Answer> {
  const asked = given({ Prefix: query.get('prefix'), ContinuationToken: query.get('continuation-token') });
  const maxKeys = query.get('max-keys');
  const limit = maxKeys === null ? {} : { MaxKeys: Number(maxKeys) };
  const page = await fake.client.send(new s3.ListObjectsV2Command({ Bucket: bucket, ...asked, ...limit }));
  const contents = (page.Contents ?? []).map((item) => `<Contents>${listedXml(item as object)}</Contents>`).join('');
  return xml(
    'ListBucketResult',
    contents +
      xmlElement('IsTruncated', page.IsTruncated) +
      xmlElement('KeyCount', page.KeyCount) +
      xmlElement('NextContinuationToken', page.NextContinuationToken),
  );
}

async function listVersions(fake: FakeS3, { bucket, query }: Arrived): Promise<Answer> {
  const asked = given({
    Prefix: query.get('prefix'),
    KeyMarker: query.get('key-marker'),
    VersionIdMarker: query.get('version-id-marker'),
  });
  const page = await fake.client.send(new s3.ListObjectVersionsCommand({ Bucket: bucket, ...asked }));
  const entry = (item: { VersionId?: string | undefined; IsLatest?: boolean | undefined }) =>
    xmlElement('VersionId', item.VersionId) + xmlElement('IsLatest', item.IsLatest);
  const versions = (page.Versions ?? []).map((item) => `<Version>${listedXml(item as object)}${entry(item)}</Version>`);
  const markers = (page.DeleteMarkers ?? []).map(
    (item) => `<DeleteMarker>${listedXml(item as object)}${entry(item)}</DeleteMarker>`,
  );
  return xml(
    'ListVersionsResult',
    [...versions, ...markers].join('') +
      xmlElement('IsTruncated', page.IsTruncated) +
      xmlElement('NextKeyMarker', page.NextKeyMarker) +
      xmlElement('NextVersionIdMarker', page.NextVersionIdMarker),
  );
}

async function deleteObjects(fake: FakeS3, { bucket, body }: Arrived): Promise<Answer> {
  const text = body.toString('utf8');
  const objects = xmlTexts(text, 'Object').map((object) => ({
    Key: xmlTexts(object, 'Key')[0] ?? '',
    ...given({ VersionId: xmlTexts(object, 'VersionId')[0] }),
  }));
  const quiet = xmlTexts(text, 'Quiet')[0] === 'true' ? { Quiet: true } : {};
  const done = await fake.client.send(
    new s3.DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, ...quiet } }),
  );
  const refused = (done.Errors ?? []).map(
    (item) => `<Error>${xmlElement('Key', item.Key)}${xmlElement('Code', item.Code)}</Error>`,
  );
  return xml('DeleteResult', refused.join(''));
}

async function listUploads(fake: FakeS3, { bucket, query }: Arrived): Promise<Answer> {
  const asked = given({
    Prefix: query.get('prefix'),
    KeyMarker: query.get('key-marker'),
    UploadIdMarker: query.get('upload-id-marker'),
  });
  const page = await fake.client.send(new s3.ListMultipartUploadsCommand({ Bucket: bucket, ...asked }));
  const uploads = (page.Uploads ?? []).map(
    (item) => `<Upload>${xmlElement('Key', item.Key)}${xmlElement('UploadId', item.UploadId)}</Upload>`,
  );
  return xml(
    'ListMultipartUploadsResult',
    uploads.join('') +
      xmlElement('IsTruncated', page.IsTruncated) +
      xmlElement('NextKeyMarker', page.NextKeyMarker) +
      xmlElement('NextUploadIdMarker', page.NextUploadIdMarker),
  );
}

async function createUpload(fake: FakeS3, request: Arrived): Promise<Answer> {
  const algorithm = header(request, 'x-amz-checksum-algorithm') === 'SHA256' ? ('SHA256' as const) : undefined;
  const asked = given({
    Metadata: metadataOf(request),
    ContentType: header(request, 'content-type'),
    ChecksumAlgorithm: algorithm,
  });
  const made = await fake.client.send(new s3.CreateMultipartUploadCommand({ ...place(request), ...asked }));
  return xml('InitiateMultipartUploadResult', xmlElement('UploadId', made.UploadId));
}

async function uploadPart(fake: FakeS3, request: Arrived): Promise<Answer> {
  const checksum = given({ ChecksumSHA256: header(request, 'x-amz-checksum-sha256') });
  const part = await fake.client.send(
    new s3.UploadPartCommand({
      ...place(request),
      UploadId: request.query.get('uploadId') ?? '',
      PartNumber: Number(request.query.get('partNumber')),
      Body: request.body,
      ContentLength: request.body.length,
      ...checksum,
    }),
  );
  return { status: 200, headers: { etag: part.ETag, 'x-amz-checksum-sha256': part.ChecksumSHA256 } };
}

async function completeUpload(fake: FakeS3, request: Arrived): Promise<Answer> {
  const parts = xmlTexts(request.body.toString('utf8'), 'Part').map((part) => ({
    PartNumber: Number(xmlTexts(part, 'PartNumber')[0]),
    ...given({ ETag: xmlTexts(part, 'ETag')[0], ChecksumSHA256: xmlTexts(part, 'ChecksumSHA256')[0] }),
  }));
  const stored = await fake.client.send(
    new s3.CompleteMultipartUploadCommand({
      ...place(request),
      UploadId: request.query.get('uploadId') ?? '',
      MultipartUpload: { Parts: parts },
    }),
  );
  const answer = xml('CompleteMultipartUploadResult', xmlElement('Key', stored.Key) + xmlElement('ETag', stored.ETag));
  return { ...answer, headers: { ...answer.headers, 'x-amz-version-id': stored.VersionId } };
}

async function abortUpload(fake: FakeS3, request: Arrived): Promise<Answer> {
  const uploadId = request.query.get('uploadId') ?? '';
  await fake.client.send(new s3.AbortMultipartUploadCommand({ ...place(request), UploadId: uploadId }));
  return { status: 204 };
}

/** A failure of S3 as its XML; anything else is a fault of the test and shows as one that nobody retries. */
function answerOfError(error: unknown): Answer {
  const isService = error instanceof s3.S3ServiceException;
  const status = isService ? (error.$metadata.httpStatusCode ?? 500) : 501;
  const code = isService ? error.name : 'NotImplemented';
  const message = error instanceof Error ? error.message : String(error);
  const body = `<?xml version="1.0"?><Error>${xmlElement('Code', code)}${xmlElement('Message', message)}</Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body };
}
