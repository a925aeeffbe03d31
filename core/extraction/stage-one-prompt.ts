import type { ModelRequest } from '../ports/model-client.ts';
import type { Template } from '../ports/template-store.ts';
import { redact } from '../rollout/redact.ts';
import type { RolloutFacts } from '../rollout/rollout.ts';
import { LIMITS } from '../settings.ts';
import type { Thread } from '../thread/thread.ts';
import { toFileTime } from '../time.ts';
import { chooseFence, renderTemplate } from './render-template.ts';
import { STAGE_ONE_SCHEMA } from './stage-one-reply.ts';

/** The context window of a model, as its provider states it. */
export interface ModelWindow {
  /** Tokens. */
  readonly contextTokens: number;
  /** How much of it may be used, percent. */
  readonly effectivePercent: number;
}

/**
 * Tokens of evidence that a request may hold (behaviours M-05): 70 % of the effective window, integer division each time,
 * at least 1; 150,000 where the window is not known.
 */
export function evidenceTokenLimit(window: ModelWindow | undefined): number {
  if (window === undefined || window.contextTokens <= 0) return LIMITS.evidenceFallbackTokens;
  const effective = Math.trunc((window.contextTokens * window.effectivePercent) / 100);
  return Math.max(1, Math.trunc((effective * LIMITS.evidenceWindowPercent) / 100));
}

export interface StageOneTemplates {
  readonly system: Template;
  readonly input: Template;
}

/** Recorded in the output, so that a change of wording can be traced. */
export function promptVersion(templates: StageOneTemplates): string {
  return `${templates.system.name}@${templates.system.version} ${templates.input.name}@${templates.input.version}`;
}

export interface StageOneSession {
  readonly thread: Thread;
  readonly facts: RolloutFacts;
  /** Redacted rows, as `readRollout` gives them. */
  readonly evidence: string;
}

/**
 * The one request of an extraction (behaviours C-11, S-04): stable instructions, then one user message with the session's
 * facts and evidence between fences that do not occur in them. Paths and names are redacted as well: they are user content.
 */
export function buildStageOneRequest(
  templates: StageOneTemplates,
  session: StageOneSession,
  call: { readonly model: string; readonly maxOutputTokens: number },
): ModelRequest {
  const { thread, facts, evidence } = session;
  const values = {
    rollout_path: oneLine(thread.rollout.path),
    cwd: oneLine(thread.cwd),
    git_branch: oneLine(thread.gitBranch),
    project: oneLine(thread.project),
    first_at: facts.firstAt === null ? 'unknown' : toFileTime(facts.firstAt),
    last_at: facts.lastAt === null ? 'unknown' : toFileTime(facts.lastAt),
    evidence,
  };
  const text = renderTemplate(templates.input, { ...values, fence: chooseFence(Object.values(values)) });
  return {
    purpose: 'extraction',
    model: call.model,
    instructions: renderTemplate(templates.system, {}),
    items: [{ kind: 'message', role: 'user', text }],
    output: STAGE_ONE_SCHEMA,
    reasoningEffort: 'low',
    maxOutputTokens: call.maxOutputTokens,
    timeoutMs: LIMITS.modelTimeoutMs,
  };
}

/** A value that cannot break out of its line; `unknown` where there is none. */
function oneLine(text: string | null): string {
  const line = redact(text ?? '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line === '' ? 'unknown' : line;
}
