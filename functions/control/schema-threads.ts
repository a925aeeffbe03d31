import * as z from 'zod/mini';

/** Wire schemas of `/v1/threads` and `/v1/redrive` (api.md). Times are RFC 3339. */

const count = z.int().check(z.minimum(0));
const time = z.iso.datetime({ offset: true });
const text = z.nullable(z.string());
const memoryMode = z.enum(['enabled', 'disabled', 'polluted']);

export const threadsQuery = {
  schema: z.strictObject({
    cursor: z.optional(z.string().check(z.maxLength(128))),
    outcome: z.optional(
      z.string().check(z.regex(/^[a-z_]{1,32}(\([a-z_]{1,32}\))?$/, { error: 'must be an outcome' })),
    ),
  }),
};

export const forgetQuery = {
  schema: z.strictObject({ history: z.optional(z.enum(['purge'], { error: 'must be purge, or left out' })) }),
};

export const modeBody = z.strictObject({ memory_mode: memoryMode });

const row = {
  thread_id: z.string(),
  memory_mode: memoryMode,
  outcome: z.string(),
  outcome_detail: text,
  state: z.enum(['queued', 'running', 'deferred', 'failed', 'settled']),
  source: z.string(),
  agent_kind: z.string(),
  project: z.string(),
  cwd: text,
  repository: text,
  git_branch: text,
  title: text,
  created_at: time,
  updated_at: time,
  uploaded_at: time,
  ended: z.boolean(),
  rollout_bytes: count,
};

export const threadsAnswer = z.strictObject({ threads: z.array(z.strictObject(row)), next_cursor: text });

export const threadAnswer = z.strictObject({
  ...row,
  extraction: z.strictObject({
    attempts: count,
    retries_left: z.int(),
    last_error: text,
    next_at: z.nullable(time),
  }),
  output: z.nullable(
    z.strictObject({
      source_updated_at: time,
      generated_at: time,
      slug: text,
      model: z.string(),
      prompt_version: z.string(),
      raw_memory: text,
      rollout_summary: text,
    }),
  ),
  usage_count: count,
  last_usage: z.nullable(time),
  selected: z.boolean(),
  in_versions: z.array(count),
});

export const extractAnswer = z.strictObject({ thread_id: z.string() });

export const forgottenAnswer = z.strictObject({
  thread_id: z.string(),
  forgotten_at: time,
  /** True: lines that rest on other sessions too are marked, and the next consolidation says them anew. */
  consolidation_due: z.boolean(),
  /** Made without what rested on the thread alone; null where nothing did. */
  version: z.nullable(count),
});

export const redriveAnswer = z.strictObject({ redriven: count });
