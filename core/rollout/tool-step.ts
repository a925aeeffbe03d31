import { decodeUtf8 } from '../text.ts';
import { asObject, asText, isObject, type JsonObject, parseJson } from './json-value.ts';
import { commandOf, omissionOf } from './tool-command.ts';

export type Verdict = 'failed' | 'passed' | 'unknown';

/** What a tool item tells before it becomes a row: enough to pair calls with results, and failures with what passed later. */
export type ToolStep =
  | {
      readonly kind: 'call';
      readonly callId: string;
      /** The command that is run, so that a repetition is known; null where the call runs none. */
      readonly command: string | null;
      /** The exit code is that of a later command in a pipe, and tells nothing. */
      readonly masked: boolean;
      /** What the result is replaced by, where it would only bring back what is no evidence of this session. */
      readonly omission: string | null;
    }
  | {
      readonly kind: 'result';
      readonly callId: string;
      /**
       * Told when asked, since few results are of a command that matters; only while the item is handed on.
       * @param masked the exit code is that of a later command in a pipe
       */
      verdict(masked: boolean): Verdict;
    };

const MAX_CALL_UNITS = 16_384;
/** How much of a result's start and end is looked at. */
const EDGE_UNITS = 700;
const ID_UNITS = 320;
const CALL_KINDS = new Set(['function_call', 'custom_tool_call', 'local_shell_call']);
const IS_ERROR = /^\{[^{}]{0,300}"is_error":true,"output"/;
const CALL_ID = /"call_id"\s?:\s?"([^"\\]{1,200})"/;

/**
 * The step of an item in the common shape (`function_call`, `function_call_output` and their like), or of a record that
 * holds one. Of a result only the edges are looked at; a very long call is no command that anybody repeats.
 * @param json the item's or record's JSON, as text or bytes; the bytes are not kept
 */
export function stepOf(json: string | Uint8Array, isToolOutput: boolean): ToolStep | undefined {
  if (!isToolOutput) {
    if (json.length > MAX_CALL_UNITS) return undefined;
    const record = asObject(parseJson(typeof json === 'string' ? json : decodeUtf8(json)));
    return callStep(isObject(record['payload']) ? record['payload'] : record);
  }
  const callId = CALL_ID.exec(startOf(json, ID_UNITS))?.[1] ?? CALL_ID.exec(endOf(json, ID_UNITS))?.[1];
  if (callId === undefined) return undefined;
  const verdict = (masked: boolean): Verdict =>
    verdictOf({ start: startOf(json, EDGE_UNITS), end: endOf(json, EDGE_UNITS), masked });
  return { kind: 'result', callId, verdict };
}

function startOf(json: string | Uint8Array, units: number): string {
  return typeof json === 'string' ? json.slice(0, units) : decodeUtf8(json.subarray(0, units));
}

function endOf(json: string | Uint8Array, units: number): string {
  return typeof json === 'string' ? json.slice(-units) : decodeUtf8(json.subarray(-units));
}

function callStep(item: JsonObject): ToolStep | undefined {
  const callId = asText(item['call_id']);
  if (callId === null || !CALL_KINDS.has(asText(item['type']) ?? '')) return undefined;
  const name = asText(item['name']) ?? asText(item['type']) ?? '';
  const given = item['arguments'] ?? item['input'] ?? item['action'];
  const decoded = typeof given === 'string' ? (parseJson(given) ?? given) : given;
  const run = commandOf(name, decoded);
  const omission = omissionOf({
    name,
    namespace: asText(item['namespace']),
    command: run?.whole ?? null,
    args: decoded,
  });
  return { kind: 'call', callId, command: run?.command ?? null, masked: run?.masked ?? false, omission };
}

/** Line starts, also where the text is JSON within JSON. */
const LINE = String.raw`(?:^|\n|\\n|")\s*`;
const EXIT_CODE = new RegExp(`${LINE}(?:Process exited with code|Exit code:?) (-?\\d{1,10})`);
const EXIT_FIELD = /"exit_code\\*"\s?:\s?(-?\d{1,10})/;
const STILL_OPEN = new RegExp(
  `${LINE}(?:Process running with session|exec command rejected|aborted by user|The user doesn't want)`,
);
const SHOWS_FAILURE = new RegExp(
  [
    String.raw`\b[1-9]\d{0,6} (?:tests? |suites? |checks? )?(?:failed|failures?|failing|errors?)\b`,
    `${LINE}(?:FAIL(?:ED)?\\b|error(?:\\[\\w+\\]| TS\\d+)?:|[Ee]xecution error|failed in sandbox|npm (?:ERR!|error)|not ok \\d)`,
    String.raw`Traceback \(most recent call last\)`,
    String.raw`\berror(?: TS\d+|\[E\d+\]):`,
    'test result: FAILED',
    'command not found',
    'No such file or directory',
  ].join('|'),
);

function verdictOf(result: { readonly start: string; readonly end: string; readonly masked: boolean }): Verdict {
  const { start, end, masked } = result;
  if (STILL_OPEN.test(start)) return 'unknown';
  if (IS_ERROR.test(start)) return 'failed';
  const code = (EXIT_FIELD.exec(end.slice(-200)) ?? EXIT_CODE.exec(start))?.[1];
  if (code !== undefined && Number(code) !== 0) return 'failed';
  if (code !== undefined && !masked) return 'passed';
  return SHOWS_FAILURE.test(start) || SHOWS_FAILURE.test(end) ? 'failed' : 'passed';
}
