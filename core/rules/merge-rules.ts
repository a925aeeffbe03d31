import { charBoundaryBefore, decodeUtf8, encodeUtf8, isBlank } from '../text.ts';

/** Rules files by the name that wins in its folder, best first (behaviours W-04). */
export const OVERRIDE_NAME = 'AGENTS.override.md';
export const RULES_NAME = 'AGENTS.md';

/** All rules together, UTF-8 bytes, what joins them included (behaviours W-05; api.md). */
export const RULES_BYTES = 32_768;

const USER_END = '\n\n--- project-doc ---\n\n';
const BETWEEN = '\n\n';

/** One file that may hold rules. */
export interface RulesFile {
  /** Its name in its folder. */
  readonly name: string;
  /** What it is told by in `parts`: a path. */
  readonly source: string;
  /** Its start at least: as much as the budget could take. */
  readonly content: Uint8Array;
  /** Of the whole file. */
  readonly bytes: number;
}

/** The rules files of one folder, in any order. */
export interface RulesFolder {
  /** `user`: holds in every project; its text comes first. */
  readonly kind: 'user' | 'project';
  readonly files: readonly RulesFile[];
}

export interface RulesPart {
  readonly source: string;
  /** How much of it is in the text; 0 = nothing was left of the budget. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** Of the whole file. */
  readonly wholeBytes: number;
}

export interface MergedRules {
  readonly text: string;
  /** In the order of the text; files that were cut or left out are told, blank ones are not. */
  readonly parts: readonly RulesPart[];
}

export interface MergeOptions {
  /** Default `RULES_BYTES`; 0 = no rules at all. */
  readonly maxBytes?: number | undefined;
  /** File names that count where a folder has neither of the two, best first. */
  readonly fallbackNames?: readonly string[] | undefined;
}

/**
 * Merges rules (behaviours W-04..W-06): one file a folder, an override before `AGENTS.md` before the fallbacks; blank ones are
 * skipped and use no budget; the file that exceeds the budget is cut between characters, and later ones are left out.
 * @param folders from general to particular; where two rules disagree, the later one is meant to win
 */
export function mergeRules(folders: readonly RulesFolder[], options: MergeOptions = {}): MergedRules {
  const maxBytes = options.maxBytes ?? RULES_BYTES;
  if (maxBytes <= 0) return { text: '', parts: [] };
  const names = rulesNames(options.fallbackNames);
  const ordered = [...folders.filter(({ kind }) => kind === 'user'), ...folders.filter(({ kind }) => kind !== 'user')];
  const budget = new Budget(maxBytes);
  for (const { kind, files } of ordered) {
    const file = pickFile(files, names);
    if (file !== undefined) budget.add(file, kind);
  }
  return budget.finish();
}

/** The names that count, best first; empty and repeated ones are ignored (W-04). */
export function rulesNames(fallbackNames: readonly string[] = []): readonly string[] {
  return [...new Set([OVERRIDE_NAME, RULES_NAME, ...fallbackNames])].filter((name) => name.trim() !== '');
}

/** The one file of a folder that counts, blank or not: a blank override silences its folder. */
function pickFile(files: readonly RulesFile[], names: readonly string[]): RulesFile | undefined {
  const found = names.map((name) => files.find((file) => file.name === name));
  return found.find((file) => file !== undefined);
}

class Budget {
  readonly #maxBytes: number;
  readonly #parts: RulesPart[] = [];
  #text = '';
  #bytes = 0;
  #last: RulesFolder['kind'] | undefined;
  #full = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(file: RulesFile, kind: RulesFolder['kind']): void {
    // Decoding is lossy (W-05): what is no UTF-8 becomes longer, so the text is what is measured.
    const text = decodeUtf8(file.content);
    const isWhole = file.content.length >= file.bytes;
    if (isWhole && isBlank(text)) return;
    const joint = this.#jointBefore(kind);
    const room = this.#full ? 0 : this.#maxBytes - this.#bytes - joint.length;
    const encoded = encodeUtf8(text);
    const fits = isWhole && encoded.length <= room;
    const kept = fits ? text : decodeUtf8(encoded.subarray(0, charBoundaryBefore(encoded, Math.max(0, room))));
    if (!fits) this.#full = true;
    const bytes = isBlank(kept) ? 0 : fits ? encoded.length : encodeUtf8(kept).length;
    this.#parts.push({ source: file.source, bytes, truncated: !fits, wholeBytes: file.bytes });
    if (bytes === 0) return;
    this.#text += joint + kept;
    this.#bytes += joint.length + bytes;
    this.#last = kind;
  }

  finish(): MergedRules {
    return { text: this.#text, parts: this.#parts };
  }

  /** W-06; all of it is ASCII. */
  #jointBefore(kind: RulesFolder['kind']): string {
    if (this.#last === undefined) return '';
    return this.#last === 'user' && kind === 'project' ? USER_END : BETWEEN;
  }
}
