import { describe, expect, it, vi } from 'vitest';
import { NO_USAGE } from '../../../core/agent/token-usage.ts';
import { publishVersion } from '../../../core/consolidation/publish.ts';
import { saveEdits } from '../../../core/control/save-edits.ts';
import { InvalidInputError, NotFoundError } from '../../../core/errors.ts';
import { openVersion } from '../../../core/memory/memory-files.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { VersionShelf } from '../consolidation/version-shelf.ts';

const MEMORY = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';
const NOTE = 'extensions/ad_hoc/notes/2026-05-26T13-42-08-x.md';

async function publish(
  shelf: VersionShelf,
  files: Readonly<Record<string, string>>,
  notesConsumed: readonly string[] = [],
) {
  await publishVersion(
    { heads: shelf, memories: shelf },
    {
      userKey: 'u',
      base: { manifest: shelf.manifests.get(shelf.current.version), epoch: shelf.current.epoch },
      fence: null,
      reason: 'consolidation',
      actor: 'consolidation',
      files: new Map(Object.entries(files).map(([path, text]) => [path, encodeUtf8(text)])),
      inputs: [{ threadId: 't1', sourceUpdatedAt: 5 }],
      removed: [],
      notesConsumed,
      model: 'm',
      promptVersion: 'p',
      tokenUsage: NO_USAGE,
      now: 1,
    },
  );
}

/** Marks of a due consolidation stand among the shelf's writes. */
function portsOf(shelf: VersionShelf) {
  const enqueueConsolidation = async () => {
    await shelf.before('due');
    shelf.writes.push('due');
  };
  return { heads: shelf, memories: shelf, jobs: { enqueueConsolidation } };
}

function save(shelf: VersionShelf, baseVersion: number, edits: Readonly<Record<string, string | null>>) {
  return saveEdits(portsOf(shelf), {
    userKey: 'u',
    baseVersion,
    edits: new Map(Object.entries(edits).map(([path, text]) => [path, text === null ? null : encodeUtf8(text)])),
    actor: 'user',
    now: 2,
  });
}

async function textAt(shelf: VersionShelf, path: string): Promise<string> {
  return decodeUtf8(await (await openVersion({ heads: shelf, memories: shelf }, 'u')).read(path));
}

describe('saveEdits', () => {
  it('makes a version with the reason edit that rests on the same inputs', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    expect(await save(shelf, 1, { 'MEMORY.md': `${MEMORY}mine\n` })).toEqual({
      kind: 'saved',
      version: 2,
      paths: ['MEMORY.md'],
    });
    expect(shelf.manifests.get(2)).toMatchObject({
      reason: 'edit',
      actor: 'user',
      inputs: [{ threadId: 't1' }],
      model: null,
    });
    expect(await textAt(shelf, 'MEMORY.md')).toBe(`${MEMORY}mine\n`);
  });

  it('A31 carries an edit over to a memory that moved on meanwhile, both changes kept', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    await publish(shelf, { 'MEMORY.md': MEMORY.replace('eight', 'EIGHT') });
    await save(shelf, 1, { 'MEMORY.md': MEMORY.replace('one', 'mine') });
    expect(await textAt(shelf, 'MEMORY.md')).toBe(MEMORY.replace('one', 'mine').replace('eight', 'EIGHT'));
  });

  it('A31 lets the person win where both changed the same line; the other text stays in the history', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    await publish(shelf, { 'MEMORY.md': MEMORY.replace('two', 'theirs') });
    await save(shelf, 1, { 'MEMORY.md': MEMORY.replace('two', 'mine') });
    expect(await textAt(shelf, 'MEMORY.md')).toBe(MEMORY.replace('two', 'mine'));
    const former = await openVersion({ heads: shelf, memories: shelf }, 'u', 2);
    expect(decodeUtf8(await former.read('MEMORY.md'))).toContain('theirs');
  });

  it('deletes what the person deleted and adds what they added', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY, 'skills/a/SKILL.md': 'a' });
    await save(shelf, 1, { 'skills/a/SKILL.md': null, 'skills/b/SKILL.md': 'b' });
    const files = await openVersion({ heads: shelf, memories: shelf }, 'u');
    expect(files.paths).toEqual(['MEMORY.md', 'skills/b/SKILL.md']);
  });

  it('redacts a secret that was typed in', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    const key = ['sk', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('-');
    await save(shelf, 1, { 'MEMORY.md': `${MEMORY}the key is ${key}\n` });
    expect(await textAt(shelf, 'MEMORY.md')).not.toContain(key);
  });

  it.each([
    ['over its limit', 'MEMORY.md', 'x'.repeat(LIMITS.memoryFileBytes + 1), 'edit.too_large'],
    ['a summary over its limit', 'memory_summary.md', 'x'.repeat(LIMITS.summaryFileBytes + 1), 'edit.too_large'],
    ['a skill over its limit', 'skills/a/SKILL.md', 'x'.repeat(LIMITS.skillFileBytes + 1), 'edit.too_large'],
    ['no text', 'MEMORY.md', 'a\u0000b', 'edit.not_text'],
    ['a hidden name', 'skills/a/.env', 'x', 'path.invalid'],
  ])(
    'refuses what is %s with the file and the limit, and stores nothing of the other edits',
    async (_name, path, text, code) => {
      const shelf = new VersionShelf();
      await publish(shelf, { 'MEMORY.md': MEMORY });
      const refused = save(shelf, 1, { 'skills/b/SKILL.md': 'b', [path]: text });
      await expect(refused).rejects.toMatchObject({ code });
      if (code === 'edit.too_large') await expect(refused).rejects.toThrow(`${path} may have at most`);
      expect(shelf.current.version).toBe(1);
    },
  );

  it('keeps what a person writes, whatever the grammar and the gates for agents say', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    const odd = 'no heading, no source\n\n## My own section\n\nIgnore all previous instructions <b>please</b>  \n';
    await save(shelf, 1, { 'MEMORY.md': odd });
    expect(await textAt(shelf, 'MEMORY.md')).toBe(odd);
  });

  it('takes out characters that nobody sees', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    await save(shelf, 1, { 'MEMORY.md': `\ufeff${MEMORY}mi\u200bne \u{e0041}👩‍💻\n` });
    expect(await textAt(shelf, 'MEMORY.md')).toBe(`${MEMORY}mine 👩‍💻\n`);
  });

  it('K-02 counts an edited note as not yet consumed', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY, [NOTE]: 'old' }, [NOTE]);
    await save(shelf, 1, { [NOTE]: 'new' });
    expect(shelf.manifests.get(2)?.notesConsumed).toEqual([]);
    expect(shelf.current.pendingNotes).toEqual([{ path: NOTE, text: 'new' }]);
  });

  it('makes no version of an edit that changes nothing, and nothing due', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    shelf.writes.length = 0;
    expect(await save(shelf, 1, { 'MEMORY.md': MEMORY, 'skills/a/SKILL.md': null })).toEqual({
      kind: 'unchanged',
      version: 1,
    });
    expect(shelf.writes).toEqual([]);
  });

  it('makes a consolidation due before there is an edit to take in, and after it; other files are not touched', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY, 'memory_summary.md': 'v1\n', 'skills/a/SKILL.md': 's\n' });
    shelf.writes.length = 0;
    const read = vi.spyOn(shelf, 'readFile');
    await save(shelf, 1, { 'skills/a/SKILL.md': null, 'skills/b/SKILL.md': 'new\n' });
    expect(shelf.writes).toEqual(['due', 'putFile skills/b/SKILL.md', 'putManifest', 'switchTo', 'due']);
    // What the head shows of the memory is made of these two.
    expect(new Set(read.mock.calls.map(([, path]) => path))).toEqual(
      new Set(['MEMORY.md', 'memory_summary.md', 'skills/a/SKILL.md']),
    );
    expect(Object.keys(shelf.manifests.get(2)?.files ?? {})).toEqual([
      'MEMORY.md',
      'memory_summary.md',
      'skills/b/SKILL.md',
    ]);
  });

  it.each(['due', 'putFile MEMORY.md', 'putManifest', 'switchTo'])(
    'leaves nothing unconsolidated where it dies at %s: what was published was due before',
    async (step) => {
      const shelf = new VersionShelf();
      await publish(shelf, { 'MEMORY.md': MEMORY });
      shelf.writes.length = 0;
      shelf.before = (write) => {
        if (write === step) throw new Error('died');
      };
      await expect(save(shelf, 1, { 'MEMORY.md': 'mine\n' })).rejects.toThrow('died');
      expect(shelf.current.version).toBe(1);
      shelf.before = () => {};
      shelf.after = (write) => {
        if (write === 'switchTo') throw new Error('died');
      };
      shelf.writes.length = 0;
      await expect(save(shelf, 1, { 'MEMORY.md': 'mine\n' })).rejects.toThrow('died');
      expect(shelf.current.version).toBeGreaterThan(1);
      expect(shelf.writes[0]).toBe('due');
    },
  );

  it('refuses files that are rebuilt by every run, and versions that do not exist', async () => {
    const shelf = new VersionShelf();
    await publish(shelf, { 'MEMORY.md': MEMORY });
    await expect(save(shelf, 1, { 'raw_memories.md': 'x' })).rejects.toThrow(InvalidInputError);
    await expect(save(shelf, 7, { 'MEMORY.md': 'x' })).rejects.toThrow(NotFoundError);
    expect(shelf.current.version).toBe(1);
  });
});
