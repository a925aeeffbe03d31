import { claudeFormat } from './claude-format.ts';
import { codexFormat } from './codex-format.ts';
import type { RolloutFormat } from './format-reader.ts';

/** Every format that is understood. A rollout is read by the first one that recognises one of its records. */
export const FORMATS: readonly RolloutFormat[] = [codexFormat, claudeFormat];
