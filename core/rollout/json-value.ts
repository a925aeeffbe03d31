/** Guards over parsed JSON: what a record holds is known only by looking. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value where it is a non-empty string. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Sets a key of a fresh object; one named `__proto__` is a key like any other. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Parses one line. Objects glued together without a line end between them are all recovered (FORMAT.md, oddity 1).
 * @returns the objects, and whether the whole line was understood
 */
export function parseRecords(line: string): { readonly records: readonly JsonObject[]; readonly whole: boolean } {
  const value = parseJson(line);
  if (value !== undefined) return isObject(value) ? { records: [value], whole: true } : { records: [], whole: false };
  const records: JsonObject[] = [];
  let from = 0;
  for (let end = objectEnd(line, from); end !== undefined; end = objectEnd(line, from)) {
    const piece = parseJson(line.slice(from, end));
    if (!isObject(piece)) break;
    records.push(piece);
    from = end;
  }
  return { records, whole: records.length > 0 && line.slice(from).trim() === '' };
}

/** @returns undefined where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's only failure: the text is not JSON
  }
}

/** Behind the object that starts at `from`, by counting braces outside strings. */
function objectEnd(line: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < line.length; at++) {
    const unit = line.charAt(at);
    if (unit === '"') {
      at = stringEnd(line, at);
    } else if (unit === '{') depth++;
    else if (unit === '}' && --depth === 0) return at + 1;
    if (depth === 0 && unit !== '{' && unit !== ' ' && unit !== ',') return undefined;
  }
  return undefined;
}

function stringEnd(line: string, from: number): number {
  let at = from + 1;
  while (at < line.length && line[at] !== '"') at += line[at] === '\\' ? 2 : 1;
  return at;
}
