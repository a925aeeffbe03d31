#!/usr/bin/env node
// Plain JavaScript, so that any Node can read it: an older Node hands over to the pinned one (docs/decisions/0001).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const runsTypeScript = major > 23 || (major === 22 && minor >= 18) || (major === 23 && minor >= 6);

if (runsTypeScript) {
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
} else {
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (existsSync(pinned)) {
    const run = spawnSync(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
    if (run.signal) process.kill(process.pid, run.signal);
    process.exitCode = run.status ?? 70;
  } else {
    console.error(
      `stillroom needs Node 22.18 or newer (this is ${process.versions.node}); run "npm ci" to install the pinned one.`,
    );
    process.exitCode = 2;
  }
}
