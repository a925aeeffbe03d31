import * as z from 'zod/mini';
import { InvalidInputError } from '../../core/errors.ts';
import { toInvalidInput } from './schema-faults.ts';

/** How the text of a parameter becomes the value that its schema checks. */
export interface QueryShape<Schema extends z.ZodMiniType> {
  readonly schema: Schema;
  /** Parameters that are decimal whole numbers; what is not written as one stays text, and the schema refuses it. */
  readonly integers?: readonly string[];
}

/** A route that takes no parameters. */
export const noQuery = { schema: z.strictObject({}) };

/**
 * Reads and checks the query of a URL. Decoding is strict, once, `+` is a space.
 * @throws InvalidInputError `http.invalid_encoding`, `http.duplicate_parameter`, `http.unknown_field`, `http.invalid_field`
 */
export function readQuery<Schema extends z.ZodMiniType>(url: string, shape: QueryShape<Schema>): z.output<Schema> {
  const values = Object.fromEntries(
    [...splitQuery(url)].map(([name, text]) => [name, toValue(text, shape.integers?.includes(name) ?? false)]),
  );
  const parsed = z.safeParse(shape.schema, values);
  if (!parsed.success) throw toInvalidInput(parsed.error.issues, 'query');
  return parsed.data;
}

/**
 * Reads and checks one header.
 * @returns undefined when it is not sent
 * @throws InvalidInputError `http.invalid_field`
 */
export function readHeader<Schema extends z.ZodMiniType>(
  headers: Headers,
  name: string,
  schema: Schema,
): z.output<Schema> | undefined {
  const value = headers.get(name);
  if (value === null) return undefined;
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [name, ...issue.path] }));
  throw toInvalidInput(issues, 'header');
}

/**
 * The path after a prefix, decoded once and strictly. An encoded slash is a slash: clients that encode a whole path into
 * one segment and clients that do not name the same file. Steps such as `..` are for the use case to refuse.
 * @throws InvalidInputError `http.invalid_encoding`
 */
export function readPathAfter(url: string, prefix: string): string {
  const path = pathOf(url);
  return decodeStrict(path.slice(path.indexOf(prefix) + prefix.length), 'path');
}

function splitQuery(url: string): Map<string, string> {
  const values = new Map<string, string>();
  const start = url.indexOf('?');
  if (start < 0) return values;
  const query = url.slice(start + 1).split('#', 1)[0] ?? '';
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decodeStrict(plusToSpace(at < 0 ? pair : pair.slice(0, at)), 'query');
    if (values.has(name)) throw duplicate(name);
    values.set(name, at < 0 ? '' : decodeStrict(plusToSpace(pair.slice(at + 1)), 'query'));
  }
  return values;
}

function toValue(text: string, integer: boolean): string | number {
  return integer && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

function plusToSpace(text: string): string {
  return text.replaceAll('+', ' ');
}

function pathOf(url: string): string {
  const withoutOrigin = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  return withoutOrigin.split(/[?#]/, 1)[0] ?? '';
}

function decodeStrict(text: string, place: 'path' | 'query'): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new InvalidInputError('http.invalid_encoding', `the ${place} must be percent-encoded UTF-8`, {
      details: { in: place },
      cause,
    });
  }
}

function duplicate(name: string): InvalidInputError {
  const field = name.replace(/\p{C}/gu, '').slice(0, 64);
  return new InvalidInputError('http.duplicate_parameter', `parameter given more than once: ${field}`, {
    details: { in: 'query', field },
  });
}
