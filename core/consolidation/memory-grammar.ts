/** A fault of a document: `code` for programs, the rest for whoever repairs it. Never quotes the document. */
export interface DocumentFault {
  readonly code: string;
  /** From 1. */
  readonly line: number;
  /** What is wrong. */
  readonly message: string;
  /** What would be right. */
  readonly cure: string;
}

/** Every way in which MEMORY.md can break its grammar (prompts.md, "consolidation.md"): what is wrong, what would be right. */
const GRAMMAR = {
  no_group: ['the file holds no task group', 'start one with `# Task Group: <name>`'],
  before_group: ['text before the first task group', 'the file starts with `# Task Group: <name>`'],
  group_name: ['the task group has no name', 'write `# Task Group: <name>`'],
  scope_missing: ['the task group has no scope', 'add one line `scope: <what the group covers>` below its heading'],
  applies_to_missing: [
    'the task group does not say where it applies',
    'add one line `applies_to: cwd=<path>; project=<scope key>; reuse_rule=<one line>`',
  ],
  applies_to_format: [
    'applies_to cannot be read',
    'write it as `applies_to: cwd=<path>; project=<scope key>; reuse_rule=<one line>`',
  ],
  no_task: ['the task group has no task', 'add `## Task 1: <title>` with its rollout_summary_files and keywords'],
  task_number: ['the task is out of sequence', 'number the tasks of a group 1, 2, 3 and so on, without gaps'],
  task_title: ['the task has no title', 'write `## Task <n>: <title>`'],
  no_sources: [
    'the task names no rollout summary',
    'add `### rollout_summary_files` with at least one line `- rollout_summaries/<stem>.md (cwd=…, rollout_path=…, updated_at=…, thread_id=…)`',
  ],
  source_format: [
    'a line of rollout_summary_files cannot be read',
    'write `- rollout_summaries/<stem>.md (cwd=<cwd>, rollout_path=<path>, updated_at=<time>, thread_id=<id>)`',
  ],
  no_keywords: ['the task has no keywords', 'add `### keywords` with one line `- <word>, <other word>`'],
  unknown_heading: [
    'a heading that does not belong there',
    'a group holds `## Task <n>: <title>` (with `### rollout_summary_files` and `### keywords`), `## User preferences`, `## Reusable knowledge`, `## Failures and how to do differently`',
  ],
  section_twice: ['the section stands twice in its group', 'put its bullets together under one heading'],
  stray_text: ['text that is no bullet', 'make it a bullet that starts with `- `, or indent it below one'],
  empty_bullet: ['the bullet says nothing', 'write what it should say, or remove it'],
  bullet_without_task: [
    'the bullet does not say what it rests on',
    'end it with the `[Task <n>]` of its group, or with `[ad-hoc note]` if it comes from a note',
  ],
  task_unknown: ['the bullet points at a task that its group does not have', 'point at a task of the same group'],
} as const;

export type GrammarCode = keyof typeof GRAMMAR;

export function grammarFault(code: GrammarCode, line: number): DocumentFault {
  const [message, cure] = GRAMMAR[code];
  return { code: `memory.${code}`, line, message, cure };
}
