import * as z from 'zod/mini';
import { InvalidInputError } from '../../core/errors.ts';
import { decodeUtf8Strict } from '../../core/text.ts';
import { toInvalidInput } from './schema-faults.ts';

/** Largest JSON body, bytes. */
export const BODY_LIMIT_BYTES = 1_048_576;

/**
 * Reads and checks a JSON body.
 * @throws InvalidInputError `http.unsupported_media_type`, `http.body_too_large`, `http.invalid_json`, `http.unknown_field`,
 *   `http.invalid_field`
 */
export async function readJsonBody<Schema extends z.ZodMiniType>(
  request: Request,
  schema: Schema,
): Promise<z.output<Schema>> {
  requireJson(request.headers);
  const text = decodeUtf8Strict(await readBytes(request, BODY_LIMIT_BYTES));
  if (text === undefined) throw notJson('the body must be UTF-8');
  const parsed = z.safeParse(schema, parseJson(text));
  if (!parsed.success) throw toInvalidInput(parsed.error.issues, 'body');
  return parsed.data;
}

/**
 * The body's bytes; stops reading at the limit, whatever the headers claim.
 * @throws InvalidInputError `http.body_too_large`
 */
export async function readBytes(request: Request, limitBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > limitBytes) throw tooLarge(limitBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limitBytes) throw tooLarge(limitBytes); // leaving the loop cancels the stream
    chunks.push(chunk);
  }
  return concat(chunks, bytes);
}

function requireJson(headers: Headers): void {
  const [type, ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters.map((item) => item.trim()).find((item) => item.startsWith('charset='));
  const plain = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  if (type?.trim() !== 'application/json' || !plain) throw unsupported('content-type', 'application/json in UTF-8');
  const encoding = headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') throw unsupported('content-encoding', 'identity');
}

function unsupported(field: string, right: string): InvalidInputError {
  return new InvalidInputError('http.unsupported_media_type', `${field} must be ${right}`, { details: { field } });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson('the body must be one JSON value'); // the parser's message quotes the body, so it is not kept
  }
}

function notJson(message: string): InvalidInputError {
  return new InvalidInputError('http.invalid_json', message, { details: { in: 'body' } });
}

function tooLarge(limit: number): InvalidInputError {
  return new InvalidInputError('http.body_too_large', `the body must have at most ${limit} bytes`, {
    details: { in: 'body', limit },
  });
}

function concat(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
