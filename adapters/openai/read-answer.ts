import type { ModelRequest } from '../../core/ports/model-client.ts';

/** No token stands for more bytes of JSON on average, escapes and a provider's sealed reasoning included. */
const BYTES_PER_TOKEN = 64;
/** What a provider puts around an answer: above all our instructions and tools, told again. */
const FRAME_BYTES = 1_048_576;
/** A tool's arguments are text within an answer, so no true answer comes near this. */
const MAX_DEPTH = 100;

/** The code of the error by which the reading of a response over its limit ends. */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE';

class AnswerTooLarge extends Error {
  readonly code = ANSWER_TOO_LARGE;
}

/** The most bytes that the answer to a request can hold, decompressed. */
export function answerLimit(request: ModelRequest): number {
  return request.maxOutputTokens * BYTES_PER_TOKEN + FRAME_BYTES;
}

/**
 * Gives a response whose `text()` stops at a limit, whoever calls it: the SDK reads the bodies of refusals by itself.
 * @param maxBytes decompressed
 */
export function limitText(response: Response, maxBytes: number): Response {
  return Object.defineProperty(response, 'text', { value: () => readText(response, maxBytes) });
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new AnswerTooLarge(`cut off after ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** @returns undefined when the text is no JSON, or nested so deep that it is no answer: no dialect understands that */
export function parseAnswer(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the only failure: not JSON
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') {
      if (++depth > MAX_DEPTH) return true;
    } else if (char === '}' || char === ']') depth--;
  }
  return false;
}
