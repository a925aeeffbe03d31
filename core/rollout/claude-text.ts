import { dropRules } from './injected-text.ts';

/** Texts in the user's role of a Claude Code session: which a person wrote, and which words of them. */
export interface ClaudeText {
  readonly speaker: 'person' | 'agent' | 'harness';
  /** What is left of it; empty where nothing is. */
  readonly text: string;
}

/** Openings of texts that the program wrote. */
const NOT_TYPED = [
  '<local-command-',
  '<bash-',
  '<ide_',
  '<new-diagnostics>',
  '<user-prompt-submit-hook>',
  '<post-tool-use-hook',
  '<session-start-hook>',
  '<task-notification>',
  '<task-status>',
  '[Request interrupted by user',
  'Caveat: The messages below',
];
const BY_AGENTS = ['<teammate-message', '<agent-message', '<agent-notification'];
const COMMAND = ['<command-name>', '<command-message>'];
const REMINDER = /<system-reminder>(?:[^<]|<(?!\/system-reminder>))*<\/system-reminder>/g;

/** Reads one text of a message in the user's role. */
export function readUserText(part: string): ClaudeText {
  const text = dropRules(dropReminders(part));
  const opening = text.trimStart();
  const starts = (mark: string): boolean => opening.startsWith(mark);
  if (opening === '') return { speaker: 'person', text: '' };
  if (COMMAND.some(starts)) return readCommand(text);
  if (BY_AGENTS.some(starts)) return { speaker: 'agent', text };
  if (NOT_TYPED.some(starts)) return { speaker: 'harness', text };
  const noted = starts('<user-memory-input>') ? between(text, 'user-memory-input') : '';
  return { speaker: 'person', text: noted === '' ? text : noted };
}

/** Of a slash command the arguments are the person's words; the prompt that it stands for comes in a meta record. */
function readCommand(text: string): ClaudeText {
  const said = between(text, 'command-args');
  if (said === '') return { speaker: 'harness', text };
  return { speaker: 'person', text: `${between(text, 'command-name')} ${said}`.trim() };
}

function between(text: string, tag: string): string {
  const from = text.indexOf(`<${tag}>`);
  const to = text.indexOf(`</${tag}>`, from);
  return from < 0 || to < 0 ? '' : text.slice(from + tag.length + 2, to).trim();
}

/** Notes of the harness inside a message, which restate instructions. */
export function dropReminders(text: string): string {
  return text.includes('<system-reminder>') ? text.replace(REMINDER, '').trim() : text;
}
