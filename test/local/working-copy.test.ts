import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../core/agent/token-usage.ts';
import type { Manifest } from '../../core/consolidation/manifest.ts';
import { sha256Hex } from '../../core/ids.ts';
import { encodeUtf8 } from '../../core/text.ts';
import { WorkingCopy, type WorkingCopyChanges } from '../../local/working-copy.ts';

let home = '';
let copy = new WorkingCopy('');
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stillroom-copy-'));
  copy = new WorkingCopy(join(home, 'memories'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const FILES = { 'MEMORY.md': 'memory\n', 'raw_memories.md': 'raw\n', 'skills/build/SKILL.md': 'skill\n' };

function tree(files: Readonly<Record<string, string>>): Map<string, Uint8Array> {
  return new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)]));
}

function manifest(files: Readonly<Record<string, string>>): Manifest {
  const entries = Object.entries(files).map(([path, text]) => {
    const sha256 = sha256Hex(text);
    return [path, { versionId: sha256, sha256, bytes: encodeUtf8(text).length }];
  });
  return {
    version: 1,
    parent: 0,
    createdAt: 0,
    reason: 'consolidation',
    actor: 'consolidation',
    inputs: [],
    removed: [],
    files: Object.fromEntries(entries),
    model: null,
    promptVersion: null,
    tokenUsage: NO_USAGE,
    notesConsumed: [],
  };
}

async function changes(): Promise<WorkingCopyChanges> {
  const found = await copy.readChanges(async () => manifest(FILES));
  if (found === undefined) throw new Error('there is no copy');
  return found;
}

function read(path: string): string {
  return readFileSync(join(copy.folder, path), 'utf8');
}

describe('WorkingCopy', () => {
  it('has no version before the first copy', async () => {
    expect(await copy.version()).toBeUndefined();
    expect(await copy.readChanges(async () => undefined)).toBeUndefined();
  });

  it('holds the files of the version and no change right after it was made', async () => {
    await copy.replace(1, tree(FILES), undefined);
    expect(read('skills/build/SKILL.md')).toBe('skill\n');
    expect(await copy.version()).toBe(1);
    expect((await changes()).edits.size).toBe(0);
  });

  it('sees changed, new and deleted files that a person may change', async () => {
    await copy.replace(1, tree(FILES), undefined);
    writeFileSync(join(copy.folder, 'MEMORY.md'), 'mine\n');
    mkdirSync(join(copy.folder, 'skills/new'), { recursive: true });
    writeFileSync(join(copy.folder, 'skills/new/SKILL.md'), 'new\n');
    rmSync(join(copy.folder, 'skills/build/SKILL.md'));
    const { edits } = await changes();
    expect([...edits.keys()].sort()).toEqual(['MEMORY.md', 'skills/build/SKILL.md', 'skills/new/SKILL.md']);
    expect(edits.get('skills/build/SKILL.md')).toBeNull();
  });

  it('reports changes of rebuilt files and links without taking them over', async () => {
    await copy.replace(1, tree(FILES), undefined);
    writeFileSync(join(copy.folder, 'raw_memories.md'), 'mine\n');
    symlinkSync('/etc/hostname', join(copy.folder, 'skills/link'));
    const found = await changes();
    expect(found.edits.size).toBe(0);
    expect(found.ignored).toEqual(['raw_memories.md', 'skills/link']);
  });

  it('carries an edit that was saved after the last look into the next copy', async () => {
    await copy.replace(1, tree(FILES), undefined);
    const seen = await changes();
    writeFileSync(join(copy.folder, 'MEMORY.md'), 'late edit\n');
    await copy.replace(2, tree({ ...FILES, 'MEMORY.md': 'version 2\n' }), seen);
    expect(read('MEMORY.md')).toBe('late edit\n');
    expect(await copy.version()).toBe(2);
  });

  it('drops an edit that was already seen and published', async () => {
    await copy.replace(1, tree(FILES), undefined);
    writeFileSync(join(copy.folder, 'MEMORY.md'), 'seen edit\n');
    const seen = await changes();
    await copy.replace(2, tree({ ...FILES, 'MEMORY.md': 'merged\n' }), seen);
    expect(read('MEMORY.md')).toBe('merged\n');
  });

  it('puts the old copy back when a kill fell between the two renames', async () => {
    await copy.replace(1, tree(FILES), undefined);
    renameSync(copy.folder, `${copy.folder}.old`);
    mkdirSync(`${copy.folder}.next`);
    await copy.recover();
    expect(read('MEMORY.md')).toBe('memory\n');
    expect(existsSync(`${copy.folder}.next`)).toBe(false);
  });

  it('refuses to guess when its marker is damaged, and names the cure', async () => {
    await copy.replace(1, tree(FILES), undefined);
    writeFileSync(join(copy.folder, '.version.json'), 'garbage');
    await expect(copy.version()).rejects.toThrow(/move the folder memories\/ away/);
    expect(read('MEMORY.md')).toBe('memory\n');
  });

  it('clears up when a kill fell after the second rename', async () => {
    await copy.replace(2, tree(FILES), undefined);
    mkdirSync(`${copy.folder}.old`);
    await copy.recover();
    expect(existsSync(`${copy.folder}.old`)).toBe(false);
    expect(await copy.version()).toBe(2);
  });
});
