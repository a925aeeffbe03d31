import { chatFormat } from './chat-format.ts';
import { claudeFormat } from './claude-format.ts';
import { codexFormat } from './codex-format.ts';
import { copilotFormat } from './copilot-format.ts';
import type { RolloutFormat } from './format-reader.ts';
import { geminiFormat } from './gemini-format.ts';
import { piFormat } from './pi-format.ts';
import { traceFormat } from './trace-format.ts';

/** Every format that is understood. A rollout is read by the one that recognises one of its records. */
export const FORMATS: readonly RolloutFormat[] = [
  codexFormat,
  claudeFormat,
  geminiFormat,
  piFormat,
  copilotFormat,
  chatFormat,
  traceFormat,
];

/** Names of the lists that hold records, in a document or in one object on a line. */
export const RECORD_LISTS: ReadonlySet<string> = new Set(FORMATS.flatMap((format) => format.lists ?? []));

/** Agents whose sessions carry no id anywhere: a file's own name stands for it (behaviours V-04). */
export const UNNAMED_KINDS: ReadonlySet<string> = new Set(
  FORMATS.filter((format) => format.isUnnamed === true).map((format) => format.agentKind),
);

/**
 * Names what reads rollouts here: a file that could not be read is tried again by another one. A new format changes it by
 * itself; the number is raised where a known format learns to read more.
 */
export const READER = `1:${FORMATS.map((format) => format.agentKind).join(',')}`;
