import { TIER_LABELS } from '../../core/rollout/rollout.ts';

/** A row of evidence as it stands in a Phase 1 request: who spoke, and the item's JSON, possibly cut in the middle. */
export interface Row {
  readonly label: string;
  readonly text: string;
  /** Where the work was, if not in the session's own project. */
  readonly project: string | null;
}

/** What a Phase 1 request says of its session; `unknown` and missing values are null. */
export interface Evidence {
  readonly cwd: string | null;
  readonly project: string | null;
  readonly rolloutPath: string | null;
  readonly rows: readonly Row[];
}

const HUMAN = TIER_LABELS.human;
const LABEL = new RegExp(`^\\[(${Object.values(TIER_LABELS).join('|')})\\]$`);
/** Below a label, where the row is of another project than the session's own. */
const PROJECT_MARK = /^\[project: (.*)\]$/;
const GAP = '[... response items omitted ...]';

/**
 * Takes a Phase 1 user message apart: the facts above the evidence, then its rows (behaviours TI-05). What is not between
 * the two fence lines is left out; without fence lines the whole text counts.
 */
export function readEvidence(message: string): Evidence {
  const lines = betweenFences(message.split('\n'));
  const facts = new Map<string, string>();
  let at = 0;
  for (; at < lines.length; at++) {
    const match = /^(rollout_path|cwd|git_branch|project|first_at|last_at):\s*(.*)$/.exec(lines[at] ?? '');
    if (match) facts.set(match[1] ?? '', (match[2] ?? '').trim());
    else if ((lines[at] ?? '') !== '' || facts.size > 0) break;
  }
  const fact = (name: string): string | null => {
    const value = facts.get(name) ?? '';
    return value === '' || value === 'unknown' ? null : value;
  };
  return {
    cwd: fact('cwd'),
    project: fact('project'),
    rolloutPath: fact('rollout_path'),
    rows: readRows(lines.slice(at)),
  };
}

function betweenFences(lines: readonly string[]): readonly string[] {
  const begin = lines.findIndex((line) => /^-{3,} BEGIN \S+ -{3,}$/.test(line));
  if (begin < 0) return lines;
  const end = lines.indexOf((lines[begin] ?? '').replace('BEGIN', 'END'), begin);
  return lines.slice(begin + 1, end < 0 ? undefined : end);
}

/** A label on a line of its own starts a row. Inside a row's JSON no line can look like one: line feeds are escaped there. */
function readRows(lines: readonly string[]): readonly Row[] {
  const rows: { label: string; text: string; project: string | null }[] = [];
  for (const line of lines) {
    const label = LABEL.exec(line)?.[1];
    const last = rows.at(-1);
    const project = last?.text === '' ? PROJECT_MARK.exec(line)?.[1] : undefined;
    if (label !== undefined) rows.push({ label, text: '', project: null });
    else if (last && project !== undefined) last.project = project;
    else if (line !== GAP && last) last.text += last.text === '' ? line : `\n${line}`;
  }
  return rows.length > 0 ? rows.map((row) => ({ ...row, text: row.text.trim() })) : readItemArray(lines.join('\n'));
}

/** The other form of evidence (DV-13, `middle`): one JSON array of items, cut in the middle. */
function readItemArray(text: string): readonly Row[] {
  const start = text.indexOf('[{');
  if (start < 0) return [];
  const items = text
    .slice(start + 1)
    .replace(/\]\s*$/, '')
    .split(/(?<=\}),(?=\{"(?:type|role)":)/);
  return items.map((item) => ({
    label: /"role":"user"/.test(item.slice(0, 80)) ? HUMAN : labelOf(item),
    text: item,
    project: null,
  }));
}

function labelOf(item: string): string {
  return /"role":"assistant"/.test(item.slice(0, 200)) ? TIER_LABELS.final : TIER_LABELS.tool;
}
