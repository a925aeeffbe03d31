import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { FilesTemplateStore } from '../../adapters/files/template-store.ts';
import { MemoryTemplateStore } from '../doubles/memory-template-store.ts';
import { templateStoreContract } from './template-store.contract.ts';

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

templateStoreContract('in memory', async (sources) => new MemoryTemplateStore(sources));
templateStoreContract('files', async (sources) => {
  const folder = await mkdtemp(join(tmpdir(), 'stillroom-templates-'));
  folders.push(folder);
  for (const [name, source] of Object.entries(sources)) await writeFile(join(folder, `${name}.md`), source);
  return new FilesTemplateStore(folder);
});
