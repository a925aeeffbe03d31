/** A strong entity tag, quoted. @param opaque characters that need no escape: `[A-Za-z0-9._-]` */
export function strongTag(opaque: string): string {
  return `"${opaque}"`;
}

/**
 * Whether `If-None-Match` names the tag (RFC 9110, 13.1.2): a list, or `*`; compared weakly, so `W/"x"` names `"x"`.
 * What is not a list of tags matches nothing.
 */
export function noneMatchNames(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === tag);
}

/**
 * Whether `Accept` asks for Markdown rather than JSON: `text/markdown` (or `text/*`) is named with a weight above 0 and not
 * below the weight of `application/json`. `*\/*` and no header mean JSON.
 */
export function prefersMarkdown(accept: string | undefined): boolean {
  const weights = readAccept(accept ?? '');
  const markdown = weights.get('text/markdown') ?? weights.get('text/*') ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? 0;
  return markdown > 0 && markdown >= json;
}

function readAccept(accept: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type, ...parameters] = range.split(';').map((item) => item.trim());
    const weight = parameters.find((item) => item.startsWith('q='))?.slice(2);
    const value = weight === undefined ? 1 : Number(weight);
    if (type !== undefined && type !== '') weights.set(type, Number.isFinite(value) ? value : 0);
  }
  return weights;
}
