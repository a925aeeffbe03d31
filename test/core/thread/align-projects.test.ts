import { describe, expect, it } from 'vitest';
import { alignProjects } from '../../../core/thread/align-projects.ts';
import { projectKey } from '../../../core/thread/scope.ts';
import type { Thread } from '../../../core/thread/thread.ts';

function thread(threadId: string, cwd: string | null, repository: string | null): Thread {
  return {
    threadId,
    memoryMode: 'enabled',
    source: 'cli',
    subagent: false,
    ephemeral: false,
    parentThreadId: null,
    agentKind: 'codex',
    cwd,
    repository,
    project: projectKey({ repository, cwd }),
    gitBranch: null,
    title: null,
    createdAt: 1,
    updatedAt: 1,
    ended: true,
    forgottenAt: null,
    requestedAt: null,
    rollout: { sha256: '', bytes: 0, uploadedAt: 1, path: '', order: null },
    reading: null,
  };
}

describe('alignProjects', () => {
  it('B32 gives a thread that knows only its directory the repository that others know of it', () => {
    const threads = [thread('a', '/src/shop', 'git@host:team/shop.git'), thread('b', '/src/shop', null)];
    expect(alignProjects(threads)).toEqual([
      { threadId: 'b', repository: 'git@host:team/shop.git', project: 'host/team/shop' },
    ]);
  });

  it('sees one repository behind two spellings of its remote', () => {
    const threads = [
      thread('a', '/src/shop', 'git@host:team/shop.git'),
      thread('b', '/src/shop', 'https://host/team/shop'),
      thread('c', '/src/shop', null),
    ];
    expect(alignProjects(threads).map(({ project }) => project)).toEqual(['host/team/shop']);
  });

  it('concludes nothing where a directory was used for two repositories', () => {
    const threads = [
      thread('a', '/src/x', 'https://h/a'),
      thread('b', '/src/x', 'https://h/b'),
      thread('c', '/src/x', null),
    ];
    expect(alignProjects(threads)).toEqual([]);
  });

  it('leaves other directories and threads without one alone', () => {
    const threads = [thread('a', '/src/shop', 'https://h/a'), thread('b', '/src/shop2', null), thread('c', null, null)];
    expect(alignProjects(threads)).toEqual([]);
  });
});
