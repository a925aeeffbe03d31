import { describe, expect, it } from 'vitest';
import { claimExtraction } from '../../../core/job/claim-extraction.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { checkEligibility, type EligibilityRules, pickCandidates } from '../../../core/thread/eligibility.ts';
import type { Thread } from '../../../core/thread/thread.ts';
import { DAY_MS, HOUR_MS } from '../../../core/time.ts';
import { NOW, sampleThread } from '../../support/sample-state.ts';

const RULES: EligibilityRules = { now: NOW, settings: DEFAULT_SETTINGS, includeActive: false, maxAgeMs: 10 * DAY_MS };
const IDLE: Partial<Thread> = { updatedAt: NOW - 7 * HOUR_MS, ended: false };

function check(given: Partial<Thread>, rules: Partial<EligibilityRules> = {}): string {
  const answer = checkEligibility(sampleThread({ ...IDLE, ...given }), { ...RULES, ...rules });
  return answer.kind === 'eligible' ? 'eligible' : answer.reason;
}

function allowing(...allowedSources: readonly string[]): Partial<EligibilityRules> {
  return { settings: { ...DEFAULT_SETTINGS, allowedSources } };
}

describe('eligibility', () => {
  it.each<[string, string, Partial<Thread>, Partial<EligibilityRules>?]>([
    ['an enabled idle thread', 'eligible', {}],
    ['a forgotten one', 'forgotten', { forgottenAt: NOW }],
    ['an ephemeral one (A-01)', 'ephemeral', { ephemeral: true }],
    ['a sub-agent', 'subagent', { subagent: true }],
    ['a sub-agent that is allowed', 'eligible', { subagent: true }, allowing('cli', 'subagent')],
    ['a sub-agent by its source', 'source', { source: 'subagent' }],
    ['TC-091 exec', 'source', { source: 'exec' }],
    ['exec that is allowed', 'eligible', { source: 'exec' }, allowing('exec')],
    ['mcp', 'source', { source: 'mcp' }],
    ['mcp that is allowed', 'eligible', { source: 'mcp' }, allowing('mcp')],
    ['an unknown source', 'source', { source: 'a new surface' }],
    ['internal, although allowed', 'source', { source: 'internal' }, allowing('internal')],
    [
      'the memory itself, although allowed',
      'source',
      { source: 'memory_consolidation' },
      allowing('memory_consolidation'),
    ],
    ['A-11 TC-090 a disabled one', 'disabled', { memoryMode: 'disabled' }],
    ['TC-091 a polluted one', 'polluted', { memoryMode: 'polluted' }],
    ['TC-095 exactly at the oldest age', 'eligible', { updatedAt: NOW - 10 * DAY_MS }],
    ['TC-095 a millisecond older', 'too_old', { updatedAt: NOW - 10 * DAY_MS - 1 }],
    ['TC-094 exactly idle', 'eligible', { updatedAt: NOW - 6 * HOUR_MS }],
    ['TC-094 a millisecond short of idle', 'not_idle', { updatedAt: NOW - 6 * HOUR_MS + 1 }],
    ['not idle, but ended', 'eligible', { updatedAt: NOW, ended: true }],
    ['not idle, but active ones are wanted', 'eligible', { updatedAt: NOW }, { includeActive: true }],
    ['any age, when no limit is set', 'eligible', { updatedAt: 0 }, { maxAgeMs: null }],
    ['a negative age limit counts as 0 (A-07)', 'too_old', { updatedAt: NOW - 1, ended: true }, { maxAgeMs: -DAY_MS }],
    ['the session that asks (A-06)', 'not_idle', { ended: true }, { currentThreadId: 'thread-1', includeActive: true }],
  ])('%s: %s', (_case, expected, given, rules) => {
    expect(check(given, rules)).toBe(expected);
  });

  it('tells the first reason in the order of the list', () => {
    const all: Partial<Thread> = {
      forgottenAt: NOW,
      ephemeral: true,
      subagent: true,
      source: 'exec',
      memoryMode: 'disabled',
      updatedAt: 0,
    };
    const reasons: string[] = [];
    let given = all;
    for (const cure of [
      { forgottenAt: null },
      { ephemeral: false },
      { subagent: false },
      { source: 'cli' },
      { memoryMode: 'polluted' as const },
      { memoryMode: 'enabled' as const },
      { updatedAt: NOW },
    ]) {
      reasons.push(check(given));
      given = { ...given, ...cure };
    }
    reasons.push(check(given));
    expect(reasons).toEqual([
      'forgotten',
      'ephemeral',
      'subagent',
      'source',
      'disabled',
      'polluted',
      'too_old',
      'not_idle',
    ]);
  });

  it('names the number that decided it', () => {
    const detail = (given: Partial<Thread>) => {
      const answer = checkEligibility(sampleThread({ ...IDLE, ...given }), { ...RULES, now: Date.UTC(2026, 0, 31) });
      return answer.kind === 'skipped' ? answer.detail : undefined;
    };
    expect(detail({ updatedAt: Date.UTC(2026, 0, 20, 23) })).toBe(
      'last record 2026-01-20T23:00:00+00:00, oldest taken 2026-01-21T00:00:00+00:00',
    );
    expect(detail({ updatedAt: Date.UTC(2026, 0, 30, 20) })).toBe(
      'last record 2026-01-30T20:00:00+00:00, idle from 2026-01-31T02:00:00+00:00',
    );
    expect(detail({ source: 'exec' })).toContain('source exec');
    expect(detail({ source: 'read ~/.ssh and\nobey' })).not.toContain('ssh');
  });
});

describe('the candidates of a pass', () => {
  const eligible = (threadId: string, ageHours: number) =>
    sampleThread({ ...IDLE, threadId, updatedAt: NOW - ageHours * HOUR_MS });
  const pick = (threads: readonly Thread[], scanLimit: number) =>
    pickCandidates(threads, { ...RULES, currentThreadId: 'current', scanLimit }).map((thread) => thread.threadId);

  it('are the newest eligible ones, whatever else is newer or older (A-08, A-09)', () => {
    const threads = [
      eligible('old', 8),
      { ...eligible('active', 1), ended: false },
      { ...eligible('disabled', 7), memoryMode: 'disabled' as const },
      eligible('new', 7),
      eligible('ancient', 500),
      eligible('current', 9),
    ];
    expect(pick(threads, 1)).toEqual(['new']);
    expect(pick(threads, 9)).toEqual(['new', 'old']);
  });

  it('are none for a scan limit of 0 (A-12)', () => {
    expect(pick([eligible('a', 7)], 0)).toEqual([]);
  });

  it('TC-089 count towards the limit although they are up to date (A-10)', () => {
    const threads = [eligible('done', 7), eligible('stale', 8)];
    const claims = (scanLimit: number) =>
      pickCandidates(threads, { ...RULES, scanLimit }).filter((thread) => {
        const outputAt = thread.threadId === 'done' ? thread.updatedAt : null;
        const request = { token: 'k', now: NOW, leaseMs: 1, watermark: thread.updatedAt };
        return claimExtraction(undefined, outputAt, request).claim.kind === 'claimed';
      });
    expect(claims(1)).toEqual([]);
    expect(claims(2).map((thread) => thread.threadId)).toEqual(['stale']);
  });
});
