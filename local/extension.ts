import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SyncedExtension, syncExtension } from '../core/control/sync-extension.ts';
import { InvalidInputError } from '../core/errors.ts';
import type { ExtensionResource } from '../core/workspace/persistent-resources.ts';
import type { Home } from './home.ts';
import { refreshWorkingCopy, takeEdits } from './sync-working-copy.ts';

const INSTRUCTIONS = 'instructions.md';
const MAX_FILES = 500;

/**
 * Brings an extension of a home to what a folder holds: `instructions.md`, and every other `*.md` directly in it as a resource
 * known by its name.
 * @throws InvalidInputError `extension.unreadable`, `extension.no_instructions`, `extension.too_many`; those of `syncExtension`
 */
export async function syncExtensionFolder(home: Home, extension: string, folder: string): Promise<SyncedExtension> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw refuse('extension.unreadable', `${folder} is no folder that can be read`, cause);
  });
  const documents = names.filter((name) => name.endsWith('.md') && !name.startsWith('.')).sort();
  if (!documents.includes(INSTRUCTIONS))
    throw refuse(
      'extension.no_instructions',
      `${folder} must hold ${INSTRUCTIONS}, which says how the other files are to be read`,
    );
  if (documents.length > MAX_FILES)
    throw refuse('extension.too_many', `an extension may hold ${MAX_FILES} files, ${folder} has ${documents.length}`);
  const resources: ExtensionResource[] = [];
  for (const name of documents.filter((each) => each !== INSTRUCTIONS))
    resources.push({ sourceId: name, targetFileName: name, content: await read(folder, name) });
  const instructions = await read(folder, INSTRUCTIONS);
  await takeEdits(home);
  const synced = await syncExtension(home, home.userKey, { extension, instructions, resources });
  await refreshWorkingCopy(home);
  return synced;
}

async function read(folder: string, name: string): Promise<Uint8Array> {
  return readFile(join(folder, name)).catch((cause: unknown) => {
    throw refuse('extension.unreadable', `${join(folder, name)} cannot be read`, cause);
  });
}

function refuse(code: string, message: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(code, message, { details: { field: 'folder' }, cause });
}
