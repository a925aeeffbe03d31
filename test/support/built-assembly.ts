import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { at, cdkContext, flat, list, REPOSITORY, type Tree, tree } from './synth.ts';

const STACK = 'Stillroom-dev';
const NO_NETWORK =
  "import net from 'node:net'; net.Socket.prototype.connect = () => { throw new Error('synthesis must not use the network'); };";

/** What `npm run synth` makes, bundles and all, by the same program in a process of its own. */
export class BuiltAssembly {
  readonly folder: string;
  readonly template: Tree;

  private constructor(folder: string) {
    this.folder = folder;
    this.template = tree(JSON.parse(readFileSync(join(folder, `${STACK}.template.json`), 'utf8')));
  }

  /**
   * Synthesises without an account, a network or Docker: no credentials and no home, every connection of a Node process
   * throws, and a `docker` that is called leaves a trace (user case C33).
   * @param folder an empty one
   */
  static async make(folder: string): Promise<BuiltAssembly> {
    const tools = join(folder, 'tools');
    const out = join(folder, 'cdk.out');
    mkdirSync(tools, { recursive: true });
    writeFileSync(join(tools, 'docker'), `#!/bin/sh\ntouch "${join(tools, 'called')}"\nexit 1\n`, { mode: 0o755 });
    const env = {
      PATH: `${tools}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NO_NETWORK)}`,
      CDK_OUTDIR: out,
      CDK_CONTEXT_JSON: JSON.stringify(cdkContext()),
    };
    const child = spawn(process.execPath, ['infra/app.ts'], {
      cwd: REPOSITORY,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (code !== 0) throw new Error(`synthesis ended with ${code}:\n${said.slice(-4_000)}`);
    if (existsSync(join(tools, 'called'))) throw new Error('synthesis called docker');
    return new BuiltAssembly(out);
  }

  /** SHA-256 of every file, by its path. */
  hashes(): ReadonlyMap<string, string> {
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map((entry) => relative(this.folder, join(entry.parentPath, entry.name))).sort();
    const hash = (path: string): string =>
      createHash('sha256')
        .update(readFileSync(join(this.folder, path)))
        .digest('hex');
    return new Map(paths.map((path) => [path, hash(path)]));
  }

  /** Folder of a function's code as it is uploaded. */
  code(name: string): string {
    const [hash] = String(at(this.#function(name), 'Properties', 'Code', 'S3Key')).split('.');
    return join(this.folder, `asset.${hash}`);
  }

  /** A function's environment as Lambda would set it, with references as text of the right form. */
  environment(name: string): Readonly<Record<string, string>> {
    const variables = tree(at(this.#function(name), 'Properties', 'Environment', 'Variables') ?? {});
    return Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, standIn(key, value)]));
  }

  #function(name: string): unknown {
    const found = Object.values(tree(this.template['Resources'])).find((item) =>
      String(at(item, 'Properties', 'FunctionName')).endsWith(`-${name}`),
    );
    if (found === undefined) throw new Error(`no function ${name}`);
    return found;
  }
}

function standIn(key: string, value: unknown): string {
  if (typeof value === 'string') return value;
  const text = flat(value);
  if (key === 'QUEUE_URL') return 'https://sqs.eu-central-1.amazonaws.com/111122223333/rollouts';
  if (key === 'API_URL') return 'https://api.example.com';
  return text.replace(/[<>]/g, '');
}

/** Packages of node_modules that a bundle holds code of, by its source map. */
export function packagesOf(codeFolder: string): ReadonlySet<string> {
  const map: unknown = JSON.parse(readFileSync(join(codeFolder, 'index.mjs.map'), 'utf8'));
  const sources = list(at(map, 'sources')).map(String);
  return new Set(sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []));
}
