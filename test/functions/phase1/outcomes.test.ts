import { beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '../../../core/errors.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings.ts';
import { HOUR_MS, MINUTE_MS } from '../../../core/time.ts';
import { goodReply } from '../../core/extraction/extraction-bench.ts';
import { NOW } from '../../core/extraction/sample-session.ts';
import { textReply } from '../../doubles/scripted-model.ts';
import { codexRollout } from '../../support/rollout-builder.ts';
import { batchOf, dueBody, objectCreated, s3Body } from './events.ts';
import { Phase1Bench, session, withMethods } from './phase1-bench.ts';

const USER = 'user-1';

let bench: Phase1Bench;
beforeEach(() => {
  bench = new Phase1Bench();
});

/** Uploads and delivers, and what follows on it. */
async function deliver(threadId: string, bytes?: Uint8Array): Promise<readonly string[]> {
  const record = await bench.upload(USER, threadId, bytes === undefined ? {} : { bytes });
  return bench.deliver(batchOf(s3Body(record)));
}

describe('phase1, poison', () => {
  it.each([
    ['a cut archive', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]), 'failed(unreadable)'],
    ['a text', new TextEncoder().encode('lorem ipsum\n'.repeat(3_000)), 'failed(unreadable)'],
    [
      'what no agent wrote',
      new TextEncoder().encode('{"lorem":"ipsum"}\n'.repeat(3_000)),
      'failed(unrecognised_format)',
    ],
  ])('C12 %s fails for good at the first try, without a call', async (_name, bytes, outcome) => {
    expect(await deliver('t', bytes)).toEqual([]);
    expect(await bench.outcome(USER, 't')).toBe(outcome);
    expect(await bench.dueAt(USER, 't')).toBeNull();
    expect(await deliver('t', bytes)).toEqual([]);
    expect(bench.calls).toBe(0);
  });

  it('C12 a broken upload that is repaired is extracted, although its last record is older than the broken upload', async () => {
    await deliver('t', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]));
    expect(await bench.outcome(USER, 't')).toBe('failed(unreadable)');
    bench.core.clock.advance(DEFAULT_SETTINGS.minRolloutIdleHours * HOUR_MS + 1);
    bench.expectCalls(1);
    const record = await bench.upload(USER, 't', { sequencer: '0055AED6DCD90281E6' });
    expect(await bench.deliver(batchOf(s3Body(record)))).toEqual([]);
    expect(await bench.outcome(USER, 't')).toBe('extracted');
  });

  it('C12 a broken upload in between leaves the output alone, and the session can go on', async () => {
    const upload = async (bytes: Uint8Array, sequencer: string): Promise<string | undefined> => {
      await bench.deliver(batchOf(s3Body(await bench.upload(USER, 't', { bytes, sequencer }))));
      return bench.outcome(USER, 't');
    };
    bench.expectCalls(1);
    expect(await upload(session('t', 'one', NOW - 24 * HOUR_MS), '01')).toBe('extracted');
    const head = await bench.core.outputs.head(USER, 't');
    expect(await upload(new Uint8Array([0x1f, 0x8b, 8, 0]), '02')).toBe('failed(unreadable)');
    expect(await bench.core.outputs.head(USER, 't')).toEqual(head);
    bench.expectCalls(1);
    expect(await upload(session('t', 'two', NOW - 20 * HOUR_MS), '03')).toBe('extracted');
    const thread = await bench.core.threads.get(USER, 't');
    expect((await bench.core.outputs.head(USER, 't'))?.sourceUpdatedAt).toBe(thread?.updatedAt);
    expect(thread?.updatedAt).toBeLessThan(NOW - 19 * HOUR_MS);
  });

  it('C12 a redrive of 100 mixed messages pays only for what was never done', async () => {
    const bodies: string[] = [];
    for (let at = 0; at < 100; at++) {
      const bytes = at % 4 === 1 ? new TextEncoder().encode('lorem ipsum\n'.repeat(3_000)) : session(`t${at}`);
      const record = await bench.upload(USER, `t${at}`, { bytes });
      const kinds = [s3Body(record), s3Body(record), dueBody(USER, `unknown-${at}`), s3Body(record)];
      bodies.push(kinds[at % 4] ?? '');
    }
    bench.expectCalls(25);
    await bench.deliver(batchOf(...bodies.filter((_, at) => at % 4 === 0)));
    expect(bench.calls).toBe(25);
    bench.expectCalls(25); // of these only the last quarter was never done
    expect(await bench.deliver(batchOf(...bodies))).toEqual([]);
    bench.core.model.assertDone();
    expect(await bench.invoke(batchOf(...bodies))).toEqual([]);
    expect(bench.queue.drain()).toEqual([]);
    expect(bench.calls).toBe(50);
  });

  it('C13 what the memory itself writes is foreign: told, acknowledged, and nothing else', async () => {
    const keys = [
      'users/u/memories/MEMORY.md',
      'users/u/memories/skills/x/SKILL.md',
      'users/u/manifests/0000000001.json',
    ];
    expect(await bench.invoke(batchOf(...keys.map((key) => s3Body(objectCreated(key, '1')))))).toEqual([]);
    expect(bench.core.log).toEqual([]);
    expect(bench.core.telemetry.counts.filter((item) => item.tags['outcome'] === 'failed(foreign)')).toHaveLength(3);
    expect(JSON.stringify(bench.core.telemetry.events)).not.toContain('memories/');
  });

  it('an upload whose object is gone again ends quietly', async () => {
    expect(await bench.invoke(batchOf(s3Body(objectCreated(`rollouts/${USER}/t.jsonl`, '1'))))).toEqual([]);
    expect(bench.queue.drain()).toEqual([]);
    expect(await bench.outcome(USER, 't')).toBeUndefined();
  });

  it('a forgotten thread does not come back by a new upload', async () => {
    bench.expectCalls(1);
    await deliver('t');
    await bench.core.threads.update(USER, 't', (thread) => (thread ? { ...thread, forgottenAt: NOW } : undefined));
    const again = await bench.upload(USER, 't', { bytes: session('t', 'again', NOW - 20 * HOUR_MS) });
    expect(await bench.invoke(batchOf(s3Body(again)))).toEqual([]);
    expect(bench.queue.drain()).toEqual([]);
    expect(await bench.core.rollouts.look(USER, 't')).toBeUndefined();
    expect(bench.calls).toBe(1);
  });

  it('a message of a thread that nobody knows removes the job that made it', async () => {
    await bench.core.jobs.wake(USER, 't', NOW);
    expect(await bench.invoke(batchOf(dueBody(USER, 't')))).toEqual([]);
    expect(await bench.dueAt(USER, 't')).toBeNull();
    expect((await bench.core.jobs.listExtractions(USER)).size).toBe(0);
  });
});

describe('phase1, how a model ends', () => {
  it('C39 a refusal is an outcome of its own: one call, not asked again, its text kept nowhere', async () => {
    bench.expectCalls(1, { kind: 'refused', usage: null });
    for (let receive = 0; receive < 5; receive++) expect(await deliver('t')).toEqual([]);
    expect(await bench.outcome(USER, 't')).toBe('failed(model_refused)');
    expect(bench.calls).toBe(1);
    expect(await bench.core.outputs.heads(USER)).toEqual([]);
  });

  it('C40 a cut answer is asked for once more with more room', async () => {
    const cut = { kind: 'incomplete', reason: 'length', usage: null } as const;
    bench.core.model.expect(cut, cut);
    expect(await deliver('t')).toEqual([]);
    const [first, second] = bench.core.model.requests;
    expect(second?.maxOutputTokens).toBe(2 * (first?.maxOutputTokens ?? 0));
    expect(await bench.outcome(USER, 't')).toBe('failed(model_invalid)');
  });

  it('C40 a filtered answer is an outcome of its own, a cut JSON is never taken', async () => {
    bench.expectCalls(1, { kind: 'incomplete', reason: 'filter', usage: null });
    await deliver('a');
    expect(await bench.outcome(USER, 'a')).toBe('failed(filtered)');
    bench.expectCalls(1, textReply('{"raw_memory":"raw","rollout_summary":"sum'));
    await deliver('b');
    expect(await bench.outcome(USER, 'b')).toBe('failed(model_invalid)');
    expect(await bench.core.outputs.heads(USER)).toEqual([]);
  });

  it('DV-14 what a model refused as too long is not sent again by the next thread of that user', async () => {
    const long = (id: string): Uint8Array => {
      const rollout = codexRollout({ id, startAt: NOW - 24 * HOUR_MS });
      for (let turn = 0; turn < 200; turn++) {
        rollout
          .user(`${turn} ${'keep the port number in the config '.repeat(20)}`)
          .call('shell', { command: 'ls' }, 'ok');
      }
      return rollout.toBytes();
    };
    bench.core.model.expect({ kind: 'too_long' }, goodReply(), goodReply());
    await deliver('a', long('a'));
    await deliver('b', long('b'));
    const [whole, halved, next] = bench.core.model.requests.map((request) => JSON.stringify(request).length);
    expect(halved).toBeLessThan(0.7 * (whole ?? 0));
    expect(next).toBeLessThan(0.7 * (whole ?? 0));
    bench.core.model.assertDone();
  });

  it('A37 a model that cannot be used is tried once a minute; the others wait unclaimed and nothing goes back', async () => {
    const bodies: string[] = [];
    for (const id of ['a', 'b', 'c']) bodies.push(s3Body(await bench.upload(USER, id)));
    bench.expectCalls(1, { kind: 'misconfigured', code: 'model_not_found' });
    expect(await bench.deliver(batchOf(...bodies))).toEqual([]);
    expect(await bench.outcome(USER, 'a')).toBe('failed(configuration)');
    expect(await bench.dueAt(USER, 'b')).toBe(NOW + MINUTE_MS);
    expect((await bench.core.jobs.get(USER, { kind: 'extraction', threadId: 'b' }))?.attempts).toBe(0);
    expect(await bench.invoke(batchOf(dueBody(USER, 'c')))).toEqual([]);
    expect(bench.calls).toBe(1);

    bench.core.clock.advance(MINUTE_MS);
    bench.expectCalls(3);
    expect(await bench.invoke(batchOf(...['a', 'b', 'c'].map((id) => dueBody(USER, id))))).toEqual([]);
    for (const id of ['a', 'b', 'c']) expect(await bench.outcome(USER, id)).toBe('extracted');
  });

  it("A37 one user's wrong choice of a model does not keep another user waiting", async () => {
    bench.settings.set('chooser', { ...DEFAULT_SETTINGS, extractModel: 'no-such-model' });
    const bodies = [s3Body(await bench.upload('chooser', 't')), s3Body(await bench.upload(USER, 't'))];
    bench.core.model.expect({ kind: 'misconfigured', code: 'model_not_found' });
    bench.expectCalls(1);
    await bench.deliver(batchOf(...bodies));
    expect(await bench.outcome(USER, 't')).toBe('extracted');
    expect(bench.core.model.requests.map((request) => request.model)).toEqual(['no-such-model', 'extract-model']);
  });
});

describe('phase1, users and their settings', () => {
  it('B17 two users in one batch: no prompt holds words of both, and a failure for one leaves the other alone', async () => {
    bench.open((ports) => ({
      outputs: withMethods(ports.outputs, {
        putBody: (userKey, ref, body) =>
          userKey === 'u'
            ? Promise.reject(new UnavailableError('table.unavailable', 'out'))
            : bench.core.outputs.putBody(userKey, ref, body),
      }),
    }));
    const ofU = await bench.upload('u', 't', { bytes: session('t', 'MARKER-OF-U') });
    const ofV = await bench.upload('v', 't', { bytes: session('t', 'MARKER-OF-V') });
    bench.expectCalls(2);
    expect(await bench.deliver(batchOf(s3Body(ofU), s3Body(ofV)))).toEqual(['message-1']);
    const prompts = bench.core.model.requests.map((request) => JSON.stringify(request));
    expect(prompts.map((text) => [/MARKER-OF-U/.test(text), /MARKER-OF-V/.test(text)])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(await bench.core.outputs.head('u', 't')).toBeUndefined();
    expect(await bench.core.outputs.head('v', 't')).toBeDefined();
  });

  it("a deployment's budget holds for who chose none", async () => {
    bench.open({ dailyTokenBudget: 5 });
    bench.settings.set('chooser', { ...DEFAULT_SETTINGS, dailyTokenBudget: 1_000_000 });
    bench.expectCalls(1);
    await bench.deliver(batchOf(s3Body(await bench.upload('chooser', 't')), s3Body(await bench.upload(USER, 't'))));
    expect(await bench.outcome('chooser', 't')).toBe('extracted');
    expect(await bench.outcome(USER, 't')).toBe('deferred(budget)');
  });

  it('an old session is taken only when its owner asked for it by name', async () => {
    const old = session('t', 'old', NOW - 60 * 24 * HOUR_MS);
    await deliver('t', old);
    expect(await bench.outcome(USER, 't')).toBe('skipped(too_old)');
    await bench.core.threads.update(USER, 't', (thread) => (thread ? { ...thread, requestedAt: NOW } : undefined));
    bench.expectCalls(1);
    await bench.invoke(batchOf(dueBody(USER, 't')));
    expect(await bench.outcome(USER, 't')).toBe('extracted');
  });

  it('a session in use is taken at once when its owner asks for it', async () => {
    await deliver('t', session('t', 'new', NOW - MINUTE_MS));
    expect(await bench.outcome(USER, 't')).toBe('skipped(not_idle)');
    await bench.core.threads.update(USER, 't', (thread) => (thread ? { ...thread, requestedAt: NOW } : undefined));
    bench.expectCalls(1);
    await bench.invoke(batchOf(dueBody(USER, 't')));
    expect(await bench.outcome(USER, 't')).toBe('extracted');
  });
});

describe('phase1, a session that goes on', () => {
  it('D23 an upload every minute for an hour: one extraction, at the end of the idle wait', async () => {
    const rollout = codexRollout({ id: 't', startAt: NOW }).call('shell', { command: 'npm test' }, 'passed');
    for (let minute = 1; minute <= 60; minute++) {
      bench.core.clock.advance(MINUTE_MS);
      rollout.user(`step ${minute}`).assistant('done');
      const sequencer = (0x1000 + minute).toString(16);
      const record = await bench.upload(USER, 't', { bytes: rollout.toBytes(), sequencer });
      expect(await bench.invoke(batchOf(s3Body(record)))).toEqual([]);
    }
    expect(bench.calls).toBe(0);
    expect(bench.queue.drain()).toEqual([]);
    expect(await bench.outcome(USER, 't')).toBe('skipped(not_idle)');
    const thread = await bench.core.threads.get(USER, 't');
    const idleFrom = (thread?.updatedAt ?? 0) + DEFAULT_SETTINGS.minRolloutIdleHours * HOUR_MS;
    expect(await bench.dueAt(USER, 't')).toBe(idleFrom);

    bench.core.clock.set(idleFrom - 1);
    await bench.invoke(batchOf(dueBody(USER, 't')));
    expect(bench.calls).toBe(0);
    bench.core.clock.set(idleFrom);
    bench.expectCalls(1);
    await bench.invoke(batchOf(dueBody(USER, 't')));
    await bench.invoke(batchOf(dueBody(USER, 't')));
    expect(bench.calls).toBe(1);
    expect(await bench.outcome(USER, 't')).toBe('extracted');
    expect(await bench.dueAt(USER, 't')).toBeNull();
  });

  it('D23 a greeting is too short', async () => {
    const bytes = codexRollout({ id: 't', startAt: NOW - 24 * HOUR_MS })
      .user('hi')
      .assistant('Hello!')
      .toBytes();
    await deliver('t', bytes);
    expect(await bench.outcome(USER, 't')).toBe('skipped(too_short)');
    expect(bench.calls).toBe(0);
  });
});
