import * as z from 'zod/mini';

/** Wire schemas of `/v1/settings` (api.md, behaviours 1.Y). */

const number = z.number();
const names = z.array(z.string());

export const settingsAnswer = z.strictObject({
  max_raw_memories_for_consolidation: number,
  max_unused_days: number,
  max_rollout_age_days: number,
  max_rollouts_per_startup: number,
  min_rollout_idle_hours: number,
  min_rate_limit_remaining_percent: number,
  daily_token_budget: number,
  generate_memories: z.boolean(),
  use_memories: z.boolean(),
  disable_on_external_context: z.boolean(),
  allowed_sources: names,
  allowed_mcp_servers: names,
  extract_model: z.nullable(z.string()),
  consolidation_model: z.nullable(z.string()),
  evidence: z.enum(['tiered', 'middle']),
});

/**
 * What a change may name, for the published document: the rules themselves stand in `parseSettings`, which puts numbers into
 * their range.
 */
export const settingsBody = z.partial(settingsAnswer);
