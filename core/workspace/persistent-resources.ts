import * as z from 'zod/mini';
import { InvalidInputError } from '../errors.ts';
import { sha256Hex } from '../ids.ts';
import { compareBytes, decodeUtf8Strict, encodeUtf8 } from '../text.ts';
import type { FileTree } from './file-tree.ts';

/** A document that stays with an extension until its source takes it away: unlike dated resources it is never pruned. */
export interface ExtensionResource {
  /** How the source knows it, unique within the extension. */
  readonly sourceId: string;
  /** One name ending in `.md`. */
  readonly targetFileName: string;
  readonly content: Uint8Array;
}

/** All that an extension is to hold (behaviours K-06). */
export interface ExtensionContent {
  /** One name: the folder below `extensions/`. */
  readonly extension: string;
  readonly instructions: Uint8Array;
  readonly resources: readonly ExtensionResource[];
}

export interface ExtensionSync {
  /** New content by path; null = delete. Empty: everything is in place. */
  readonly edits: ReadonlyMap<string, Uint8Array | null>;
  /** Target names of resources, by bytes. */
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
}

const manifestShape = z.object({
  version: z.literal(1),
  resources: z.record(z.string(), z.object({ targetFileName: z.string(), contentSha256: z.string() })),
});

/**
 * What is to be written and removed so that an extension holds exactly this (behaviours K-06, K-07): its instructions, its
 * resources, and a manifest of them. What is as it should be is not written again; what an earlier manifest lists and is no longer
 * wanted goes; files that no manifest lists are somebody else's and stay.
 * @param files of the memory
 * @throws InvalidInputError `extension.*`, before anything (behaviours K-09)
 */
export function planExtensionSync(files: FileTree, content: ExtensionContent): ExtensionSync {
  checkContent(content);
  const folder = folderOf(content.extension);
  const wanted = new Map(content.resources.map((resource) => [resource.targetFileName, resource.content]));
  const former = Object.values(readManifest(files, folder)?.resources ?? {}).map((item) => item.targetFileName);
  const edits = new Map<string, Uint8Array | null>();
  const put = (path: string, text: Uint8Array): boolean => {
    if (isSame(files.get(path), text)) return false;
    edits.set(path, text);
    return true;
  };
  const written = [...wanted].flatMap(([name, text]) => (put(resourcePath(folder, name), text) ? [name] : []));
  const removed = former.filter((name) => !wanted.has(name) && isName(name) && files.has(resourcePath(folder, name)));
  for (const name of removed) edits.set(resourcePath(folder, name), null);
  put(`${folder}instructions.md`, content.instructions);
  put(`${folder}manifest.json`, encodeUtf8(renderManifest(content.resources)));
  const names = (list: readonly string[]): readonly string[] => [...new Set(list)].sort(compareBytes);
  return { edits, written: names(written), removed: names(removed), unchanged: wanted.size - written.length };
}

/**
 * Whether an extension is not as it should be (behaviours K-08). A folder that is not there needs nothing while there are no
 * resources; a manifest that cannot be read always does.
 * @throws InvalidInputError as `planExtensionSync`
 */
export function needsExtensionSync(files: FileTree, content: ExtensionContent): boolean {
  checkContent(content);
  const folder = folderOf(content.extension);
  const isThere = [...files.keys()].some((path) => path.startsWith(folder));
  if (!isThere) return content.resources.length > 0;
  return readManifest(files, folder) === undefined || planExtensionSync(files, content).edits.size > 0;
}

function checkContent({ extension, resources }: ExtensionContent): void {
  if (!isName(extension)) throw refuse('extension.invalid_name', 'extension', 'must be one name, without a slash');
  const ids = new Set<string>();
  const targets = new Set<string>();
  for (const { sourceId, targetFileName } of resources) {
    if (sourceId === '' || ids.has(sourceId))
      throw refuse('extension.invalid_source', 'source_id', 'must not be empty, and each must be used once');
    if (!isName(targetFileName) || !targetFileName.endsWith('.md'))
      throw refuse('extension.invalid_target', 'target_file_name', 'must be one name that ends in .md');
    if (targets.has(targetFileName))
      throw refuse('extension.duplicate_target', 'target_file_name', 'must be used once');
    ids.add(sourceId);
    targets.add(targetFileName);
  }
}

/** Exactly one component of a path. */
function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function folderOf(extension: string): string {
  return `extensions/${extension}/`;
}

function resourcePath(folder: string, name: string): string {
  return `${folder}resources/${name}`;
}

/** @returns undefined when there is none that can be read */
function readManifest(files: FileTree, folder: string): z.infer<typeof manifestShape> | undefined {
  const text = decodeUtf8Strict(files.get(`${folder}manifest.json`) ?? new Uint8Array());
  const found = manifestShape.safeParse(parseJson(text ?? ''));
  return found.success ? found.data : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // counts as no manifest
  }
}

/** Pretty-printed, ids in byte order, a final LF (behaviours K-07). */
function renderManifest(resources: readonly ExtensionResource[]): string {
  const sorted = [...resources].sort((left, right) => compareBytes(left.sourceId, right.sourceId));
  const entries = sorted.map(
    ({ sourceId, targetFileName, content }) =>
      `    ${JSON.stringify(sourceId)}: {\n      "targetFileName": ${JSON.stringify(targetFileName)},\n      "contentSha256": "${sha256Hex(content)}"\n    }`,
  );
  const body = entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n  }`;
  return `{\n  "version": 1,\n  "resources": ${body}\n}\n`; // by hand: an object would put ids that are numbers first
}

function isSame(left: Uint8Array | undefined, right: Uint8Array): boolean {
  return left !== undefined && sha256Hex(left) === sha256Hex(right);
}

function refuse(code: string, field: string, rule: string): InvalidInputError {
  return new InvalidInputError(code, `${field} ${rule}`, { details: { field } });
}
