import { applyPatch, structuredPatch } from 'diff';

/**
 * Carries what a person changed (base → edited) over to a text that changed meanwhile (base → current), line by line.
 * @returns the merged text; undefined where both changed the same lines, so that no merge is safe
 */
export function mergeText(base: string, edited: string, current: string): string | undefined {
  if (current === base || current === edited) return edited;
  if (edited === base) return current;
  const patch = structuredPatch('a', 'b', base, edited, undefined, undefined, { context: 2 });
  const merged = applyPatch(current, patch);
  return merged === false ? undefined : merged;
}
