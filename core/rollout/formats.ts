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
