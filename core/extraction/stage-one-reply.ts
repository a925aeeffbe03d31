import * as z from 'zod';
import { redact } from '../rollout/redact.ts';
import { isBlank } from '../text.ts';
import { findJsonObjects } from './json-objects.ts';

/** What the model is asked for (behaviours C-09): three fields, all required in the schema that is sent. */
const outputShape = z.strictObject({
  raw_memory: z.string(),
  rollout_summary: z.string(),
  rollout_slug: z.string().nullable(),
});
/** What is accepted: the slug may be left out, since it can be made; unknown keys are refused. */
const replyShape = outputShape.partial({ rollout_slug: true });

const SLUG_LENGTH = 80;
/** Stands for a session whose summary holds no ASCII word, so that its file still has a name. */
const NAMELESS_SLUG = 'session';

/** Structured output of the extraction call: strict JSON Schema made from the shape above. */
export const STAGE_ONE_SCHEMA: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> } = {
  name: 'stage_one_output',
  schema: withoutDialect(z.toJSONSchema(outputShape)),
};

/** A stage-one output as the model gave it, redacted and with a clean slug. */
export interface StageOneTexts {
  readonly rawMemory: string;
  readonly rolloutSummary: string;
  /** `[a-z0-9]` words joined by hyphens, 1 to 80 characters. */
  readonly slug: string;
}

export type StageOneReply =
  | { readonly kind: 'output'; readonly texts: StageOneTexts }
  | { readonly kind: 'no_output' }
  /** `detail` is content-free. */
  | { readonly kind: 'invalid'; readonly detail: string };

/**
 * Decodes the text of an extraction answer (behaviours C-05, C-09, C-10; DV-4, DV-6). A code fence or prose around the one
 * JSON object is accepted. Cut JSON, another shape, unknown keys and several fitting objects are invalid, never empty.
 * Blank raw memory or summary is no output. All that leaves is redacted.
 */
export function parseStageOneReply(text: string): StageOneReply {
  if (isBlank(text)) return { kind: 'invalid', detail: 'empty answer' };
  const whole = parseJson(unfence(text) ?? text);
  if (whole !== undefined && (typeof whole !== 'object' || whole === null || Array.isArray(whole))) {
    return { kind: 'invalid', detail: 'the answer is JSON, but no object' };
  }
  const objects = whole === undefined ? findJsonObjects(text) : [whole];
  if (objects.length === 0) return { kind: 'invalid', detail: 'no complete JSON object in the answer' };
  const fitting = objects.flatMap((object) => (isNear(object) ? (replyShape.safeParse(object).data ?? []) : []));
  const [reply] = fitting;
  if (reply === undefined) return { kind: 'invalid', detail: 'the JSON object does not have the fields asked for' };
  if (fitting.length > 1)
    return { kind: 'invalid', detail: `${fitting.length} JSON objects in the answer, 1 expected` };
  if (isBlank(reply.raw_memory) || isBlank(reply.rollout_summary)) return { kind: 'no_output' };
  const rolloutSummary = clean(reply.rollout_summary);
  const slug = toSlug(redact(reply.rollout_slug ?? '')) || toSlug(rolloutSummary) || NAMELESS_SLUG;
  return { kind: 'output', texts: { rawMemory: clean(reply.raw_memory), rolloutSummary, slug } };
}

/** Without secrets, and without what a terminal would obey or a text store refuse: NUL, escapes, other controls (D10). */
function clean(text: string): string {
  return redact(text.replaceAll('\r\n', '\n').replace(/[^\P{Cc}\t\n]/gu, ''));
}

/** Lower-case ASCII words joined by hyphens; accents fall off; cut at a word where there is one. Empty when none is left. */
function toSlug(text: string): string {
  const words = text
    .slice(0, 4 * SLUG_LENGTH)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  let slug = words.shift()?.slice(0, SLUG_LENGTH) ?? '';
  for (const word of words) {
    if (slug.length + 1 + word.length > SLUG_LENGTH) break;
    slug = `${slug}-${word}`;
  }
  return slug;
}

/** The inside of a code fence that is the whole answer; undefined where there is none. */
function unfence(text: string): string | undefined {
  const fenced = text.trim();
  if (!fenced.startsWith('```') || !fenced.endsWith('```')) return undefined;
  const body = fenced.slice(3, -3);
  const [first, last] = [body.indexOf('\n'), body.lastIndexOf('\n')];
  if (first === last || !/^\w*\s*$/.test(body.slice(0, first)) || body.slice(last).trim() !== '') return undefined;
  return body.slice(first + 1, last);
}

/** Sorts out cheaply what is far from the shape: an answer may hold a million small objects. */
function isNear(object: unknown): boolean {
  return typeof object === 'object' && object !== null && 'raw_memory' in object;
}

/** @returns undefined when the text is no JSON */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined; // prose in braces, or a broken object
  }
}

function withoutDialect(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}
