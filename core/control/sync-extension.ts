import { openVersion } from '../memory/memory-files.ts';
import type { Clock } from '../ports/clock.ts';
import type { ExtensionContent, ExtensionSync } from '../workspace/persistent-resources.ts';
import { needsExtensionSync, planExtensionSync } from '../workspace/persistent-resources.ts';
import { checkEditContent, checkEditPath } from './check-edit.ts';
import { type SaveEditsPorts, saveEdits } from './save-edits.ts';

/** As the command line shows it. */
export interface SyncedExtension extends Omit<ExtensionSync, 'edits'> {
  /** The version made; the present one where everything was in place. */
  readonly version: number;
  readonly changed: boolean;
}

/**
 * Brings an extension of the memory to what its source holds (behaviours K-06..K-09), as one version with the reason `edit`; the
 * next consolidation takes the difference in. The checks are those of edits by hand: secrets are redacted, sizes are bounded.
 * @throws InvalidInputError `extension.*`, and those of `saveEdits`; nothing is written then
 */
export async function syncExtension(
  ports: SaveEditsPorts & { readonly clock: Clock },
  userKey: string,
  content: ExtensionContent,
): Promise<SyncedExtension> {
  const folder = `extensions/${content.extension}/`;
  const current = await openVersion(ports, userKey);
  const files = new Map<string, Uint8Array>();
  for (const path of current.paths) if (path.startsWith(folder)) files.set(path, await current.read(path));
  // Compared in the form in which it is stored: what is redacted would else differ for ever.
  const stored = storedForm(content);
  const { edits, ...sync } = planExtensionSync(files, stored);
  if (!needsExtensionSync(files, stored)) return { ...sync, version: current.version, changed: false };
  const saved = await saveEdits(ports, {
    userKey,
    baseVersion: current.version,
    edits,
    actor: 'extension',
    now: ports.clock.now(),
  });
  return { ...sync, version: saved.version, changed: saved.kind === 'saved' };
}

function storedForm(content: ExtensionContent): ExtensionContent {
  const folder = `extensions/${content.extension}/`;
  const stored = (path: string, bytes: Uint8Array): Uint8Array => {
    checkEditPath(path);
    return checkEditContent(path, bytes);
  };
  // Names are refused by their own rule first.
  planExtensionSync(new Map(), content);
  return {
    ...content,
    instructions: stored(`${folder}instructions.md`, content.instructions),
    resources: content.resources.map((resource) => ({
      ...resource,
      content: stored(`${folder}resources/${resource.targetFileName}`, resource.content),
    })),
  };
}
