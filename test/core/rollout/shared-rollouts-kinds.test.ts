import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { toChunks } from '../../support/rollout-builder.ts';
import { loadSharedRollout } from '../../support/shared-rollouts.ts';

type Read = Extract<RolloutReading, { kind: 'read' }>;

interface Row {
  readonly label: string;
  readonly project: string | undefined;
  readonly text: string;
}

/** Everything: a budget that nothing is left out of. */
const ALL_TOKENS = 3_000_000;

const readings = new Map<string, Promise<Read>>();

function understand(prefix: string): Promise<Read> {
  const reading = readings.get(prefix) ?? readAll(prefix);
  readings.set(prefix, reading);
  return reading;
}

async function readAll(prefix: string): Promise<Read> {
  const reading = await readRollout(toChunks(loadSharedRollout(prefix)), { evidenceTokens: ALL_TOKENS });
  if (reading.kind !== 'read') throw new Error(`${prefix}: ${reading.reason}`);
  return reading;
}

async function rowsOf(prefix: string): Promise<readonly Row[]> {
  const { evidence } = await understand(prefix);
  const rows = evidence.matchAll(/^\[([a-z ]+)\]\n(?:\[project: ([^\n]*)\]\n)?(.*)$/gm);
  return [...rows].map(([, label = '', project, text = '']) => ({ label, project, text }));
}

async function countLabels(prefix: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { label } of await rowsOf(prefix)) counts[label] = (counts[label] ?? 0) + 1;
  return counts;
}

/** Call ids of calls and of outputs. */
async function callIds(prefix: string): Promise<{ calls: string[]; outputs: string[] }> {
  const { evidence } = await understand(prefix);
  const ids = (kinds: string): string[] =>
    [...evidence.matchAll(new RegExp(`^\\{"type":"(?:${kinds})".*?"call_id":"([^"]+)"`, 'gm'))].map(
      ([, id]) => id ?? '',
    );
  return { calls: ids('function_call|custom_tool_call'), outputs: ids('function_call_output|custom_tool_call_output') };
}

describe('who speaks in the shared rollouts', () => {
  it.each([
    ['03', { 'harness context': 1, 'human user': 1, 'assistant final': 1, tool: 6 }],
    ['05', { 'harness context': 1, 'human user': 2, 'assistant final': 6, tool: 46 }],
    ['06', { 'harness context': 1, 'human user': 14, 'assistant final': 18, tool: 130 }],
    ['09', { 'harness context': 2, 'human user': 6, 'assistant final': 9, tool: 102 }],
    ['10', { 'human user': 8, 'assistant final': 10, tool: 14 }],
    ['12', { 'harness context': 1 }],
    ['14', { 'harness context': 2, 'human user': 1, tool: 48 }],
    ['16', { 'harness context': 4, 'human user': 3, 'assistant final': 5, tool: 194 }],
    ['18', { 'harness context': 2, 'assistant final': 1, tool: 84 }],
    ['24', { 'harness context': 1, 'human user': 4, 'assistant commentary': 15, 'assistant final': 4, tool: 84 }],
    ['26', { 'harness context': 1, 'human user': 1, 'assistant commentary': 23, 'assistant final': 1, tool: 178 }],
    ['28', { tool: 3 }],
    ['31', { tool: 3 }],
    ['32', { tool: 4 }],
    ['37', { 'harness context': 4, 'human user': 14, 'assistant commentary': 12, 'assistant final': 7, tool: 21 }],
    ['41', { 'harness context': 1, 'human user': 5, 'assistant commentary': 2, 'assistant final': 5, tool: 14 }],
    ['45', { 'harness context': 2, 'human user': 2, 'assistant final': 9, tool: 20 }],
    ['46', { 'harness context': 2, 'human user': 5, 'assistant final': 20, tool: 82 }],
    ['49', { 'harness context': 1, 'human user': 4, 'assistant final': 17, tool: 74 }],
    ['51', { 'human user': 3, 'assistant commentary': 18, 'assistant final': 3, tool: 102 }],
    ['53', { 'human user': 1, tool: 3 }],
    ['54', { 'other agent': 1, tool: 3 }],
  ])('%s', async (prefix, labels) => {
    expect(await countLabels(prefix)).toEqual(labels);
  });
});

describe('what a reader of the shared rollouts must do', () => {
  it('06: keep a damaged name of a tool; one time for the whole file', async () => {
    const { evidence, facts } = await understand('06');
    expect(evidence).toContain('"name":"shell<|channel|>"');
    expect(facts.firstAt).toBe(facts.lastAt);
  });

  it('03: pair calls that have no id of their own by call_id', async () => {
    const { calls, outputs } = await callIds('03');
    expect(calls).toHaveLength(3);
    expect(outputs).toEqual(calls);
  });

  it('10: not tell again what 09 told', async () => {
    const told = (rows: readonly Row[]): string[] =>
      rows.filter(({ label }) => label === 'tool').map(({ text }) => text);
    const old = new Set(told(await rowsOf('09')));
    expect(old.size).toBeGreaterThan(90);
    expect(told(await rowsOf('10')).filter((text) => old.has(text))).toEqual([]);
  });

  it('19, 22: let a call stand without its output', async () => {
    expect(await callIds('19')).toMatchObject({ calls: [expect.any(String)], outputs: [] });
    const { calls, outputs } = await callIds('22');
    expect(calls.filter((id) => !outputs.includes(id))).toHaveLength(1);
  });

  it('21: pair parallel calls by call_id and take a search without an action', async () => {
    const { calls, outputs } = await callIds('21');
    expect(new Set(outputs)).toEqual(new Set(calls));
    expect((await understand('21')).facts.externalContext.webSearch).toBe(true);
  });

  it('18: command files that were expanded are a turn of the person without words', async () => {
    expect((await understand('18')).facts).toMatchObject({ humanMessages: 1, title: null });
    expect((await understand('16')).facts.humanMessages).toBe(6);
  });

  it('28: take an output that is a list of parts', async () => {
    const outputs = (await rowsOf('28')).filter(({ text }) => text.includes('"type":"custom_tool_call_output"'));
    expect(outputs).toHaveLength(1);
    expect(outputs[0]?.text).toMatch(/"output":\[\{"type":"input_text"/);
  });

  it('31, 32: link a sub-agent to the parent that spawned it, whose launch texts are unreadable', async () => {
    const [parent, child] = [await understand('31'), await understand('32')];
    expect(child.facts.parentThreadId).toBe(parent.facts.threadId);
    expect(parent.evidence.match(/"name":"spawn_agent"/g)).toHaveLength(3);
  });

  it('33: pass over what is unknown, count it by name, and stay where the thread is', async () => {
    const { counts, facts } = await understand('33');
    expect(Object.keys(counts.byKind).length).toBeGreaterThanOrEqual(45);
    expect(counts.droppedByKind).toMatchObject({
      'event_msg/guardian_assessment': 4,
      'event_msg/thread_goal_updated': 2,
      'event_msg/collab_close_end': 1,
      'response_item/image_generation_call': 1,
      inter_agent_communication_metadata: 1,
      world_state: 5,
      compacted: expect.any(Number),
    });
    expect(facts.externalContext).toMatchObject({ webSearch: true, toolSearch: true });
    expect(facts.externalContext.mcpServers).toContain('example');
    expect((await rowsOf('33')).filter(({ project }) => project !== undefined)).toEqual([]);
  });

  it('38: Windows directories stay one project, and a title says something', async () => {
    const { facts } = await understand('38');
    expect(facts.title).toMatch(/\p{L}/u);
    expect((await rowsOf('38')).filter(({ project }) => project !== undefined)).toEqual([]);
  });

  it('38: nothing that a terminal fills its lines with is left of a person’s words', async () => {
    const human = (await rowsOf('38')).filter(({ label }) => label === 'human user');
    expect(human).toHaveLength(25);
    expect(human.filter(({ text }) => / {16}(?:\\r)?\\n/.test(text))).toEqual([]);
  });

  it('41: repeated metas weigh nothing', async () => {
    const { counts, evidence } = await understand('41');
    expect(counts.byKind['session_meta']).toBe(5);
    expect(evidence.length).toBeLessThan(150_000);
    expect(evidence).not.toContain('base_instructions');
  });

  it('45: a boundary of compaction starts no new thread, and neither its summary nor a stand-in is told', async () => {
    const { counts } = await understand('45');
    expect(counts.byKind['system/compact_boundary']).toBe(1);
    expect(counts.droppedByKind).toMatchObject({ user: 2, assistant: 13 });
  });

  it('46: tell a record that was written twice once, and mark what was done elsewhere', async () => {
    expect((await understand('46')).counts).toMatchObject({ records: 171, broken: 0 });
    const rows = await rowsOf('46');
    const projects = new Set(rows.map(({ project }) => project));
    expect(projects.size).toBe(2);
    expect(rows.findIndex(({ project }) => project !== undefined)).toBeGreaterThan(10);
    expect(rows.at(-1)?.project).toBeDefined();
  });

  it('54: belongs to 53', async () => {
    expect((await understand('54')).facts.parentThreadId).toBe((await understand('53')).facts.threadId);
  });

  it('55: subtypes and attachments that nobody knows are counted by name', async () => {
    const { counts, evidence } = await understand('55');
    expect(counts.droppedByKind).toMatchObject({
      'system/api_error': 4,
      'system/model_refusal_fallback': 1,
      'worktree-state': 2,
      'bridge-session': 1,
    });
    expect(evidence).toContain('[image omitted]');
  });
});
