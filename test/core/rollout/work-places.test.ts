import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkPlaces } from '../../../core/rollout/work-places.ts';

/** The labels in force after each move. */
function labelsOf(places: WorkPlaces, ...directories: readonly string[]): (string | undefined)[] {
  return directories.map((cwd) => {
    places.moveTo(cwd);
    return places.label;
  });
}

describe('the project in force (A13)', () => {
  it('is the session’s own until the work moves, and again when it comes back', () => {
    expect(labelsOf(new WorkPlaces(), '/work/a', '/work/b', '/work/a')).toEqual([undefined, '/work/b', undefined]);
  });

  it('is a remote where a record told it', () => {
    const places = new WorkPlaces();
    places.learn('/work/a', 'git@example.com:dev/a.git');
    places.learn('/work/b', 'https://u:hunter22@example.com/dev/b');
    expect(labelsOf(places, '/work/a', '/work/b/src', '/work/c')).toEqual([undefined, 'example.com/dev/b', '/work/c']);
  });

  it('is the same in two checkouts with one remote, and in a worktree that a record names (A10)', () => {
    const places = new WorkPlaces();
    places.learn('/work/a', 'git@example.com:dev/a.git');
    places.learn('/tmp/trees/a-fix', 'https://example.com/dev/a');
    places.joinWorktree('/srv/trees/a2', '/work/a');
    expect(labelsOf(places, '/work/a', '/tmp/trees/a-fix', '/srv/trees/a2/src')).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is the same in a folder of the project', () => {
    expect(labelsOf(new WorkPlaces(), '/work/a', '/work/a/web', '/work/ab')).toEqual([
      undefined,
      undefined,
      '/work/ab',
    ]);
    expect(labelsOf(new WorkPlaces(), 'D:\\code\\a', 'd:/code/a/web', '/mnt/d/code/a')).toEqual(
      Array.from({ length: 3 }, () => undefined),
    );
  });

  it.each(['/', '/root', '/home/dev', '/Users/dev', 'C:\\Users\\dev', 'c:\\'])(
    'is another in a folder of %s, which holds many',
    (home) => {
      const inside = home.includes('\\') ? 'c:\\Users\\dev\\api' : `${home === '/' ? '' : home}/api`;
      const [own, other] = labelsOf(new WorkPlaces(), home, inside);
      expect(own).toBeUndefined();
      expect(other).toMatch(/\/api$/);
    },
  );

  it.each(['', '[trimmed]', 'relative/path', 'unknown'])('does not change for what is no directory: %j', (text) => {
    const places = new WorkPlaces();
    places.moveTo('/work/a');
    expect(places.moveTo(text)).toBe(false);
    expect(places.label).toBeUndefined();
  });

  it('has a label of one line without brackets or secrets, whatever the directory is called', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const places = new WorkPlaces();
    places.moveTo('/work/a');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
        places.moveTo(`/other/${secret}/${name}`);
        const label = places.label ?? '';
        expect(label).not.toMatch(/[[\]\n\r\u2028]/);
        expect(label).not.toContain(secret);
        expect([...label].length).toBeLessThanOrEqual(620);
      }),
    );
  });
});
