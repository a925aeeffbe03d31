import { describe, expect, it } from 'vitest';
import type { RolloutDamage, RolloutFacts } from '../../../core/rollout/rollout.ts';
import { registerThread, type Sighting } from '../../../core/thread/register-thread.ts';
import type { StoredRollout, UploadHints } from '../../../core/thread/thread.ts';
import { DAY_MS } from '../../../core/time.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const FACTS: RolloutFacts = {
  agentKind: 'codex',
  formatVersion: null,
  threadId: 't',
  source: null,
  subagent: false,
  ephemeral: false,
  parentThreadId: null,
  memoryMode: null,
  cwd: null,
  repository: null,
  gitBranch: null,
  title: null,
  firstAt: null,
  lastAt: null,
  humanMessages: 1,
  assistantMessages: 1,
  toolCalls: 0,
  conversationBytes: 10,
  externalContext: { webSearch: false, toolSearch: false, mcpServers: [] },
};
const NO_HINTS: UploadHints = {
  source: null,
  cwd: null,
  repository: null,
  gitBranch: null,
  sourceUpdatedAt: null,
  ended: null,
};
const ROLLOUT: StoredRollout = { sha256: 'a', bytes: 1, uploadedAt: NOW - 5, path: 'a.jsonl', order: null };

const READING: RolloutDamage = { broken: 1, oversized: 0, tornTail: true, redactions: {} };

interface Given {
  readonly facts?: Partial<RolloutFacts>;
  readonly hints?: Partial<UploadHints>;
  readonly rollout?: Partial<StoredRollout>;
  readonly requestedAt?: number;
  readonly generateMemories?: boolean;
}

function sighting(given: Given = {}): Sighting {
  return {
    threadId: 't',
    facts: { ...FACTS, ...given.facts },
    reading: READING,
    rollout: { ...ROLLOUT, ...given.rollout },
    hints: { ...NO_HINTS, ...given.hints },
    now: NOW,
    requestedAt: given.requestedAt ?? null,
    generateMemories: given.generateMemories ?? true,
  };
}

const first = (given: Given = {}) => registerThread(undefined, sighting(given));

describe('a thread seen for the first time', () => {
  it('takes what its rollout says, then what the uploader says', () => {
    const facts = { cwd: '/from/record', gitBranch: null, source: 'vscode', title: 'Fix it', parentThreadId: 'p' };
    const hints = { cwd: '/from/hint', gitBranch: 'main', source: 'cli', repository: 'git@Host:a/b.git', ended: true };
    expect(first({ facts: { ...facts, subagent: true, ephemeral: true }, hints })).toEqual({
      threadId: 't',
      memoryMode: 'enabled',
      source: 'vscode',
      subagent: true,
      ephemeral: true,
      parentThreadId: 'p',
      agentKind: 'codex',
      cwd: '/from/record',
      repository: 'git@Host:a/b.git',
      project: 'host/a/b',
      gitBranch: 'main',
      title: 'Fix it',
      createdAt: NOW - 5,
      updatedAt: NOW - 5,
      ended: true,
      forgottenAt: null,
      requestedAt: null,
      rollout: ROLLOUT,
      reading: READING,
    });
  });

  it("counts as a person's where nobody names a source (D20), and as its directory's project, or unknown", () => {
    expect(first().source).toBe('custom');
    expect(first().project).toBe('unknown');
    expect(first({ facts: { cwd: '/work/app/' } }).project).toBe('/work/app');
  });

  it.each([['facts'], ['hints']])("never hides that it is the memory's own (%s, A16)", (where) => {
    const own = { source: 'memory_consolidation' };
    const other = { source: 'cli' };
    const given = where === 'facts' ? { facts: own, hints: other } : { facts: other, hints: own };
    expect(first(given).source).toBe('memory_consolidation');
  });

  it.each<[string, number, Given]>([
    ['the record', NOW - 300, { facts: { lastAt: NOW - 300 }, hints: { sourceUpdatedAt: NOW - 200 } }],
    ['the hint, without a record', NOW - 200, { hints: { sourceUpdatedAt: NOW - 200 } }],
    ['the upload, without both', NOW - 5, {}],
    ['the hint, for a record of 1970', NOW - 200, { facts: { lastAt: 0 }, hints: { sourceUpdatedAt: NOW - 200 } }],
    ['the upload, for seconds taken as ms', NOW - 5, { facts: { lastAt: NOW / 1_000 } }],
    ['the upload, for a clock days ahead', NOW - 5, { facts: { lastAt: NOW + 2 * DAY_MS } }],
    ['the upload, for what is no number', NOW - 5, { facts: { lastAt: Number.NaN }, hints: { sourceUpdatedAt: -1 } }],
    ['now, when all are wrong', NOW, { rollout: { uploadedAt: 0 } }],
    [
      'the name of the file, without record and hint',
      Date.UTC(2025, 7, 21, 6, 29, 22),
      { rollout: { path: 'C:\\s\\rollout-2025-08-21T06-29-22-3cf4.jsonl' } },
    ],
    ['the upload, for a name of 1970', NOW - 5, { rollout: { path: '/s/rollout-1970-01-01T00-00-00-x.jsonl' } }],
    ['the upload, for a folder of that name', NOW - 5, { rollout: { path: '/rollout-2025-08-21T06-29-22-x/a.jsonl' } }],
    ['whole milliseconds', NOW - 1, { facts: { lastAt: NOW - 0.5 } }],
  ])('is as old as %s', (_what, expected, given) => {
    expect(first(given).updatedAt).toBe(expected);
  });

  it('was created at its first record, never after its last', () => {
    expect(first({ facts: { firstAt: NOW - 900, lastAt: NOW - 300 } }).createdAt).toBe(NOW - 900);
    expect(first({ facts: { firstAt: NOW - 100, lastAt: NOW - 300 } }).createdAt).toBe(NOW - 300);
    expect(first({ facts: { firstAt: 0, lastAt: NOW - 300 } }).createdAt).toBe(NOW - 300);
  });

  it.each<[string | null, boolean, string]>([
    [null, true, 'enabled'],
    ['enabled', true, 'enabled'],
    ['disabled', true, 'disabled'],
    ['polluted', true, 'polluted'],
    ['Enabled', true, 'disabled'],
    ['something new', true, 'disabled'],
    ['', true, 'disabled'],
    [null, false, 'disabled'],
    ['enabled', false, 'disabled'],
  ])(
    'that declares %j while memories are generated: %j, is %s (A-16, TC-091)',
    (memoryMode, generateMemories, mode) => {
      expect(first({ facts: { memoryMode }, generateMemories }).memoryMode).toBe(mode);
    },
  );
});

describe('a thread seen again', () => {
  const stored = () => first({ facts: { lastAt: NOW - 100, cwd: '/a', title: 'one' }, hints: { source: 'cli' } });
  const newer = (given: Given = {}) =>
    sighting({ ...given, facts: { lastAt: NOW - 50, ...given.facts }, rollout: { sha256: 'b', ...given.rollout } });

  it('takes the newer content and keeps what it was created with (D22)', () => {
    const again = registerThread(stored(), newer({ facts: { title: 'two', firstAt: NOW - 60 } }));
    expect(again).toMatchObject({
      title: 'two',
      updatedAt: NOW - 50,
      createdAt: NOW - 100,
      cwd: '/a',
      source: 'cli',
      rollout: { sha256: 'b' },
    });
  });

  it('does not let an older rollout that arrives late replace the newer one (D22)', () => {
    const late = newer({ facts: { lastAt: NOW - 101, title: 'older', memoryMode: 'disabled' } });
    expect(registerThread(stored(), late)).toEqual(stored());
  });

  it('changes nothing for the same bytes, although their upload is newer', () => {
    const thread = registerThread(undefined, sighting());
    const again = sighting({ rollout: { uploadedAt: NOW, path: 'moved.jsonl' } });
    expect(registerThread(thread, again)).toEqual(thread);
  });

  it('learns from the same bytes that the session is over', () => {
    const thread = registerThread(undefined, sighting());
    expect(registerThread(thread, sighting({ hints: { ended: true } }))).toEqual({ ...thread, ended: true });
  });

  it('remembers the order of its latest upload, of the same bytes too, and no other', () => {
    const thread = registerThread(undefined, sighting({ rollout: { order: '0A' } }));
    const orderAfter = (given: Given) => registerThread(thread, sighting(given)).rollout.order;
    expect(thread.rollout.order).toBe('0A');
    expect(orderAfter({ rollout: { order: '0B' } })).toBe('0B');
    expect(orderAfter({ rollout: { order: null } })).toBe('0A');
    expect(orderAfter({ facts: { lastAt: NOW }, rollout: { sha256: 'b', order: '0C' } })).toBe('0C');
    expect(orderAfter({ facts: { lastAt: NOW - 99 }, rollout: { sha256: 'b', order: '0C' } })).toBe('0A');
  });

  it('goes on when newer content comes without an end', () => {
    expect(registerThread({ ...stored(), ended: true }, newer()).ended).toBe(false);
  });

  it.each<[Given]>([[{ requestedAt: NOW }], [{ requestedAt: NOW, facts: { lastAt: NOW - 500 } }]])(
    'remembers the last time it was asked for, also with older content (%#)',
    (given) => {
      expect(registerThread({ ...stored(), requestedAt: NOW - 1 }, newer(given)).requestedAt).toBe(NOW);
      expect(registerThread({ ...stored(), requestedAt: NOW + 1 }, newer(given)).requestedAt).toBe(NOW + 1);
      expect(registerThread({ ...stored(), requestedAt: 7 }, newer()).requestedAt).toBe(7);
    },
  );

  it('keeps a mode that a person or a rule set, whatever the rollout or the setting says', () => {
    for (const memoryMode of ['disabled', 'polluted'] as const) {
      const thread = { ...stored(), memoryMode };
      expect(registerThread(thread, newer({ facts: { memoryMode: 'enabled' } })).memoryMode).toBe(memoryMode);
    }
    expect(registerThread(stored(), newer({ generateMemories: false })).memoryMode).toBe('enabled');
  });

  it('follows newer content that asks not to be remembered', () => {
    expect(registerThread(stored(), newer({ facts: { memoryMode: 'disabled' } })).memoryMode).toBe('disabled');
  });

  describe('when one of both could not be read', () => {
    const unread = (given: Given = {}) => newer({ ...given, facts: { agentKind: 'unknown', lastAt: null } });
    const neverRead = () => first({ facts: { agentKind: 'unknown' }, rollout: { sha256: 'x', uploadedAt: NOW - 5 } });

    it('takes whatever is read for what never was, although its last record is older than that upload', () => {
      const repaired = registerThread(neverRead(), newer({ facts: { lastAt: NOW - 9_000, title: 'two' } }));
      expect(repaired).toMatchObject({ agentKind: 'codex', title: 'two', rollout: { sha256: 'b' } });
    });

    it('gives it a later time than the failed one had, so that its extraction is tried, and its own where that is later', () => {
      const repaired = (lastAt: number) => registerThread(neverRead(), newer({ facts: { lastAt } })).updatedAt;
      expect(repaired(NOW - 9_000)).toBe(NOW - 4);
      expect(repaired(NOW - 5)).toBe(NOW - 4);
      expect(repaired(NOW - 2)).toBe(NOW - 2);
    });

    it('tells of an unreadable upload right behind what was read, whatever time it was uploaded at or claims', () => {
      for (const hints of [{}, { sourceUpdatedAt: NOW - 1 }, { sourceUpdatedAt: NOW - 9_000 }]) {
        const broken = registerThread(stored(), unread({ hints }));
        expect(broken).toMatchObject({
          agentKind: 'unknown',
          updatedAt: NOW - 99,
          title: 'one',
          rollout: { sha256: 'b' },
        });
      }
    });

    it('lets the repaired upload win over it, with its own time, and also where it is what was read first', () => {
      const broken = registerThread(stored(), unread());
      const repaired = (lastAt: number) =>
        registerThread(broken, newer({ facts: { lastAt, title: 'two' }, rollout: { sha256: 'c' } }));
      expect(repaired(NOW - 60)).toMatchObject({ title: 'two', updatedAt: NOW - 60, rollout: { sha256: 'c' } });
      expect(repaired(NOW - 100)).toMatchObject({ title: 'two', updatedAt: NOW - 98, rollout: { sha256: 'c' } });
    });

    it('tells of the latest of two that cannot be read', () => {
      const again = unread({ rollout: { sha256: 'c', uploadedAt: NOW - 6 } });
      expect(registerThread(neverRead(), again)).toMatchObject({ updatedAt: NOW - 4, rollout: { sha256: 'c' } });
    });
  });

  it('stays forgotten, and nothing of the upload enters the catalogue (DV-18)', () => {
    const tombstone = sampleThread({ threadId: 't', forgottenAt: NOW - 9, title: null, cwd: null });
    const upload = newer({ facts: { title: 'back again', cwd: '/x' }, requestedAt: NOW });
    expect(registerThread(tombstone, upload)).toBe(tombstone);
  });
});
