import mustache from 'mustache';
import { DefectError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import type { Template } from '../ports/template-store.ts';

/** Separates the parts of a template that travel in different places of a request. */
const PART_MARKER = /^<!-- part: [a-z_]+ -->\n/m;
const PLACEHOLDER = /^[a-z][a-z0-9_]*$/;
const FENCE_DIGITS = 16;

/**
 * Fills the `{{ name }}` placeholders of a template. Values go in as they are: no escaping, and no placeholder inside a
 * value is looked at (prompts.md).
 * @param values one text for each placeholder, no more and no fewer
 * @throws DefectError `template.unknown_placeholder`, `template.unused_value`, `template.has_logic`
 */
export function renderTemplate(template: Template, values: Readonly<Record<string, string>>): string {
  const wanted = new Set(placeholders(template));
  for (const name of wanted)
    if (!Object.hasOwn(values, name)) throw templateFault('unknown_placeholder', template, name);
  for (const name of Object.keys(values)) if (!wanted.has(name)) throw templateFault('unused_value', template, name);
  return mustache.render(template.text, values, undefined, { escape: (value: unknown) => String(value) });
}

/**
 * The names of a template's placeholders, in order of first appearance.
 * @throws DefectError `template.has_logic` when it holds a section, partial, comment or unescaped form
 */
export function placeholders(template: Template): readonly string[] {
  const names = new Set<string>();
  for (const [kind, name] of mustache.parse(template.text)) {
    if (kind === 'text') continue;
    if (kind !== 'name' || !PLACEHOLDER.test(name)) throw templateFault('has_logic', template, name);
    names.add(name);
  }
  return [...names];
}

/**
 * Splits a template at its `<!-- part: name -->` lines: the stable prefix that goes into the instructions, and what follows.
 * @returns at least one template; each is rendered by itself
 */
export function templateParts(template: Template): readonly [Template, ...Template[]] {
  const [first = '', ...rest] = template.text.split(PART_MARKER).map((text) => `${text.trim()}\n`);
  return [{ ...template, text: first }, ...rest.map((text) => ({ ...template, text }))];
}

/**
 * A delimiter that none of the contents holds, equal for equal contents, so that a repeated request is the same request.
 * It depends on all of the content, so nobody can write its end into their own text.
 */
export function chooseFence(contents: readonly string[]): string {
  for (let attempt = 0; ; attempt++) {
    const fence = `evidence-${sha256Hex([String(attempt), ...contents].join('\u0000')).slice(0, FENCE_DIGITS)}`;
    if (!contents.some((content) => content.includes(fence))) return fence;
  }
}

function templateFault(code: string, template: Template, name: string): DefectError {
  return new DefectError(`template.${code}`, `template ${template.name}: ${code.replaceAll('_', ' ')} ${name}`, {
    details: { template: template.name, placeholder: name },
  });
}
