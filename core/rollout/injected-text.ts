/**
 * Text that came into a session from rules or from memory: nobody said it there, so it is no evidence of the session (user cases
 * A16, A18). What we inject ourselves stands between lines of markers; what harnesses inject is known by its opening.
 */

/** Around everything that `GET /v1/context` answers as one text. */
export const CONTEXT_BEGIN = '========= STILLROOM_CONTEXT BEGINS =========';
export const CONTEXT_END = '========= STILLROOM_CONTEXT ENDS =========';

interface Frame {
  readonly begin: string;
  readonly end: string;
  /** What stands in its place inside of other text. */
  readonly standIn: string;
}

/** The context comes first: it holds the two others. */
const FRAMES: readonly Frame[] = [
  { begin: CONTEXT_BEGIN, end: CONTEXT_END, standIn: '[rules and memory omitted]' },
  {
    begin: '========= MEMORY_SUMMARY BEGINS =========',
    end: '========= MEMORY_SUMMARY ENDS =========',
    standIn: '[memory summary omitted]',
  },
  {
    begin: '========= PENDING_NOTES BEGINS =========',
    end: '========= PENDING_NOTES ENDS =========',
    standIn: '[notes omitted]',
  },
];
const MARKER = /={3,}[ \t]*((?:STILLROOM_CONTEXT|MEMORY_SUMMARY|PENDING_NOTES)[ \t]+(?:BEGINS|ENDS))[ \t]*=*/g;

/** Harness texts in the user role that restate instructions: nothing a person said, nothing that happened (A18). */
const RESTATING_TAGS = [
  'user_instructions',
  'permissions instructions',
  'collaboration_mode',
  'skills_instructions',
  'apps_instructions',
  'plugins_instructions',
  'multi_agent_mode',
  'recommended_plugins',
];
const RULES_HEADING = '# agents.md instructions';
const RULES_END = '</instructions>';
const SKILL = 'skill';
const GEMINI_FILE = /^--- Context from: ([^\n]{1,1000}) ---\n/;
/** Tags of other harnesses, dropped from the start of a text. */
const OTHER_TAGS = [SKILL, 'custom_instructions', 'INSTRUCTIONS'];

/** A marker line inside of a text would end its frame early. */
export function defuseMarkers(text: string): string {
  return text.includes('===') ? text.replace(MARKER, '($1)') : text;
}

/** Our own frames out of a text; one whose end is missing reaches to the end of the text, as a cut output leaves it. */
export function cutInjected(text: string): string {
  if (!text.includes(' BEGINS =========')) return text;
  return FRAMES.reduce((rest, frame) => cutFrame(rest, frame, frame.standIn), text);
}

/** The answer of `GET /v1/context`, its text already cut out of it or not; escaped where it stands in other JSON. */
const CONTEXT_ANSWER =
  /"text\\*"\s?:\s?\\*"(?:========= STILLROOM_CONTEXT BEGINS =========|\[rules and memory omitted\])/;

/** Whether a tool's output is an answer that holds our context: then its other fields hold it once more. */
export function isContextAnswer(output: string): boolean {
  return CONTEXT_ANSWER.test(output);
}

/** S-02: whether one part of a user's message is nothing but rules: AGENTS.md and skills as whole parts, and their later forms. */
export function isRulesPart(part: string): boolean {
  const text = part.trim();
  const start = text.slice(0, 80).toLowerCase();
  const end = text.slice(-80).toLowerCase();
  if (start.startsWith(RULES_HEADING) && end.endsWith(RULES_END)) return true;
  if (start.startsWith(`<${SKILL}>`) && end.endsWith(`</${SKILL}>`) && text.length > `<${SKILL}>`.length) return true;
  if (RESTATING_TAGS.some((tag) => start.startsWith(`<${tag}>`) && end.endsWith(`</${tag}>`))) return true;
  return text.startsWith(CONTEXT_BEGIN) && dropContext(text).trim() === '';
}

/** Our context out of a message in the user's role, where it is whole. What a person wrote beside it stays, character for character. */
export function dropContext(text: string): string {
  const whole = text.includes(CONTEXT_BEGIN) && text.includes(CONTEXT_END);
  return whole ? cutFrame(text, { begin: CONTEXT_BEGIN, end: CONTEXT_END }, '').trim() : text;
}

/**
 * The rules out of a message in the user's role where harness and person share one text: whole blocks at its start, and our own
 * context wherever it stands. What follows is the person's, corrections of a rule among it.
 * @returns the text itself where nothing of it is rules
 */
export function dropRules(text: string): string {
  let rest = dropContext(text);
  for (;;) {
    const opening = rest.trimStart();
    const length = rulesBlockLength(opening);
    if (length === 0) return rest;
    rest = opening.slice(length).trim();
  }
}

/** Length of the whole block of rules that a text begins with; 0 = it begins with none. */
function rulesBlockLength(text: string): number {
  const start = text.slice(0, 80).toLowerCase();
  const through = (end: string, from: number): number => {
    const at = text.indexOf(end, from);
    return at < 0 ? 0 : at + end.length;
  };
  if (start.startsWith(RULES_HEADING)) return through('</INSTRUCTIONS>', RULES_HEADING.length);
  const tag = [...RESTATING_TAGS, ...OTHER_TAGS].find((name) => text.startsWith(`<${name}>`));
  if (tag !== undefined) return through(`</${tag}>`, tag.length + 2);
  const file = GEMINI_FILE.exec(text);
  return file === null ? 0 : through(`--- End of Context from: ${file[1]} ---`, file[0].length);
}

function cutFrame(text: string, { begin, end }: Pick<Frame, 'begin' | 'end'>, standIn: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, from)) {
    parts.push(text.slice(from, at), standIn);
    const close = text.indexOf(end, at);
    from = close < 0 ? text.length : close + end.length;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
