import type { Manifest } from '../consolidation/manifest.ts';
import { manifestToJson } from '../consolidation/manifest-json.ts';
import type { Draft } from '../consolidation/publish.ts';
import type { MemoryStore } from '../ports/memory-store.ts';
import { compareBytes, decodeUtf8 } from '../text.ts';
import type { FileTree } from '../workspace/file-tree.ts';
import type { Divergence } from './kept-steps.ts';

/** The first thing in which a replay differs from the version. */
export type Difference =
  /** A file: its first line that differs, counted from 1; null where a side has no such line, or no such file. */
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly line: number;
      readonly kept: string | null;
      readonly replayed: string | null;
    }
  /** What the version says of its making. */
  | { readonly kind: 'manifest'; readonly field: string }
  /** The replay went another way than the run. */
  | ({ readonly kind: 'step' } & Divergence)
  /** The replay ended before all answers were asked for. */
  | { readonly kind: 'end'; readonly code: string; readonly detail: string };

/** Compares all but what a store makes up (names of versions) and the time. @returns undefined: byte for byte the same */
export async function compareVersion(
  memories: Pick<MemoryStore, 'readFile'>,
  kept: { readonly userKey: string; readonly manifest: Manifest },
  replayed: { readonly draft: Draft; readonly files: FileTree },
): Promise<Difference | undefined> {
  const { userKey, manifest } = kept;
  const { draft, files } = replayed;
  const paths = [...new Set([...Object.keys(manifest.files), ...Object.keys(draft.files)])].sort(compareBytes);
  const path = paths.find((item) => manifest.files[item]?.sha256 !== draft.files[item]?.sha256);
  if (path !== undefined) {
    const entry = manifest.files[path];
    const before = entry && decodeUtf8(await memories.readFile(userKey, path, entry));
    const own = draft.files[path] === undefined ? undefined : files.get(path);
    return { kind: 'file', path, ...firstLine(before, own && decodeUtf8(own)) };
  }
  const field = firstField(fieldsOf(manifest), fieldsOf({ ...draft, version: manifest.version }));
  return field === undefined ? undefined : { kind: 'manifest', field };
}

function firstLine(before: string | undefined, after: string | undefined) {
  const [kept, replayed] = [before?.split('\n') ?? [], after?.split('\n') ?? []];
  let at = 0;
  while (at < kept.length && at < replayed.length && kept[at] === replayed[at]) at++;
  return { line: at + 1, kept: kept[at] ?? null, replayed: replayed[at] ?? null };
}

function fieldsOf(manifest: Manifest): Readonly<Record<string, unknown>> {
  const { created_at: _time, files, ...rest } = manifestToJson(manifest);
  return rest;
}

function firstField(kept: Readonly<Record<string, unknown>>, replayed: Readonly<Record<string, unknown>>) {
  const names = [...new Set([...Object.keys(kept), ...Object.keys(replayed)])];
  return names.find((name) => JSON.stringify(kept[name]) !== JSON.stringify(replayed[name]));
}
