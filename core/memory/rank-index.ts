import MiniSearch from 'minisearch';
import { decodeUtf8Strict } from '../text.ts';
import type { MemoryFiles } from './memory-files.ts';
import { foldText, splitLines } from './search-text.ts';
import { splitSections, type TextSection } from './text-sections.ts';

/** One section of a file, as the index knows it. */
export interface RankedSection extends TextSection {
  readonly path: string;
}

/** How well a section answers. */
export interface RankHit {
  readonly section: RankedSection;
  /** BM25, above 0; comparable within one search only. */
  readonly score: number;
  /** Indexes of the queries that share a word with it, ascending. */
  readonly queries: readonly number[];
}

interface IndexedSection {
  readonly id: number;
  readonly text: string;
  readonly trail: string;
}

/** Headings tell what a section is about, in few words that many sections share. */
const TRAIL_BOOST = 0.5;
/** A word of a query is also the start of a longer one from this length on: `deploy` finds `deployment`. */
const PREFIX_CHARS = 4;
const PREFIX_WEIGHT = 0.4;

/**
 * BM25 over the sections of a memory's files (api.md, `rank: true`). Built once for a version; the same files and queries
 * give the same order. What is no UTF-8 is not in it, as in a literal search.
 */
export class RankIndex {
  readonly #sections: readonly RankedSection[];
  readonly #byPath = new Map<string, RankedSection[]>();
  readonly #engine: MiniSearch<IndexedSection>;
  /** Of the text it was built from, UTF-16 units. */
  readonly size: number;

  private constructor(sections: readonly RankedSection[], engine: MiniSearch<IndexedSection>, size: number) {
    this.#sections = sections;
    this.#engine = engine;
    this.size = size;
    for (const section of sections) {
      const known = this.#byPath.get(section.path);
      if (known === undefined) this.#byPath.set(section.path, [section]);
      else known.push(section);
    }
  }

  static async build(files: MemoryFiles): Promise<RankIndex> {
    const engine = new MiniSearch<IndexedSection>({
      fields: ['text', 'trail'],
      tokenize: splitWords,
      processTerm: (word) => word, // folded where it was split
      searchOptions: { boost: { trail: TRAIL_BOOST }, combineWith: 'OR' },
    });
    const sections: RankedSection[] = [];
    let size = 0;
    for (const path of files.paths) {
      const text = decodeUtf8Strict(await files.read(path));
      if (text === undefined) continue;
      size += text.length;
      const lines = splitLines(text);
      for (const section of splitSections(lines)) {
        const content = lines.slice(section.first, section.last + 1).join('\n');
        engine.add({ id: sections.length, text: content, trail: [path, ...section.trail].join('\n') });
        sections.push({ ...section, path });
      }
    }
    return new RankIndex(sections, engine, size);
  }

  /** Every section that shares a word with a query, the best first; equal ones by path and line. */
  search(queries: readonly string[]): readonly RankHit[] {
    const words = queries.map((query) => new Set(splitWords(query)));
    const found = this.#engine.search(queries.join('\n'), {
      prefix: (word) => word.length >= PREFIX_CHARS && !isUnspaced(word),
      weights: { prefix: PREFIX_WEIGHT, fuzzy: 0 },
    });
    const hits = found.flatMap(({ id, score, queryTerms }) => {
      const section = this.#sections[id];
      if (section === undefined) return [];
      const shared = words.flatMap((set, at) => (queryTerms.some((term) => set.has(term)) ? [at] : []));
      return [{ id: Number(id), section, score, queries: shared }];
    });
    return hits.sort((left, right) => right.score - left.score || left.id - right.id);
  }

  /** The section of a line, from 0; undefined for a blank one between sections. */
  sectionAt(path: string, line: number): RankedSection | undefined {
    const sections = this.#byPath.get(path) ?? [];
    let low = 0;
    let high = sections.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((sections[middle]?.first ?? 0) <= line) low = middle;
      else high = middle - 1;
    }
    const found = sections[low];
    return found !== undefined && found.first <= line && line <= found.last ? found : undefined;
  }
}

/** Scripts that are written without spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const RUNS = new RegExp(`[${UNSPACED}]+|[\\p{L}\\p{M}\\p{N}]+`, 'gu');
const IN_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');
const MIXED = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');

/**
 * The words of a text: runs of letters and digits, folded as a search that ignores case folds them. Where a script has no
 * spaces, every two neighbouring characters are a word, so that what stands in the middle of a sentence is found.
 */
export function splitWords(text: string): string[] {
  const folded = foldText(text, { caseSensitive: false, normalized: false });
  return (folded.match(RUNS) ?? []).flatMap((run) =>
    isUnspaced(run) ? (run.match(MIXED) ?? []).flatMap(pairs) : [run],
  );
}

function pairs(run: string): string[] {
  if (!isUnspaced(run)) return [run];
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

function isUnspaced(text: string): boolean {
  return IN_UNSPACED.test(text);
}

const MAX_INDEXES = 16;
/** Of text over all kept indexes, UTF-16 units; an index takes several times its text. */
const MAX_TEXT = 4_000_000;

/** Indexes that were built, by version: the first search of a version builds, later ones find it. The least used go first. */
export class RankIndexes {
  readonly #kept = new Map<string, RankIndex>();

  /** @param files with a `key`; without one nothing is kept */
  async of(files: MemoryFiles): Promise<RankIndex> {
    const { key } = files;
    if (key === undefined) return RankIndex.build(files);
    const index = this.#kept.get(key) ?? (await RankIndex.build(files));
    this.#kept.delete(key);
    if (index.size <= MAX_TEXT) this.#kept.set(key, index);
    this.#shrink();
    return index;
  }

  /** How many are kept. */
  get count(): number {
    return this.#kept.size;
  }

  #shrink(): void {
    let text = 0;
    for (const index of this.#kept.values()) text += index.size;
    for (const [key, index] of this.#kept) {
      if (this.#kept.size <= MAX_INDEXES && text <= MAX_TEXT) return;
      this.#kept.delete(key);
      text -= index.size;
    }
  }
}
