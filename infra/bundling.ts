import { join, resolve } from 'node:path';

/** Root of the repository: bundling runs there, so that paths in source maps are the same wherever the clone lies. */
export const REPOSITORY = resolve(import.meta.dirname, '..');

/** The deployed functions; each has a folder of its name under `functions/`. */
export const FUNCTION_NAMES = ['phase1', 'sweep', 'phase2', 'read', 'control', 'mcp'] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

export function handlerFile(name: FunctionName): string {
  return join(REPOSITORY, 'functions', name, 'handler.ts');
}

/** esbuild's target: the deployed runtime. */
export const BUNDLE_TARGET = 'node24';

/** Modules first: only what is imported by name can be left out when it is not used. */
export const BUNDLE_MAIN_FIELDS: readonly string[] = ['module', 'main'];

/**
 * What our functions never need, replaced by a few lines: the AWS SDK's chain of credential sources (files, SSO, processes),
 * since in Lambda credentials stand in the environment; and its streams of events, which no call of ours answers with.
 */
export const BUNDLE_ALIASES: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': './infra/stubs/credentials-env.ts',
  '@smithy/core/event-streams': './infra/stubs/event-streams.ts',
};

/** CommonJS packages call `require` for Node's own modules, which an ES module does not have. */
export const BUNDLE_BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** Largest minified bundle, bytes: the read path answers agents that wait, the others do not (issue 3). */
export const BUNDLE_LIMITS: Readonly<Record<FunctionName, number>> = {
  read: 600_000,
  phase1: 1_500_000,
  sweep: 1_500_000,
  phase2: 1_500_000,
  control: 1_500_000,
  mcp: 1_500_000,
};
