import { REDACTED } from './secret-rules.ts';

/** Told of every secret that was replaced: its kind and how many, never its value. */
export type CountSecrets = (kind: string, times: number) => void;

/** Where a secret starts and ends in its text. */
export interface SecretSpan {
  readonly from: number;
  readonly to: number;
}

/** Puts the marker in the place of each span. @param spans in order, without overlap */
export function replaceSpans(text: string, spans: readonly SecretSpan[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let copied = 0;
  for (const { from, to } of spans) {
    if (from < copied) continue;
    parts.push(text.slice(copied, from), REDACTED);
    copied = to;
  }
  parts.push(text.slice(copied));
  return parts.join('');
}
