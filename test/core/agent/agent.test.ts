import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Agent, type AgentBudget, type AgentTask, DEFAULT_AGENT_BUDGET } from '../../../core/agent/agent.ts';
import { AgentWorkspace } from '../../../core/agent/agent-workspace.ts';
import type { ModelItem, ModelReply } from '../../../core/ports/model-client.ts';
import type { StepRunner } from '../../../core/ports/step-runner.ts';
import { LIMITS } from '../../../core/settings.ts';
import { decodeUtf8, encodeUtf8 } from '../../../core/text.ts';
import { isWorkspacePath } from '../../../core/workspace/workspace-path.ts';
import { FixedClock } from '../../doubles/fixed-clock.ts';
import { MemoryStepRunner } from '../../doubles/memory-step-runner.ts';
import { MemoryUsageLedger } from '../../doubles/memory-usage-ledger.ts';
import { NumberedTokens } from '../../doubles/numbered-tokens.ts';
import { type ScriptEntry, ScriptedModel } from '../../doubles/scripted-model.ts';
import { calling, callingRaw, finishing, listing, saying, TURN_USAGE, writing } from './agent-script.ts';

const FILES = { 'raw_memories.md': 'raw\n', 'MEMORY.md': 'one two one\n', 'rollout_summaries/a.md': 'sum\n' };
const refused: ModelReply = { kind: 'refused', usage: null };
const cut: ModelReply = { kind: 'incomplete', reason: 'length', usage: TURN_USAGE };
const down: ModelReply = { kind: 'unavailable', code: 'http_503' };

interface Bench {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly steps: StepRunner;
  readonly ledger: MemoryUsageLedger;
  readonly workspace: AgentWorkspace;
}

interface BenchOptions {
  readonly budget?: Partial<AgentBudget>;
  readonly steps?: StepRunner;
  readonly ledger?: MemoryUsageLedger;
  readonly tokens?: NumberedTokens;
  readonly task?: Partial<AgentTask>;
  readonly now?: number;
}

function bench(script: readonly ScriptEntry[], options: BenchOptions = {}): Bench {
  const model = new ScriptedModel(script);
  const steps = options.steps ?? new MemoryStepRunner();
  const ledger = options.ledger ?? new MemoryUsageLedger();
  const workspace = new AgentWorkspace(
    new Map(Object.entries(FILES).map(([path, text]) => [path, encodeUtf8(text)] as const)),
  );
  const clock = new FixedClock(options.now ?? 0);
  const tokens = options.tokens ?? new NumberedTokens();
  const agent = new Agent(
    { model, steps, ledger, clock, tokens },
    {
      account: { userKey: 'u', runId: 'run', dailyTokenBudget: 1_000_000 },
      model: 'm',
      instructions: 'instructions',
      firstMessage: 'go',
      workspace,
      budget: { ...DEFAULT_AGENT_BUDGET, ...options.budget },
      confirmOwnership: async () => true,
      ...options.task,
    },
  );
  return { agent, model, steps, ledger, workspace };
}

function resultsSeen(model: ScriptedModel): unknown[] {
  const items: readonly ModelItem[] = model.requests.at(-1)?.items ?? [];
  return items.flatMap((item) => (item.kind === 'tool_result' ? [JSON.parse(item.text)] : []));
}

/** The steps whose calls were reserved, in order; what follows is fresh for each call. */
function callsBooked(ledger: MemoryUsageLedger): readonly string[] {
  return ledger.calls('u').map((call) => call.callId.replace(/\/[0-9a-f-]{36}$/, ''));
}

function textOf(workspace: AgentWorkspace, path: string): string {
  return decodeUtf8(workspace.files.get(path) ?? new Uint8Array());
}

describe('the agent loop', () => {
  it('runs tools on the workspace until finish, and tells what it used', async () => {
    const { agent, model, workspace } = bench([writing('skills/a/SKILL.md', 'x'), finishing('took in one session')]);
    expect(await agent.run()).toEqual({ kind: 'finished', report: 'took in one session' });
    model.assertDone();
    expect(textOf(workspace, 'skills/a/SKILL.md')).toBe('x');
    expect(agent.turns).toBe(2);
    expect(agent.usage).toMatchObject({ inputTokens: 200, outputTokens: 20, totalTokens: 220 });
  });

  it('sends the instructions, the whole conversation and strict tools with every call', async () => {
    const { agent, model } = bench([listing('.'), finishing()]);
    await agent.run();
    const [first, second] = model.requests;
    expect(first?.items).toEqual([{ kind: 'message', role: 'user', text: 'go' }]);
    expect(second?.items.map((item) => item.kind)).toEqual(['message', 'tool_call', 'tool_result']);
    expect(second?.items.slice(0, 1)).toEqual(first?.items);
    expect(second).toMatchObject({ instructions: 'instructions', model: 'm', reasoningEffort: 'medium' });
    expect(second?.tools?.map((tool) => tool.name)).toEqual([
      'list',
      'read',
      'search',
      'write',
      'edit',
      'delete',
      'finish',
    ]);
  });

  it('runs several calls of a turn in their order and pairs each with its result', async () => {
    const { agent, model, workspace } = bench([
      calling(
        { name: 'write', arguments: { path: 'MEMORY.md', content: 'a b' } },
        { name: 'edit', arguments: { path: 'MEMORY.md', old_text: 'b', new_text: 'c' } },
        { name: 'read', arguments: { path: 'MEMORY.md', line_offset: null, max_lines: null } },
      ),
      finishing(),
    ]);
    await agent.run();
    expect(resultsSeen(model)).toEqual([
      { path: 'MEMORY.md', bytes: 3 },
      { path: 'MEMORY.md', bytes: 3 },
      { path: 'MEMORY.md', start_line_number: 1, content: 'a c', truncated: false },
    ]);
    const ids = model.requests.at(-1)?.items.flatMap((item) => (item.kind === 'tool_result' ? [item.callId] : []));
    expect(ids).toEqual(['call-1', 'call-2', 'call-3']);
    expect(textOf(workspace, 'MEMORY.md')).toBe('a c');
  });

  it('goes on after finish when it is told what to repair', async () => {
    const { agent, model } = bench([finishing(), finishing('repaired')]);
    await agent.run();
    agent.say('line 3 is wrong');
    expect(await agent.run()).toEqual({ kind: 'finished', report: 'repaired' });
    expect(model.requests[1]?.items.map((item) => item.kind)).toEqual([
      'message',
      'tool_call',
      'tool_result',
      'message',
    ]);
    expect(agent.turns).toBe(2);
  });

  it('does nothing that a turn asks for after finish', async () => {
    const { agent, workspace } = bench([
      calling({ name: 'finish', arguments: { report: 'done' } }, { name: 'delete', arguments: { path: 'MEMORY.md' } }),
    ]);
    expect(await agent.run()).toEqual({ kind: 'finished', report: 'done' });
    expect(workspace.files.has('MEMORY.md')).toBe(true);
  });

  it('refuses calls beyond 32 in one turn and runs those before', async () => {
    const calls = Array.from({ length: 50 }, (_, at) => ({
      name: 'write',
      arguments: { path: `skills/s${at}/SKILL.md`, content: 'x' },
    }));
    const { agent, model, workspace } = bench([calling(...calls), finishing()]);
    expect(await agent.run()).toMatchObject({ kind: 'finished' });
    expect([...workspace.files.keys()].filter((path) => path.startsWith('skills/'))).toHaveLength(32);
    const results = resultsSeen(model);
    expect(results).toHaveLength(50);
    expect(results[32]).toMatchObject({ error: { code: 'tool.too_many_calls' } });
  });
});

describe('mistakes of the model', () => {
  const cases: readonly (readonly [string, string, Record<string, unknown> | string, string])[] = [
    ['an unknown tool', 'shell', { command: 'rm' }, 'tool.unknown'],
    ['arguments that are not JSON', 'read', '{"path":', 'tool.invalid_arguments'],
    ['a missing argument', 'read', { path: 'MEMORY.md' }, 'tool.invalid_arguments'],
    ['an argument too many', 'delete', { path: 'MEMORY.md', force: true }, 'tool.invalid_arguments'],
    ['an array for an object', 'finish', '[]', 'tool.invalid_arguments'],
    ['a path above the root', 'write', { path: '../x.md', content: '' }, 'path.invalid'],
    ['an absolute path', 'write', { path: '/etc/passwd', content: '' }, 'path.invalid'],
    ['a hidden path', 'write', { path: 'skills/.git/config', content: '' }, 'path.not_found'],
    ['a write to an input', 'write', { path: 'raw_memories.md', content: '' }, 'path.forbidden'],
    ['a delete of an input', 'delete', { path: 'rollout_summaries/a.md' }, 'path.forbidden'],
    ['a write to a new root file', 'write', { path: 'NOTES.md', content: '' }, 'path.forbidden'],
    ['the skills folder itself as a file', 'write', { path: 'skills', content: '' }, 'path.forbidden'],
    ['a folder below a file', 'write', { path: 'MEMORY.md/x', content: '' }, 'path.forbidden'],
    ['an edit without a match', 'edit', { path: 'MEMORY.md', old_text: 'nine', new_text: '' }, 'edit.no_match'],
    ['an edit with two matches', 'edit', { path: 'MEMORY.md', old_text: 'one', new_text: '' }, 'edit.ambiguous'],
    ['an edit of nothing', 'edit', { path: 'MEMORY.md', old_text: '', new_text: 'x' }, 'edit.empty'],
    ['an edit of a missing file', 'edit', { path: 'skills/a', old_text: 'x', new_text: '' }, 'path.not_found'],
    ['a delete of a missing file', 'delete', { path: 'memory_summary.md' }, 'path.not_found'],
    ['a read of a missing file', 'read', { path: 'nope.md', line_offset: null, max_lines: null }, 'path.not_found'],
  ];

  it.each(cases)('%s comes back as an error result', async (_fact, name, args, code) => {
    const { agent, model, workspace } = bench([
      typeof args === 'string' ? callingRaw(name, args) : calling({ name, arguments: args }),
      finishing(),
    ]);
    expect(await agent.run()).toMatchObject({ kind: 'finished' });
    expect(resultsSeen(model)).toEqual([{ error: { code, message: expect.any(String) } }]);
    expect([...workspace.files.keys()].sort()).toEqual(Object.keys(FILES).sort());
    for (const [path, text] of Object.entries(FILES)) expect(textOf(workspace, path)).toBe(text);
  });

  it.each([
    ['MEMORY.md', LIMITS.memoryFileBytes],
    ['memory_summary.md', LIMITS.summaryFileBytes],
    ['skills/a/SKILL.md', LIMITS.skillFileBytes],
  ])('a write to %s over its limit is refused, one at the limit is not', async (path, limit) => {
    const { agent, model } = bench([
      calling(
        { name: 'write', arguments: { path, content: 'x'.repeat(limit) } },
        { name: 'write', arguments: { path, content: `${'x'.repeat(limit - 1)}é` } },
      ),
      finishing(),
    ]);
    await agent.run();
    expect(resultsSeen(model)).toEqual([
      { path, bytes: limit },
      { error: { code: 'file.too_large', message: expect.stringContaining(String(limit)) } },
    ]);
  });

  it('a skill file cannot also be a folder', async () => {
    const { agent, model } = bench([
      calling(
        { name: 'write', arguments: { path: 'skills/a', content: 'x' } },
        { name: 'write', arguments: { path: 'skills/a/b', content: 'x' } },
      ),
      finishing(),
    ]);
    await agent.run();
    expect(resultsSeen(model)[1]).toMatchObject({ error: { code: 'path.invalid' } });
  });
});

describe('the ends of a run', () => {
  const over = (count: number): ScriptEntry[] =>
    Array.from({ length: count }, (_, at) => listing(`${'./'.repeat(at)}.`));

  it('ends after the last turn of its budget', async () => {
    const { agent, model } = bench(over(3), { budget: { maxTurns: 3 } });
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.turn_budget', resumable: false });
    expect(model.requests).toHaveLength(3);
  });

  it('ends before a call that could exceed the token budget', async () => {
    const large = { ...listing('.'), usage: { ...TURN_USAGE, totalTokens: 40_000 } } as ModelReply;
    const { agent, model } = bench([large], { budget: { maxTokens: 60_000 } });
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.token_budget', resumable: false });
    expect(model.requests).toHaveLength(1);
  });

  it('counts the estimate where the provider reported no usage', async () => {
    const silent = { ...listing('.'), usage: null } as ModelReply;
    const { agent, model } = bench([silent], { budget: { maxTokens: LIMITS.agentOutputTokens + 5_000 } });
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.token_budget' });
    expect(model.requests).toHaveLength(1);
  });

  it('ends when it has written more than its budget', async () => {
    const { agent } = bench([writing('MEMORY.md', 'x'.repeat(60)), writing('MEMORY.md', 'y'.repeat(60))], {
      budget: { maxWriteBytes: 100 },
    });
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.write_budget', resumable: false });
  });

  it('ends before a call that would outlive the deadline, ready to go on later', async () => {
    const deadline = 1_000 + LIMITS.agentCallTimeoutMs;
    const late = bench([], { budget: { deadline }, now: 1_001 });
    expect(await late.agent.run()).toMatchObject({ code: 'agent.deadline', resumable: true, retryAfterMs: 0 });
    const inTime = bench([finishing()], { budget: { deadline }, now: 1_000 });
    expect(await inTime.agent.run()).toMatchObject({ kind: 'finished' });
  });

  it('ends at the third identical turn in a row, and not at three with another between', async () => {
    const looping = bench([listing('.'), listing('.'), listing('.')]);
    expect(await looping.agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.loop', resumable: false });
    const varied = bench([listing('.'), listing('.'), listing(''), listing('.'), finishing()]);
    expect(await varied.agent.run()).toMatchObject({ kind: 'finished' });
  });

  it('TC-146 asks once for a tool call, then ends a run whose model just talks', async () => {
    const { agent, model } = bench([saying('all done'), saying('really')]);
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.no_tool_call' });
    expect(model.requests[1]?.items.at(-1)).toMatchObject({ kind: 'message', role: 'user' });
    const recovered = bench([saying('thinking'), finishing()]);
    expect(await recovered.agent.run()).toMatchObject({ kind: 'finished' });
  });

  it('ends before the next call when the lock is lost', async () => {
    let asked = 0;
    const { agent, model } = bench([listing('.')], { task: { confirmOwnership: async () => ++asked === 1 } });
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'agent.ownership_lost' });
    expect(model.requests).toHaveLength(1);
  });

  it.each<readonly [ModelReply, Record<string, unknown>]>([
    [refused, { code: 'model.refused', resumable: false }],
    [
      { kind: 'incomplete', reason: 'filter', usage: null },
      { code: 'model.filtered', resumable: false },
    ],
    [{ kind: 'too_long' }, { code: 'model.too_long', resumable: false }],
    [
      { kind: 'rate_limited', retryAfterMs: 5_000 },
      { code: 'model.rate_limited', resumable: true, retryAfterMs: 5_000 },
    ],
    [down, { code: 'model.unavailable', detail: 'http_503', resumable: true }],
    [
      { kind: 'misconfigured', code: 'no_such_model' },
      { code: 'model.misconfigured', detail: 'no_such_model' },
    ],
  ])('%j ends it with a code of its own', async (reply, expected) => {
    const { agent } = bench([reply]);
    expect(await agent.run()).toMatchObject({ kind: 'stopped', ...expected });
  });

  it('asks once more with twice the room when an answer was cut for length', async () => {
    const { agent, model } = bench([cut, finishing()]);
    expect(await agent.run()).toMatchObject({ kind: 'finished' });
    expect(model.requests.map((request) => request.maxOutputTokens)).toEqual([
      LIMITS.agentOutputTokens,
      2 * LIMITS.agentOutputTokens,
    ]);
    expect(agent.turns).toBe(1);
    expect(agent.usage.totalTokens).toBe(220);
  });

  it('ends when the second answer was cut as well', async () => {
    const { agent } = bench([cut, cut]);
    expect(await agent.run()).toMatchObject({ kind: 'stopped', code: 'model.incomplete', resumable: false });
  });
});

describe('what a run pays', () => {
  it('reserves before each call and settles after it with what was used', async () => {
    const { agent, ledger } = bench([listing('.'), finishing()]);
    await agent.run();
    const calls = ledger.calls('u');
    expect(callsBooked(ledger)).toEqual(['run/turn-001', 'run/turn-002']);
    expect(calls[0]).toMatchObject({ purpose: 'consolidation', subject: 'run', model: 'm', dailyLimit: 1_000_000 });
    expect(calls[0]?.tokens).toBeGreaterThan(LIMITS.agentOutputTokens);
    expect(await ledger.day('u', '1970-01-01')).toMatchObject({ reservedTokens: 0, usage: { totalTokens: 220 } });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 'much'])(
    'tells a reply that its port does not allow as a defect: %j',
    async (bad) => {
      const remainingPercent: unknown = bad;
      const rateLimits = [{ name: 'tokens', remainingPercent, resetsAt: 0 }];
      const { agent, ledger } = bench([Object.assign({}, listing('.'), { rateLimits })]);
      await expect(agent.run()).rejects.toMatchObject({
        kind: 'defect',
        code: 'model.reply_unreadable',
        details: { field: 'rateLimits.0.remainingPercent' },
      });
      expect(await ledger.day('u', '1970-01-01')).toMatchObject({ reservedTokens: 0, usage: { totalTokens: 110 } });
    },
  );

  it('makes no call that the ledger refuses', async () => {
    const account = { userKey: 'u', runId: 'run', dailyTokenBudget: LIMITS.agentOutputTokens + 5_000 };
    const thirsty: ModelReply = { ...listing('.'), usage: { ...TURN_USAGE, totalTokens: 10_000 } } as ModelReply;
    const { agent, model } = bench([thirsty], { task: { account } });
    expect(await agent.run()).toMatchObject({ code: 'budget.daily_tokens', resumable: true });
    expect(model.requests).toHaveLength(1);
  });

  it('keeps the whole reservation of a call that may have been worked on, nothing of one turned away', async () => {
    for (const [reply, kept] of [
      [{ kind: 'unavailable', code: 'timeout' }, true],
      [down, false],
      [{ kind: 'rate_limited', retryAfterMs: null }, false],
    ] as const) {
      const { agent, ledger } = bench([reply]);
      await agent.run();
      const reserved = ledger.calls('u')[0]?.tokens;
      const day = await ledger.day('u', '1970-01-01');
      expect(day).toMatchObject({ reservedTokens: 0, usage: { totalTokens: kept ? reserved : 0 } });
    }
  });

  it('replays the turns of a run that was killed and pays only for the rest', async () => {
    const shared = { steps: new MemoryStepRunner(), ledger: new MemoryUsageLedger(), tokens: new NumberedTokens() };
    const killed = bench(
      [
        writing('MEMORY.md', 'new'),
        () => {
          throw new Error('killed');
        },
      ],
      shared,
    );
    await expect(killed.agent.run()).rejects.toThrow('killed');

    const again = bench([finishing()], shared);
    expect(await again.agent.run()).toMatchObject({ kind: 'finished' });
    expect(again.model.requests).toHaveLength(1);
    expect(textOf(again.workspace, 'MEMORY.md')).toBe('new');
    expect(again.agent.usage.totalTokens).toBe(220);
    expect(callsBooked(shared.ledger)[0]).toBe('run/turn-001');
  });

  it('counts a call again that is made again, since its reply was lost before it was kept', async () => {
    const steps = new MemoryStepRunner();
    const losing: StepRunner = {
      run: (runId, name, shape, work) =>
        name === 'turn-002'
          ? work().then(() => Promise.reject(new Error('killed')))
          : steps.run(runId, name, shape, work),
      finish: (runId) => steps.finish(runId),
    };
    const shared = { ledger: new MemoryUsageLedger(), tokens: new NumberedTokens() };
    await expect(bench([listing('.'), finishing()], { ...shared, steps: losing }).agent.run()).rejects.toThrow(
      'killed',
    );
    expect(await bench([finishing()], { ...shared, steps }).agent.run()).toMatchObject({ kind: 'finished' });
    expect(callsBooked(shared.ledger)).toEqual(['run/turn-001', 'run/turn-002', 'run/turn-002']);
    expect(await shared.ledger.day('u', '1970-01-01')).toMatchObject({
      reservedTokens: 0,
      usage: { totalTokens: 330 },
    });
  });

  it('makes a failed call again, with a reservation of its own, when the run starts over', async () => {
    const shared = { steps: new MemoryStepRunner(), ledger: new MemoryUsageLedger(), tokens: new NumberedTokens() };
    await bench([listing('.'), down], shared).agent.run();
    await bench([down], shared).agent.run();
    const third = bench([finishing()], shared);
    expect(await third.agent.run()).toMatchObject({ kind: 'finished' });
    expect(callsBooked(shared.ledger)).toEqual(['run/turn-001', 'run/turn-002', 'run/turn-002-2', 'run/turn-002-3']);
  });
});

describe('the end of the turns', () => {
  it('is told ten turns before, once', async () => {
    const turns = Array.from({ length: 29 }, (_, at) => listing('./'.repeat(at)));
    const { agent, model } = bench([...turns, finishing()], { budget: { maxTurns: 30 } });
    expect(await agent.run()).toMatchObject({ kind: 'finished' });
    const told = model.requests.map(
      ({ items }) => items.filter((item) => item.kind === 'message' && item.text.startsWith('10 turns')).length,
    );
    expect(told.slice(0, 20).every((count) => count === 0)).toBe(true);
    expect(told.slice(20).every((count) => count === 1)).toBe(true);
  });
});

describe('a secret that the model writes', () => {
  const secret = ['ghp', 'A1b2C3D4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');

  it('is in no later request, no stored step and no file, and the tools still make sense of the calls', async () => {
    const stored: string[] = [];
    const steps: StepRunner = {
      run: async (_runId, _name, shape, work) => {
        const text = JSON.stringify(await work());
        stored.push(text);
        return shape.parse(JSON.parse(text));
      },
      finish: async () => {},
    };
    const read = { name: 'read', arguments: { path: 'MEMORY.md', line_offset: null, max_lines: null } };
    const { agent, model, workspace } = bench(
      [
        Object.assign({}, writing('MEMORY.md', `key: ${secret}\nend`), { text: `I keep ${secret}` }),
        calling({ name: 'edit', arguments: { path: 'MEMORY.md', old_text: `${secret}\nend`, new_text: 'gone' } }, read),
        calling({ name: 'search', arguments: { queries: [secret] } }, { name: secret, arguments: {} }),
        callingRaw('read', `{"path": "${secret}`),
        saying(`It is ${secret}.`),
        finishing(secret),
      ],
      { steps },
    );
    expect(await agent.run()).toEqual({ kind: 'finished', report: '[REDACTED_SECRET]' });
    expect(textOf(workspace, 'MEMORY.md')).toBe('key: gone');
    expect(JSON.stringify([model.requests, stored])).not.toContain(secret);
    expect(JSON.stringify(model.requests.at(-1)?.items)).toContain('key: [REDACTED_SECRET]');
  });

  it('is in no request either when it was written in pieces and read whole', async () => {
    const { agent, model } = bench([
      writing('MEMORY.md', `${secret.slice(0, 12)}@@`),
      calling({ name: 'edit', arguments: { path: 'MEMORY.md', old_text: '@@', new_text: secret.slice(12) } }),
      calling({ name: 'read', arguments: { path: 'MEMORY.md', line_offset: null, max_lines: null } }),
      finishing(),
    ]);
    await agent.run();
    expect(JSON.stringify(model.requests)).not.toContain(secret);
    expect(resultsSeen(model).at(-1)).toMatchObject({ content: '[REDACTED_SECRET]' });
  });

  it('nothing else of a turn is changed: opaque elements, ids and arguments come back as they were', async () => {
    const call = { callId: 'c-1', name: 'write', arguments: '{ "path": "MEMORY.md",\t"content": "task-1 \\u00e9" }' };
    const items = [
      { kind: 'opaque', json: '{"encrypted_content":"gAAAA"}' },
      { kind: 'tool_call', ...call },
    ] as const;
    const { agent, model } = bench([Object.assign({}, listing('.'), { toolCalls: [call], items }), finishing()]);
    await agent.run();
    expect(model.requests.at(-1)?.items.slice(1, 3)).toEqual(items);
  });
});

describe('a long conversation', () => {
  it('drops the oldest results, keeps calls paired, and keeps the last turn whole', async () => {
    const big = 'line of text\n'.repeat(7_000);
    const reading = (offset: number) =>
      calling({ name: 'read', arguments: { path: 'MEMORY.md', line_offset: offset, max_lines: 6_000 } });
    const script = [writing('MEMORY.md', big), ...[1, 2, 3, 4, 5, 6, 7].map(reading), finishing()];
    const { agent, model } = bench(script);
    expect(await agent.run()).toMatchObject({ kind: 'finished' });
    const items = model.requests.at(-1)?.items ?? [];
    const results = items.flatMap((item) => (item.kind === 'tool_result' ? [item.text] : []));
    expect(items.filter((item) => item.kind === 'tool_call')).toHaveLength(results.length);
    expect(results[1]).toContain('dropped');
    expect(results.at(-1)).toContain('line of text');
    for (const request of model.requests) {
      const bytes = request.items.reduce((sum, item) => sum + JSON.stringify(item).length, 0);
      expect(bytes / 4).toBeLessThan(LIMITS.agentConversationTokens * 1.2);
    }
  });

  it('drops the contents of old writes where the results are not enough', async () => {
    const big = (mark: string): string => `${mark}${'x'.repeat(200_000)}`;
    const script = ['a', 'b', 'c', 'd'].map((mark) => writing('MEMORY.md', big(mark)));
    const { agent, model, workspace } = bench([...script, finishing()]);
    expect(await agent.run()).toMatchObject({ kind: 'finished' });
    const writes = (model.requests.at(-1)?.items ?? []).flatMap((item) => (item.kind === 'tool_call' ? [item] : []));
    expect(writes.every((call) => call.arguments.startsWith('{"path":"MEMORY.md",'))).toBe(true);
    expect(writes.map((call) => call.arguments.length > 2_000)).toEqual([false, false, false, true]);
    expect(textOf(workspace, 'MEMORY.md')).toBe(big('d'));
  });
});

it('never uses more than its budget, whatever the turns cost', async () => {
  const costs = fc.array(fc.integer({ min: 0, max: LIMITS.agentOutputTokens }), { minLength: 1, maxLength: 12 });
  const maxTokens = 150_000;
  await fc.assert(
    fc.asyncProperty(costs, async (turnCosts) => {
      const script = turnCosts.map((totalTokens, at) => () => ({
        ...calling({ name: 'list', arguments: { path: './'.repeat(at), cursor: null, max_results: null } }),
        usage: { ...TURN_USAGE, totalTokens },
      }));
      const { agent, model } = bench([...script, finishing()], { budget: { maxTokens, maxTurns: 10 } });
      await agent.run();
      expect(agent.usage.totalTokens).toBeLessThanOrEqual(maxTokens);
      expect(model.requests.length).toBeLessThanOrEqual(10);
    }),
    { numRuns: 40 },
  );
});

it('never leaves the workspace, whatever path the model writes to', async () => {
  const step = fc.oneof(
    fc.constantFrom('..', '.', '', 'skills', 'MEMORY.md', 'a', '.git', '\\', '\u0000'),
    fc.string(),
  );
  const path = fc.array(step, { maxLength: 5 }).map((steps) => steps.join('/'));
  await fc.assert(
    fc.asyncProperty(fc.array(path, { maxLength: 8 }), async (paths) => {
      const calls = paths.map((written) => ({ name: 'write', arguments: { path: written, content: 'x' } }));
      const { agent, workspace } = bench([calling(...calls, { name: 'finish', arguments: { report: '' } })]);
      expect(await agent.run()).toMatchObject({ kind: 'finished' });
      for (const [name, content] of workspace.files) {
        if (decodeUtf8(content) !== 'x') continue;
        expect(isWorkspacePath(name)).toBe(true);
        expect(name).toMatch(/^(MEMORY\.md|memory_summary\.md|skills\/.+)$/s);
      }
    }),
  );
});
