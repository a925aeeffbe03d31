import { describe, expect, it } from 'vitest';
import { controlWorld } from './control-world.ts';

describe('/v1/memory/notes, which control serves on AWS', () => {
  it('publishes a note as a small version and makes a consolidation due', async () => {
    const { ask, heads, jobs } = controlWorld();
    const answer = await ask('/v1/memory/notes', {
      method: 'POST',
      body: { filename: '2026-01-01T00-00-00-pnpm.md', note: 'Use pnpm.' },
    });
    expect(answer).toMatchObject({ status: 201, json: { pending: true } });
    const head = await heads.read('user-1');
    expect(head.pendingNotes.map((note) => note.path)).toEqual([(answer.json as { path: string }).path]);
    expect(await jobs.get('user-1', { kind: 'consolidation' })).toMatchObject({ status: 'pending' });
  });

  it('never overwrites a note, and keeps those of users apart', async () => {
    const { ask, as, heads } = controlWorld();
    const request = { method: 'POST', body: { filename: '2026-01-01T00-00-00-pnpm.md', note: 'Use pnpm.' } } as const;
    await ask('/v1/memory/notes', request);
    const other = { ...request, body: { ...request.body, note: 'Use npm.' } };
    expect(await ask('/v1/memory/notes', other)).toMatchObject({ status: 409, json: { code: 'note.exists' } });
    expect(await ask('/v1/memory/notes', { ...other, caller: as('user-10') })).toMatchObject({ status: 201 });
    expect((await heads.read('user-1')).pendingNotes).toHaveLength(1);
  });
});
