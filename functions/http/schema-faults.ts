import type * as z from 'zod/mini';
import { InvalidInputError } from '../../core/errors.ts';

type Issue = z.core.$ZodIssue;

/** The part of a request that was read. */
type Place = 'query' | 'body' | 'header';

const NAME_CHARS = 64;

/**
 * The first fault that a schema found, as our error: names the field, the limit and what would be right, never the value.
 * @param place told in the message and in `details.in`
 */
export function toInvalidInput(issues: readonly Issue[], place: Place): InvalidInputError {
  const issue = innermost(issues[0]);
  if (issue === undefined) return new InvalidInputError('http.invalid_request', `the ${place} is not valid`);
  if (issue.code === 'unrecognized_keys') return unknownField(issue.path, issue.keys, place);
  const field = fieldName(issue.path);
  const subject = field === '' ? `the ${place}` : field;
  return new InvalidInputError('http.invalid_field', `${subject} ${wanted(issue)}`, {
    details: { in: place, field, ...limitOf(issue) },
  });
}

function unknownField(path: readonly PropertyKey[], keys: readonly string[], place: Place): InvalidInputError {
  const noun = place === 'query' ? 'unknown parameter' : 'unknown field';
  const names = keys.map((key) => fieldName([...path, key]));
  const field = names[0] ?? '';
  return new InvalidInputError('http.unknown_field', `${noun}: ${names.slice(0, 5).join(', ')}`, {
    details: { in: place, field },
  });
}

/** Of a union the branch that got furthest tells most. */
function innermost(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue;
  const branches = issue.errors.map((branch) => branch[0]).filter((found) => found !== undefined);
  const deepest = branches.sort((left, right) => right.path.length - left.path.length)[0];
  if (deepest === undefined || deepest.path.length === 0) return issue;
  return innermost({ ...deepest, path: [...issue.path, ...deepest.path] });
}

function wanted(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? 'a whole number' : article(issue.expected)}`;
    case 'too_small':
      return `must ${measure(issue.origin)} at least ${issue.minimum}${unit(issue.origin)}`;
    case 'too_big':
      return `must ${measure(issue.origin)} at most ${issue.maximum}${unit(issue.origin)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'custom':
      return issue.message;
    case 'invalid_format':
      return issue.message.startsWith('must ') ? issue.message : 'has not the right form';
    default:
      return 'has none of the allowed forms';
  }
}

function limitOf(issue: Issue): { limit?: number } {
  if (issue.code === 'too_small') return { limit: Number(issue.minimum) };
  if (issue.code === 'too_big') return { limit: Number(issue.maximum) };
  return {};
}

function measure(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'have' : 'be';
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' items' : '';
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** `match_mode.line_count`, `queries.0`; control characters dropped and length bounded, since unknown names are the caller's. */
function fieldName(path: readonly PropertyKey[]): string {
  const name = path.map(String).join('.').replace(/\p{C}/gu, '');
  return name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS)}…` : name;
}
