import { describe, expect, it } from 'vitest';
import { DirectStepRunner } from '../../../adapters/system/direct-step-runner.ts';
import type { ModelReply } from '../../../core/ports/model-client.ts';
import { type ShadowRequest, shadowRun } from '../../../core/replay/shadow-run.ts';
import { toDay } from '../../../core/time.ts';
import { type ScriptEntry, ScriptedModel } from '../../doubles/scripted-model.ts';
import { finishing, writing } from '../agent/agent-script.ts';
import { benchWith, type ConsolidationBench, firstMessage, USER } from '../consolidation/consolidation-bench.ts';
import { SUMMARY_TEXT } from '../consolidation/memory-text.ts';
import { readOnly, replay } from './replay-bench.ts';

const OTHER_SUMMARY = SUMMARY_TEXT.replace('Works in one project.', 'Works in a shop.');

async function shadow(bench: ConsolidationBench, script: readonly ScriptEntry[], more: Partial<ShadowRequest> = {}) {
  const model = new ScriptedModel(script);
  const { ledger, tokens } = bench;
  const ports = { ...readOnly(bench), model, ledger, tokens, steps: new DirectStepRunner() };
  const request = { userKey: USER, version: 1, model: 'other', prompt: null, dailyTokenBudget: 2_000_000, ...more };
  const result = await shadowRun(ports, request);
  model.assertDone();
  return { ...result, asked: model.requests };
}

async function consolidated() {
  const bench = await benchWith('t1');
  const { model } = await bench.goodRun('t1');
  return { bench, asked: model.requests };
}

const script = (bench: ConsolidationBench, summary: string): readonly ModelReply[] => [
  writing('MEMORY.md', bench.goodMemory(['t1'])),
  writing('memory_summary.md', summary),
  finishing(),
];

describe('a shadow run', () => {
  it('asks another model the very same, and shows what it would have made otherwise, and what both cost', async () => {
    const { bench, asked } = await consolidated();
    const result = await shadow(bench, script(bench, OTHER_SUMMARY));
    expect(result).toMatchObject({ version: 1, model: 'other', end: 'passed', reason: null, turns: 3 });
    expect(result.usage.totalTokens).toBe(330);
    expect(result.original).toMatchObject({ model: 'm', turns: 3, usage: { totalTokens: 330 } });
    expect(result.diff).toContain('-Works in one project.\n+Works in a shop.\n');
    expect(result.diff).not.toContain('raw_memories.md');
    expect(result.asked[0]).toEqual({ ...asked[0], model: 'other' });
  });

  it('shows no difference where the files come out the same', async () => {
    const { bench } = await consolidated();
    expect((await shadow(bench, script(bench, SUMMARY_TEXT))).diff).toBe('');
  });

  it('publishes and keeps nothing: its ports hold nothing that could, and all that it leaves is its cost', async () => {
    const { bench } = await consolidated();
    const state = async () => [
      await bench.heads.read(USER),
      [...bench.memories.shelf(USER).manifests],
      [...bench.memories.shelf(USER).contents.keys()],
      await bench.replays.list(USER),
      await bench.jobs.get(USER, { kind: 'consolidation' }),
      bench.steps.ran.length,
    ];
    const before = await state();
    const day = () => bench.ledger.day(USER, toDay(bench.clock.now()));
    const { calls } = await day();
    await shadow(bench, script(bench, OTHER_SUMMARY));
    expect(await state()).toEqual(before);
    expect(await day()).toMatchObject({ calls: calls + 3, reservedTokens: 0 });
    expect(await replay(bench, 1)).toMatchObject({ equal: true });
  });

  it('makes no call that does not fit the budget of the day', async () => {
    const { bench } = await consolidated();
    const result = await shadow(bench, [], { dailyTokenBudget: 400 });
    expect(result).toMatchObject({ end: 'stopped', reason: { code: 'budget.daily_tokens' }, diff: null, turns: 1 });
  });

  it('tells why where the files do not pass the gates, by code and place', async () => {
    const { bench } = await consolidated();
    const bad = [writing('MEMORY.md', bench.goodMemory(['t1'])), writing('memory_summary.md', 'broken'), finishing()];
    const result = await shadow(bench, [...bad, finishing('a'), finishing('b')]);
    expect(result).toMatchObject({ end: 'invalid', reason: { code: 'artifacts.invalid' }, diff: null });
    expect(result.reason?.detail).toContain('memory_summary.md');
  });

  it('compares with what others changed while the run was at work in its place', async () => {
    const { bench } = await consolidated();
    await bench.addOutput('t2');
    const both = writing('MEMORY.md', bench.goodMemory(['t1', 't2']));
    const note = 'extensions/ad_hoc/notes/2026-01-02T03-04-05-tabs.md';
    await bench.run([
      both,
      async () => {
        await bench.publishSmall('note', { [note]: 'use tabs' });
        return finishing();
      },
    ]);
    const version = (await bench.manifest())?.version ?? 0;
    expect((await shadow(bench, [both, finishing()], { version })).diff).toBe('');
  });
});

describe('another prompt', () => {
  it('takes the place of the template, with the same inputs, and the model of the version', async () => {
    const { bench, asked } = await consolidated();
    const { text } = await bench.templates.get('consolidation');
    const prompt = `<!-- stillroom template: consolidation, version: trial-1 -->\nBe brief.\n${text}`;
    const result = await shadow(bench, script(bench, OTHER_SUMMARY), { prompt, model: null });
    expect(result).toMatchObject({ end: 'passed', model: 'm' });
    expect(result.asked[0]?.instructions.startsWith('Be brief.\n')).toBe(true);
    expect(firstMessage(result.asked[0])).toBe(firstMessage(asked[0]));
  });

  it('may stand where the template has changed since; another model alone may not', async () => {
    const { bench } = await consolidated();
    const { get } = bench.templates;
    const { text } = await bench.templates.get('consolidation');
    bench.templates.get = async (name) => {
      const template = await Reflect.apply(get, bench.templates, [name]);
      return name === 'consolidation' ? { ...template, text: `${template.text}\nMore.` } : template;
    };
    await expect(shadow(bench, [])).rejects.toMatchObject({ code: 'replay.template_changed' });
    expect(await shadow(bench, script(bench, SUMMARY_TEXT), { prompt: text })).toMatchObject({
      end: 'passed',
      diff: '',
    });
  });

  it.each([
    ['does not name what varies', 'Be brief.\n<!-- part: first_message -->\nGo.'],
    ['names what there is not', 'Be brief.\n<!-- part: first_message -->\n{{ weather }}'],
    ['has logic', 'Be brief.\n<!-- part: first_message -->\n{{#mode}}x{{/mode}}'],
  ])('is refused before any call where it %s', async (_name, prompt) => {
    const { bench } = await consolidated();
    await expect(shadow(bench, [], { prompt })).rejects.toMatchObject({
      kind: 'invalid_input',
      code: 'replay.prompt_invalid',
      details: { field: 'prompt' },
    });
  });
});
