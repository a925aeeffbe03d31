import type * as z from 'zod';
import { DefectError } from '../errors.ts';

/**
 * Turns a step's answer into the JSON text that is kept.
 * @throws DefectError `step.answer_not_json` when the answer has no JSON form (undefined, a function)
 */
export function writeAnswer(name: string, answer: unknown): string {
  const text: string | undefined = JSON.stringify(answer);
  if (text !== undefined) return text;
  throw new DefectError('step.answer_not_json', `step ${name} must answer a JSON value; use null for nothing`);
}

/**
 * Reads a kept answer. Fresh answers go through it as well, so that a first run and a repeated one see the same value.
 * @throws DefectError `step.answer_unreadable` when the text does not have the step's shape
 */
export function readAnswer<T>(name: string, shape: z.ZodType<T>, text: string): T {
  const reading = shape.safeParse(parseJson(text));
  if (reading.success) return reading.data;
  const path = reading.error.issues[0]?.path.join('.') ?? '';
  throw new DefectError('step.answer_unreadable', `the answer of step ${name} does not have its shape at "${path}"`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no JSON: refused by the shape like any other wrong value
  }
}
