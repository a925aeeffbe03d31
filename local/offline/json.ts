/** A JSON object of a session's record: the fields that the rules look at, whatever they hold. */
export interface JsonObject {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly role?: unknown;
  readonly id?: unknown;
  readonly call_id?: unknown;
  readonly tool_use_id?: unknown;
  readonly message?: unknown;
  readonly content?: unknown;
  readonly text?: unknown;
  readonly arguments?: unknown;
  readonly input?: unknown;
  readonly action?: unknown;
  readonly output?: unknown;
  readonly metadata?: unknown;
  readonly exit_code?: unknown;
  readonly is_error?: unknown;
  readonly cmd?: unknown;
  readonly command?: unknown;
  readonly file_path?: unknown;
  readonly notebook_path?: unknown;
  readonly answers?: unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns undefined when the text is no JSON object */
export function parseObject(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // the only failure: not JSON
  }
}

/** The text, or an empty one for anything else. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
