import { isObject, parseObject } from './json.ts';

/** Text that harnesses put into user messages; none of it was typed by a person. */
const INJECTED =
  /^\s*(?:<(?:user_instructions|environment_context|turn_aborted|skill|permissions|subagent_notification|system-reminder|command-|local-command|recommended_plugins)|# AGENTS\.md|Base directory for this skill|Caveat: The messages below|\[Request interrupted|This session is being continued)/i;
const REQUEST_MARK = /##\s*My request for [^\n:]*:\s*\n?/;

/**
 * What the person typed, out of a human row: the text parts of the message, without what a harness put in. An answer to the
 * assistant's question (behaviours TI-04) counts with its reply only.
 */
export function humanText(row: string): string {
  const reply = row.split('\nHuman reply: ').at(1);
  if (reply !== undefined) return answersOf(reply);
  const item = parseObject(row);
  const message = item && isObject(item.message) ? item.message : item;
  return textsOf(message ? message.content : cutText(row))
    .map(withoutWrapper)
    .filter((text) => text !== '' && !INJECTED.test(text))
    .join('\n');
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
}

/** Editors wrap the request into their context; the request stands behind a mark at the end. */
function withoutWrapper(text: string): string {
  const parts = text.split(REQUEST_MARK);
  return (parts.length > 1 ? (parts.at(-1) ?? '') : text).trim();
}

/** The start of the first text of a row that was cut in the middle: what stands before the cut. */
function cutText(row: string): string {
  const escaped = /"(?:text|content)":"((?:[^"\\]|\\.)*)/.exec(row)?.[1] ?? '';
  const kept = escaped.split('…')[0] ?? '';
  const text = parseObject(`{"text":"${kept.replace(/\\[^"]?$/, '')}"}`);
  return text && typeof text.text === 'string' ? text.text : '';
}

function answersOf(reply: string): string {
  const item = parseObject(reply);
  const output = item && typeof item.output === 'string' ? parseObject(item.output) : undefined;
  const answers = output && isObject(output.answers) ? Object.values(output.answers) : [];
  return answers
    .filter(isObject)
    .flatMap((answer) => (Array.isArray(answer.answers) ? answer.answers : []))
    .filter((answer) => typeof answer === 'string')
    .join('\n');
}

/** A pasted document or an expanded command rather than a message: long, with several headings. */
export function isDocument(text: string): boolean {
  return text.length > 2_500 && (text.match(/^#{1,4} /gm) ?? []).length >= 3;
}
