import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnv as readControlEnv } from '../../functions/control/env.ts';
import { readEnv as readMcpEnv } from '../../functions/mcp/env.ts';
import { readEnv as readPhase1Env } from '../../functions/phase1/env.ts';
import { readEnv as readPhase2Env } from '../../functions/phase2/env.ts';
import { readEnv as readReadEnv } from '../../functions/read/env.ts';
import { readEnv as readSweepEnv } from '../../functions/sweep/env.ts';
import { BUNDLE_LIMITS, FUNCTION_NAMES, type FunctionName } from '../../infra/bundling.ts';
import { BuiltAssembly, packagesOf } from '../support/built-assembly.ts';
import { gatewayEvent } from '../support/gateway-event.ts';
import { invokeBundle } from '../support/invoke-bundle.ts';
import { REPOSITORY } from '../support/synth.ts';

const folder = mkdtempSync(join(tmpdir(), 'stillroom-synth-'));
let built: BuiltAssembly;
let again: BuiltAssembly;

beforeAll(async () => {
  [built, again] = await Promise.all([BuiltAssembly.make(join(folder, 'a')), BuiltAssembly.make(join(folder, 'b'))]);
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('synthesis without account, network and Docker', () => {
  it('of one commit makes the same bytes twice, bundles and hashes included', () => {
    expect(built.hashes().size).toBeGreaterThan(10);
    expect([...again.hashes()]).toEqual([...built.hashes()]);
  });

  it('uses the bundler of the lock file, at an exact version (C33)', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
    const lock = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8'));
    expect(devDependencies.esbuild).toMatch(/^\d+\.\d+\.\d+$/);
    expect(lock.packages['node_modules/esbuild'].version).toBe(devDependencies.esbuild);
  });
});

describe.each(FUNCTION_NAMES)('the bundle of %s', (name) => {
  it('is one module with its source map, and no native add-on (C36)', () => {
    expect(readdirSync(built.code(name), { recursive: true }).sort()).toEqual(['index.mjs', 'index.mjs.map']);
  });

  it('is small enough', () => {
    expect(statSync(join(built.code(name), 'index.mjs')).size).toBeLessThanOrEqual(BUNDLE_LIMITS[name]);
  });

  it('holds nothing of the tools that made it, and no chain of credential sources', () => {
    const foreign = [...packagesOf(built.code(name))].filter((item) =>
      /^(aws-cdk-lib|constructs|cdk-nag|vitest|esbuild|bowser|gpt-tokenizer|@aws-sdk\/credential-provider-.*)$/.test(
        item,
      ),
    );
    expect(foreign).toEqual([]);
  });

  it('loads in plain Node with the environment of the template, and answers a sample event (C34)', async () => {
    const { event, end } = SAMPLES[name];
    expect(await invokeBundle(built.code(name), built.environment(name), event)).toMatchObject(end);
  });
});

describe('the bundle of read', () => {
  it('holds no model SDK and no MCP', () => {
    const packages = [...packagesOf(built.code('read'))];
    expect(packages).toContain('hono');
    expect(packages.filter((item) => /^(openai$|@modelcontextprotocol\/|@secretlint\/)/.test(item))).toEqual([]);
  });
});

type ReadEnv = (variables: Readonly<Record<string, string | undefined>>) => unknown;

const READERS: Readonly<Record<FunctionName, ReadEnv>> = {
  phase1: readPhase1Env,
  sweep: readSweepEnv,
  phase2: readPhase2Env,
  read: readReadEnv,
  control: readControlEnv,
  mcp: readMcpEnv,
};

describe.each(FUNCTION_NAMES)('the environment of %s', (name) => {
  const read = READERS[name];
  /** What the function sees of an environment, or that it would not start. */
  const seen = (variables: Readonly<Record<string, string | undefined>>): string => {
    try {
      return JSON.stringify(read(variables));
    } catch {
      return 'refused';
    }
  };

  it('has every variable that the function asks for', () => {
    expect(() => read(built.environment(name))).not.toThrow();
  });

  it('has no variable that the function does not look at', () => {
    const given = built.environment(name);
    for (const variable of Object.keys(given)) {
      // Of Node and Powertools, which read them themselves.
      if (variable === 'NODE_OPTIONS' || variable.startsWith('POWERTOOLS_')) continue;
      const changed = [undefined, `${given[variable]}x`, '?'].map((value) => seen({ ...given, [variable]: value }));
      expect([variable, changed.some((answer) => answer !== seen(given))]).toEqual([variable, true]);
    }
  });
});

/** One event a function, and how it ends where nobody answers for AWS: at once, with a code, and without a way around. */
const SAMPLES: Readonly<Record<FunctionName, { readonly event: unknown; readonly end: object }>> = {
  phase1: { event: { Records: [] }, end: { answer: { batchItemFailures: [] } } },
  sweep: { event: {}, end: { failure: { name: 'UnavailableError' } } },
  phase2: { event: {}, end: { failure: { name: 'Error' } } },
  read: { event: gatewayEvent({ path: '/healthz' }), end: { answer: { statusCode: 200 } } },
  control: { event: gatewayEvent({ path: '/v1/settings' }), end: { answer: { statusCode: 401 } } },
  mcp: { event: gatewayEvent({ method: 'POST', path: '/mcp', body: '{}' }), end: { answer: { statusCode: 401 } } },
};
