/** Why records of a kind were dropped, for a person; the first that fits. Kinds are named as the rollout names them. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/reasoning|thinking/, "the model's thinking is no evidence"],
  [/token_count|usage|rate_limit/, 'counts tokens'],
  [/^state$/, 'a mark without content'],
  [/snapshot/, 'a snapshot of files'],
  [/^document$/, 'the frame of a document: what is in it is counted by its own kind'],
  [/_hook_summary|^turn_duration/, 'bookkeeping of the agent'],
  [/^event_msg\/|^event\b/, 'an event: it repeats an item, or is bookkeeping'],
  [/compact|summary|truncat/, 'repeats earlier turns in short'],
  [
    /turn_context|world_state|session_meta|session\b|mode$|settings|model_change|level_change/,
    'settings of the session',
  ],
  [/^progress$|queue|title|agent-name|last-prompt|attachment|hook|^system\/|metadata/, 'bookkeeping of the agent'],
  [/^assistant$/, "the model's thinking alone, or empty"],
  [/message|^user$/, 'instructions of the harness, empty, or copied from another session'],
  [/^system$|^developer$/, 'instructions of the harness'],
  [/_call|_output|tool/, 'a tool item that shows nothing'],
];

export function dropReason(kind: string): string {
  return REASONS.find(([pattern]) => pattern.test(kind))?.[1] ?? 'not known to hold evidence';
}
