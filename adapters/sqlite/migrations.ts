/**
 * The schema, as ordered steps; step n makes version n. Steps that were released are never changed, only followed.
 *
 * One row of `stage1` is the extraction job of a thread and, where `source_updated_at` is set, the head of its output: one
 * write commits both, and all heads of a user are one range of the primary key. Texts lie apart in `bodies`.
 */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE threads (
  user_key TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  memory_mode TEXT NOT NULL,
  source TEXT NOT NULL,
  subagent INTEGER NOT NULL,
  ephemeral INTEGER NOT NULL,
  parent_thread_id TEXT,
  agent_kind TEXT NOT NULL,
  cwd TEXT,
  repository TEXT,
  project TEXT NOT NULL,
  git_branch TEXT,
  title TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  forgotten_at INTEGER,
  requested_at INTEGER,
  rollout_sha256 TEXT NOT NULL,
  rollout_bytes INTEGER NOT NULL,
  rollout_uploaded_at INTEGER NOT NULL,
  rollout_path TEXT NOT NULL,
  PRIMARY KEY (user_key, thread_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE stage1 (
  user_key TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  status TEXT NOT NULL,
  token TEXT,
  started_at INTEGER,
  finished_at INTEGER,
  lease_until INTEGER,
  retry_at INTEGER,
  retry_remaining INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  last_error TEXT,
  input_watermark INTEGER,
  success_watermark INTEGER,
  outcome TEXT,
  outcome_detail TEXT,
  source_updated_at INTEGER,
  generated_at INTEGER,
  slug TEXT,
  usage_count INTEGER,
  last_usage INTEGER,
  selected_snapshot INTEGER,
  bytes INTEGER,
  model TEXT,
  prompt_version TEXT,
  PRIMARY KEY (user_key, thread_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE consolidation (
  user_key TEXT NOT NULL PRIMARY KEY,
  status TEXT NOT NULL,
  token TEXT,
  started_at INTEGER,
  finished_at INTEGER,
  lease_until INTEGER,
  retry_at INTEGER,
  retry_remaining INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  last_error TEXT,
  input_watermark INTEGER,
  success_watermark INTEGER,
  outcome TEXT,
  outcome_detail TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE bodies (
  user_key TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  source_updated_at INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (user_key, thread_id, source_updated_at)
) STRICT;

CREATE TABLE head (
  user_key TEXT NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  published_at INTEGER,
  summary TEXT NOT NULL,
  pending_notes TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  fence TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_days (
  user_key TEXT NOT NULL,
  day TEXT NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  cache_write_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  reserved_tokens INTEGER NOT NULL,
  PRIMARY KEY (user_key, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_calls (
  user_key TEXT NOT NULL,
  call_id TEXT NOT NULL,
  day TEXT NOT NULL,
  purpose TEXT NOT NULL,
  subject TEXT NOT NULL,
  model TEXT NOT NULL,
  reserved_tokens INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  settled_at INTEGER,
  input_tokens INTEGER,
  cached_input_tokens INTEGER,
  cache_write_input_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_output_tokens INTEGER,
  total_tokens INTEGER,
  PRIMARY KEY (user_key, call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (
  run_id TEXT NOT NULL,
  name TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  answer TEXT NOT NULL,
  PRIMARY KEY (run_id, name)
) STRICT;

CREATE INDEX steps_by_age ON steps (kept_at);

CREATE TABLE receipts (
  user_key TEXT NOT NULL,
  key TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  answer TEXT NOT NULL,
  PRIMARY KEY (user_key, key)
) STRICT, WITHOUT ROWID;
`,
  `
CREATE TABLE imports (
  path TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  thread_id TEXT,
  outcome TEXT,
  outcome_detail TEXT
) STRICT, WITHOUT ROWID;
`,
  `ALTER TABLE head ADD COLUMN places TEXT NOT NULL DEFAULT '[]'`,
  `
ALTER TABLE stage1 ADD COLUMN wake_at INTEGER;
ALTER TABLE consolidation ADD COLUMN wake_at INTEGER;
ALTER TABLE stage1 ADD COLUMN due_at INTEGER;
ALTER TABLE consolidation ADD COLUMN due_at INTEGER;
CREATE INDEX stage1_due ON stage1 (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX consolidation_due ON consolidation (due_at) WHERE due_at IS NOT NULL;
ALTER TABLE threads ADD COLUMN rollout_order TEXT;
CREATE TABLE settings (user_key TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;
`,
  `ALTER TABLE threads ADD COLUMN reading TEXT`,
  `ALTER TABLE stage1 ADD COLUMN use_id TEXT`,
  `CREATE TABLE erase_marks (user_key TEXT NOT NULL PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `ALTER TABLE imports ADD COLUMN reader TEXT`,
];
