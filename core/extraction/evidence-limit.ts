import type { Job } from '../job/job.ts';

const NOTE = /\bevidence_tokens=(\d+) model=(\S+)/;

/**
 * The part of an outcome's detail that remembers how much evidence a model took after it had refused more (DV-14). It lives
 * in the outcome, so that it needs no place of its own and a person sees it.
 */
export function evidenceLimitNote(tokens: number, model: string): string {
  return `evidence_tokens=${tokens} model=${model}`;
}

/**
 * The limit that the newest extraction with such a note left for a model, tokens; undefined when none did.
 * @param jobs the user's extraction jobs by thread id
 */
export function rememberedEvidenceTokens(jobs: ReadonlyMap<string, Job>, model: string): number | undefined {
  let newest = Number.NEGATIVE_INFINITY;
  let tokens: number | undefined;
  for (const job of jobs.values()) {
    const match = NOTE.exec(job.outcome?.detail ?? '');
    const at = job.finishedAt ?? Number.NEGATIVE_INFINITY;
    if (match?.[2] !== model || at < newest) continue;
    newest = at;
    tokens = Number(match[1]);
  }
  return tokens;
}
