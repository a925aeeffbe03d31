import { describe, expect, it } from 'vitest';
import { findPlace, listPlaces } from '../../../core/memory/project-places.ts';

function group(project: string, cwd: string, sourceCwd: string): string {
  return [
    `# Task Group: ${project}`,
    '',
    'scope: x',
    `applies_to: cwd=${cwd}; project=${project}; reuse_rule=x`,
    '',
    '## Task 1: x',
    '',
    '### rollout_summary_files',
    '',
    `- rollout_summaries/a.md (cwd=${sourceCwd}, rollout_path=/r.jsonl, updated_at=2026-01-01T00:00:00+00:00, thread_id=t1)`,
    '',
    '### keywords',
    '',
    '- x',
    '',
  ].join('\n');
}

const SHOP = group('host/team/shop', '/src/shop', '/home/me/shop-2');

describe('listPlaces', () => {
  it('knows the directory of a group and those of its sessions', () => {
    expect(listPlaces(SHOP)).toEqual([
      { directory: '/home/me/shop-2', project: 'host/team/shop' },
      { directory: '/src/shop', project: 'host/team/shop' },
    ]);
  });

  it('concludes nothing from a directory that served two projects, nor from global groups', () => {
    const text = [SHOP, group('host/team/web', '/src/shop', '/src/web'), group('global', '*', '/src/all')].join('\n');
    expect(listPlaces(text).map((place) => place.directory)).toEqual(['/home/me/shop-2', '/src/web']);
  });

  it('is empty for a text that is no memory', () => {
    expect(listPlaces('')).toEqual([]);
    expect(listPlaces('hello')).toEqual([]);
  });
});

describe('findPlace', () => {
  const places = [
    { directory: '/src/shop', project: 'host/team/shop' },
    { directory: '/src/shop/vendor/lib', project: 'host/other/lib' },
    { directory: 'c:/work/app', project: 'host/team/app' },
  ];

  it.each([
    ['the directory itself', '/src/shop', 'host/team/shop'],
    ['a folder inside it', '/src/shop/api/v1', 'host/team/shop'],
    ['the innermost of two', '/src/shop/vendor/lib/x', 'host/other/lib'],
    ['a name that only begins alike (A12)', '/src/shop2', null],
    ['the parent', '/src', null],
    ['another case of a POSIX path', '/src/Shop', null],
    ['a Windows spelling', 'C:\\work\\app\\src', 'host/team/app'],
    ['the WSL spelling of it', '/mnt/c/work/app', 'host/team/app'],
  ])('%s', (_, cwd, project) => {
    expect(findPlace(places, cwd)).toBe(project);
  });
});
