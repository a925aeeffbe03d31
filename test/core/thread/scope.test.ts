import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { projectKey } from '../../../core/thread/scope.ts';

const ofRemote = (repository: string): string => projectKey({ repository, cwd: '/somewhere' });
const ofDirectory = (cwd: string): string => projectKey({ repository: null, cwd });

describe('a directory whose name could end its place in a line of the memory', () => {
  it.each([
    ['/work/a; project=x', '/work/a%3B project=x'],
    ['/work/a\nb', '/work/a%0Ab'],
  ])('%j is encoded', (cwd, key) => {
    expect(projectKey({ repository: null, cwd })).toBe(key);
  });
});

describe('the scope key of a remote', () => {
  it.each([
    ['git@Host:a/b.git'],
    ['https://u:p@host/a/b/'],
    ['ssh://git@host:22/a/b'],
    ['HTTPS://HOST/a/b.git'],
    ['git+ssh://git@host/a/b.git/'],
    ['git://host//a/b'],
    ['host:/a/b.git'],
    ['https://host/a/b?ref=main#readme'],
    ['https://user@example.com:pass@word@host/a/b'],
    ['  git@host:a/b \n'],
    ['https://host/a/b/.git'],
  ])('is one for every spelling of one repository: %s', (remote) => {
    expect(ofRemote(remote)).toBe('host/a/b');
  });

  it('keeps the case and the depth of the path', () => {
    expect(ofRemote('git@gitlab.com:Group/sub/Repo.git')).toBe('gitlab.com/Group/sub/Repo');
  });

  it('takes a remote that names its host without a scheme', () => {
    expect(ofRemote('github.com/a/b.git')).toBe('github.com/a/b');
  });

  it('keeps the brackets of an IPv6 host', () => {
    expect(ofRemote('ssh://git@[FE80::1]:22/a/b.git')).toBe('[fe80::1]/a/b');
  });

  it.each([
    ['file:///srv/git/b.git', '/srv/git/b'],
    ['/srv/git/b.git', '/srv/git/b'],
    ['/home/x/b/.git', '/home/x/b'],
    ['C:\\repos\\b.git', 'c:/repos/b'],
    ['file:///C:/repos/b', 'c:/repos/b'],
  ])('is a directory where the remote is one: %s', (remote, key) => {
    expect(ofRemote(remote)).toBe(key);
  });

  it.each(['', '   ', '../sibling', './x', 'origin', 'https://host', 'https://host/.git', 'git@host:'])(
    'falls back to the directory where the remote names nothing: %j',
    (remote) => {
      expect(ofRemote(remote)).toBe('/somewhere');
    },
  );

  it('holds no user name or password', () => {
    expect(ofRemote('https://robot:hunter22@host/a/b')).toBe('host/a/b');
  });
});

describe('the scope key of a directory', () => {
  it.each([
    ['C:\\Users\\dev\\repo'],
    ['c:\\Users\\dev\\repo\\'],
    ['C:/Users/dev//repo/'],
    ['\\\\?\\C:\\Users\\dev\\repo'],
    ['/mnt/c/Users/dev/repo'],
    ['c:\\Users\\other\\..\\dev\\.\\repo'],
    ['file:///C:/Users/dev/repo'],
  ])('is one for Windows and WSL spellings: %s', (cwd) => {
    expect(ofDirectory(cwd)).toBe('c:/Users/dev/repo');
  });

  it.each([
    ['\\\\server\\share\\repo', '//server/share/repo'],
    ['\\\\?\\UNC\\server\\share\\repo', '//server/share/repo'],
    ['D:\\', 'd:/'],
    ['D:', 'd:/'],
    ['/mnt/d', 'd:/'],
    ['/mnt/data/x', '/mnt/data/x'],
    ['/', '/'],
    ['/Home/Dev/', '/Home/Dev'],
    ['/home/dev', '/home/dev'],
    ['/home/dev/odd\\name', '/home/dev/odd\\name'],
    ['unknown', './unknown'],
  ])('%s is %s', (cwd, key) => {
    expect(ofDirectory(cwd)).toBe(key);
  });

  it('is one for composed and decomposed accents', () => {
    expect(ofDirectory('/home/cafe\u0301')).toBe(ofDirectory('/home/caf\u00e9'));
  });

  it('tells names apart that differ in one separator, each time alike (A12)', () => {
    const names = ['a_b', 'a-b', 'a b', 'a.b', 'a/b'];
    const keys = names.map((name) => ofDirectory(`/work/${name}`));
    expect(new Set(keys).size).toBe(5);
    for (let round = 0; round < 100; round++) {
      expect(names.map((name) => ofDirectory(`/work/${name}`))).toEqual(keys);
    }
  });
});

describe('worktrees and clones (A10)', () => {
  it('share a key where the remote is the same', () => {
    const main = projectKey({ repository: 'git@host:a/b.git', cwd: '/home/dev/b' });
    const throwaway = projectKey({ repository: 'https://host/a/b', cwd: '/tmp/worktrees/7f3a/b' });
    expect(throwaway).toBe(main);
  });

  it('share a key by their common git directory where there is no remote', () => {
    const gitDirectory = '/home/dev/b/.git';
    expect(projectKey({ repository: null, cwd: '/tmp/wt', gitDirectory })).toBe('/home/dev/b');
    expect(projectKey({ repository: null, cwd: '/tmp/wt', gitDirectory: `${gitDirectory}/worktrees/wt` })).toBe(
      '/home/dev/b',
    );
  });

  it('have two keys where the remotes differ', () => {
    const cwd = '/home/dev/b';
    expect(projectKey({ repository: 'git@host:a/b', cwd })).not.toBe(projectKey({ repository: 'git@host:c/b', cwd }));
  });
});

it('is `unknown` where nothing is known', () => {
  expect(projectKey({ repository: null, cwd: null })).toBe('unknown');
  expect(projectKey({ repository: ' ', cwd: '' })).toBe('unknown');
});

it('does not change when a key is normalised again', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'B', '/', '.', '-', ' ', '_') }), (path) => {
      const key = ofDirectory(`/x${path}`);
      expect(ofDirectory(key)).toBe(key);
    }),
  );
});
