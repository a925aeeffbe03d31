import { describe, expect, it } from 'vitest';
import { type EditFileRequest, editFile } from '../../../core/control/edit-file.ts';
import { ConflictError, InvalidInputError, NotFoundError } from '../../../core/errors.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { benchWith, type ConsolidationBench, USER } from '../consolidation/consolidation-bench.ts';

async function worldWithMemory() {
  const bench = await benchWith('t1');
  await bench.goodRun('t1');
  const edit = (path: string, text: string | Uint8Array | null, more: Partial<EditFileRequest> = {}) => {
    const content = typeof text === 'string' ? encodeUtf8(text) : text;
    return editFile(bench, USER, { path, content, version: 1, actor: 'user', ...more });
  };
  return { bench, edit };
}

/** The present version and whether a consolidation is due. */
async function stateOf(bench: ConsolidationBench) {
  const job = await bench.jobs.get(USER, { kind: 'consolidation' });
  const { version } = await bench.heads.read(USER);
  return { version, due: (job?.inputWatermark ?? 0) > (job?.successWatermark ?? 0) };
}

describe('editFile', () => {
  it('A31 makes an edit version that rests on the same inputs, due to be consolidated', async () => {
    const { bench, edit } = await worldWithMemory();
    expect(await stateOf(bench)).toEqual({ version: 1, due: false });
    const text = bench.goodMemory(['t1'], ['By hand [Task 1]']);
    expect(await edit('MEMORY.md', text)).toEqual({ path: 'MEMORY.md', version: 2, changed: true, created: false });
    expect(await bench.manifest()).toMatchObject({
      reason: 'edit',
      actor: 'user',
      parent: 1,
      inputs: [{ threadId: 't1' }],
    });
    expect((await bench.files())['MEMORY.md']).toBe(text);
    expect(await stateOf(bench)).toEqual({ version: 2, due: true });
  });

  it('creates and deletes files, and starts a memory that has none', async () => {
    const { bench, edit } = await worldWithMemory();
    expect(await edit('extensions/team/rules.md', 'be kind\n')).toMatchObject({ version: 2, created: true });
    expect(await edit('extensions/team/rules.md', null, { version: 2 })).toMatchObject({ version: 3, changed: true });
    expect(await bench.files()).not.toHaveProperty('extensions/team/rules.md');
    const empty = await benchWith();
    const request = { path: 'MEMORY.md', content: encodeUtf8('# mine\n'), version: 0, actor: 'user' };
    expect(await editFile(empty, USER, request)).toMatchObject({ version: 1, created: true });
  });

  it('refuses an edit over another version than the present one, and changes nothing', async () => {
    const { bench, edit } = await worldWithMemory();
    await edit('MEMORY.md', 'first\n');
    const late = edit('memory_summary.md', 'v1\nlate\n');
    await expect(late).rejects.toThrow(ConflictError);
    await expect(late).rejects.toMatchObject({ code: 'edit.stale', details: { version: 2 } });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([1, 2]);
  });

  it('refuses it too where another edit wins at the very switch, though of another file', async () => {
    const { bench, edit } = await worldWithMemory();
    const both = await Promise.allSettled([edit('MEMORY.md', 'mine\n'), edit('skills/a/SKILL.md', 'theirs\n')]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'edit.stale' } });
    expect((await stateOf(bench)).version).toBeLessThan(4);
  });

  it('makes no version and nothing due where the file is like that already', async () => {
    const { bench, edit } = await worldWithMemory();
    const text = (await bench.files())['MEMORY.md'] ?? '';
    expect(await edit('MEMORY.md', text)).toEqual({ path: 'MEMORY.md', version: 1, changed: false, created: false });
    expect(await stateOf(bench)).toEqual({ version: 1, due: false });
  });

  it('DV-6 redacts secrets', async () => {
    const { bench, edit } = await worldWithMemory();
    const key = ['sk', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('-');
    await edit('extensions/team/rules.md', `the key is ${key}\n`);
    expect((await bench.files())['extensions/team/rules.md']).toContain('[REDACTED_SECRET]');
  });

  it('keeps bytes that are no text below extensions/ as they are', async () => {
    const { bench, edit } = await worldWithMemory();
    const bytes = new Uint8Array([0xff, 0, 0xfe]);
    await edit('extensions/team/logo.png', bytes);
    const entry = (await bench.manifest())?.files['extensions/team/logo.png'];
    if (entry === undefined) throw new Error('no file');
    expect(await bench.memories.readFile(USER, 'extensions/team/logo.png', entry)).toEqual(bytes);
  });

  it.each([
    ['raw_memories.md', 'x', 'edit.forbidden_path'],
    ['rollout_summaries/a.md', 'x', 'edit.forbidden_path'],
    ['other.md', 'x', 'edit.forbidden_path'],
    ['', 'x', 'edit.forbidden_path'],
    ['skills', 'x', 'edit.forbidden_path'],
    ['memory.md', 'x', 'edit.forbidden_path'],
    ['skills/../MEMORY.md', 'x', 'path.invalid'],
    ['skills/a/', 'x', 'path.invalid'],
    ['skills//a', 'x', 'path.invalid'],
    ['skills/.git/config', 'x', 'path.invalid'],
    ['skills/a\u0000b', 'x', 'path.invalid'],
    [`skills/${'n'.repeat(LIMITS.editNameBytes + 1)}/SKILL.md`, 'x', 'edit.path_too_long'],
    [`skills/${'日'.repeat(67)}/SKILL.md`, 'x', 'edit.path_too_long'],
    [`extensions/${'abcdefgh/'.repeat(60)}x.md`, 'x', 'edit.path_too_long'],
    [`extensions/${['ghp', 'A'.repeat(36)].join('_')}.md`, 'x', 'edit.secret_in_path'],
    ['MEMORY.md', 'x'.repeat(LIMITS.memoryFileBytes + 1), 'edit.too_large'],
    ['memory_summary.md', 'x'.repeat(LIMITS.summaryFileBytes + 1), 'edit.too_large'],
    ['skills/a/SKILL.md', 'x'.repeat(LIMITS.skillFileBytes + 1), 'edit.too_large'],
    ['extensions/a/b.md', 'x'.repeat(LIMITS.extensionFileBytes + 1), 'edit.too_large'],
    ['MEMORY.md', new Uint8Array([0xff]), 'edit.not_text'],
    ['skills/a/SKILL.md', 'a\u0000b', 'edit.not_text'],
    ['extensions/team/rules.md/x.md', 'x', 'path.invalid'],
    ['extensions/team', 'x', 'path.invalid'],
  ] as const)('refuses %j and changes nothing (%#)', async (path, content, code) => {
    const { bench, edit } = await worldWithMemory();
    await edit('extensions/team/rules.md', 'be kind\n');
    const refused = edit(path, content, { version: 2 });
    await expect(refused).rejects.toThrow(InvalidInputError);
    await expect(refused).rejects.toMatchObject({ code });
    expect(await bench.memories.manifestNumbers(USER)).toEqual([1, 2]);
  });

  it('deletes nothing that is not there', async () => {
    const { bench, edit } = await worldWithMemory();
    await expect(edit('skills/a/SKILL.md', null)).rejects.toThrow(NotFoundError);
    expect(await stateOf(bench)).toEqual({ version: 1, due: false });
  });

  it('takes a file of exactly the largest size', async () => {
    const { edit } = await worldWithMemory();
    const text = 'a b c\n'.repeat(LIMITS.memoryFileBytes).slice(0, LIMITS.memoryFileBytes);
    expect(await edit('MEMORY.md', text)).toMatchObject({ changed: true });
    expect(decodeUtf8(encodeUtf8(text))).toHaveLength(LIMITS.memoryFileBytes);
  });
});
