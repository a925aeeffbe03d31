import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import {
  BUNDLE_ALIASES,
  BUNDLE_BANNER,
  BUNDLE_MAIN_FIELDS,
  BUNDLE_TARGET,
  type FunctionName,
  handlerFile,
  REPOSITORY,
} from '../../infra/bundling.ts';

export interface Bundle {
  /** An ES module that exports `handler`. */
  readonly file: string;
  readonly bytes: number;
  /** Paths of the modules that have a part in it. */
  readonly modules: readonly string[];
}

/** Bundles a function as it is deployed. */
export async function bundle(name: FunctionName, folder: string): Promise<Bundle> {
  const file = join(folder, name, 'index.mjs');
  const { metafile } = await build({
    absWorkingDir: REPOSITORY,
    entryPoints: [handlerFile(name)],
    outfile: file,
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: BUNDLE_TARGET,
    mainFields: [...BUNDLE_MAIN_FIELDS],
    alias: { ...BUNDLE_ALIASES },
    banner: { js: BUNDLE_BANNER },
  });
  return { file, ...contentsOf(metafile) };
}

function contentsOf({ outputs }: Metafile): { readonly bytes: number; readonly modules: readonly string[] } {
  const [output] = Object.values(outputs);
  const used = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return { bytes: output?.bytes ?? 0, modules: used.map(([path]) => path) };
}
