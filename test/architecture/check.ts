/**
 * What the compiler cannot see of architecture.md: which packages a folder may import, that only `wire.ts` names adapters,
 * that imports have no cycles, that the environment is read in one place, and that nobody leaves a marker without an issue.
 * Run by `npm run check`; prints one line a fault and exits with 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const SKIPPED = new Set(['node_modules', '.git', '.build', '.stillroom', 'cdk.out', 'coverage']);
const CORE_PACKAGES = ['zod', 'diff', 'minisearch', 'mustache', '@noble/hashes'];

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const faults: string[] = [];
const sources = new Map(listSources(ROOT).map((path) => [path, readSource(path)]));

for (const source of sources.values()) {
  checkPackages(source);
  checkWiring(source);
  checkMarkers(source);
}
checkCycles();

for (const fault of faults.sort()) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`architecture: ${sources.size} sources, no fault`);

function listSources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listSources(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts') ? [relative(ROOT, path)] : [];
  });
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(
    /^(?:import\s+(?:[\w*{}\s,$]+?\s+from\s+)?|export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s+from\s+)'([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return { path, text, imports: [...found].map((match) => match[1] ?? match[2] ?? '') };
}

function checkPackages(source: Source): void {
  for (const name of source.imports) {
    if (name.startsWith('.')) continue;
    const allowed = CORE_PACKAGES.some((item) => name === item || name.startsWith(`${item}/`));
    if (source.path.startsWith('core/') && !allowed) faults.push(`${source.path}: core may not import ${name}`);
    if (
      /^(@aws-sdk|@smithy)\//.test(name) &&
      !/^(adapters\/(dynamodb|s3|sqs|durable|secrets)|test|bench)\//.test(source.path)
    ) {
      faults.push(`${source.path}: only the AWS adapters may import ${name}`);
    }
    if (/^(aws-cdk-lib|constructs|cdk-nag)\b/.test(name) && !/^(infra|test)\//.test(source.path)) {
      faults.push(`${source.path}: only infra may import ${name}`);
    }
    if (name === 'zod' && /import\s*\{/.test(lineOf(source, name))) {
      faults.push(`${source.path}: import zod as a namespace; a named import drags in all of it`);
    }
  }
}

function checkWiring(source: Source): void {
  const targets = localImports(source);
  if (source.path.startsWith('functions/') && !source.path.endsWith('/wire.ts')) {
    for (const target of targets)
      if (target.startsWith('adapters/')) faults.push(`${source.path}: only wire.ts names adapters`);
  }
  if (source.path.startsWith('adapters/')) {
    const own = source.path.split('/').slice(0, 2).join('/');
    for (const target of targets) {
      if (!target.startsWith(`${own}/`) && !target.startsWith('core/') && !target.startsWith('adapters/compression/'))
        faults.push(`${source.path}: may not import ${target}`);
    }
  }
}

function checkMarkers(source: Source): void {
  if (source.path === 'test/architecture/check.ts') return;
  source.text.split('\n').forEach((line, at) => {
    if (/\b(TODO|FIXME|XXX)\b(?!.*#\d+)/.test(line))
      faults.push(`${source.path}:${at + 1}: marker without an issue number`);
    if (/\bprocess\.env\b/.test(line) && !source.path.endsWith('env.ts') && !/^(test|bench)\//.test(source.path)) {
      faults.push(`${source.path}:${at + 1}: the environment is read in env.ts only`);
    }
  });
}

function checkCycles(): void {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const seen = trail.indexOf(path);
    if (seen >= 0) {
      faults.push(`cycle: ${[...trail.slice(seen), path].join(' -> ')}`);
      return;
    }
    const source = sources.get(path);
    if (done.has(path) || !source) return;
    for (const target of localImports(source)) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
}

function localImports(source: Source): string[] {
  return source.imports
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(ROOT, resolve(ROOT, dirname(source.path), name)));
}

function lineOf(source: Source, name: string): string {
  return source.text.split('\n').find((line) => line.includes(`'${name}'`)) ?? '';
}
