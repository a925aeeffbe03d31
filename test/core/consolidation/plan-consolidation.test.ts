import { describe, expect, it } from 'vitest';
import { planConsolidation } from '../../../core/consolidation/plan-consolidation.ts';
import { DEFAULT_SETTINGS, LIMITS } from '../../../core/settings.ts';
import { ConsolidationBench, USER } from './consolidation-bench.ts';

const plan = (bench: ConsolidationBench, oneShotTokens: number = LIMITS.oneShotTokens) =>
  planConsolidation(bench.ports({ respond: () => Promise.reject(new Error('no call')) }), {
    userKey: USER,
    settings: DEFAULT_SETTINGS,
    model: 'm',
    oneShotTokens,
  });

describe('planConsolidation', () => {
  it('says that there is nothing to do, with and without a memory', async () => {
    const bench = new ConsolidationBench();
    expect(await plan(bench)).toMatchObject({ version: 0, way: null, tokens: { toRead: 0, most: 0 } });
    await bench.addOutput('t1');
    await bench.goodRun('t1');
    expect(await plan(bench)).toMatchObject({
      version: 1,
      way: null,
      inputs: { added: [], retained: ['t1'], removed: [] },
    });
  });

  it('says what would be taken in and how, and what the run then does is that', async () => {
    const bench = new ConsolidationBench();
    await bench.addOutput('t1');
    await bench.addOutput('t2');
    await bench.goodRun('t1', 't2');
    await bench.addOutput('t3');
    await bench.threads.setMemoryMode(USER, 't1', 'disabled');
    const small = await plan(bench);
    expect(small).toMatchObject({
      version: 1,
      inputs: { added: ['t3'], retained: ['t2'], removed: ['t1'] },
      way: 'once',
      model: 'm',
      tokens: { toRead: expect.any(Number), most: LIMITS.agentMaxTokens },
    });
    expect(small.tokens.toRead).toBeLessThanOrEqual(LIMITS.oneShotTokens);
    const large = await plan(bench, 10);
    expect(large.way).toBe('loop');
    const run = await bench.run(bench.goodScript('t2', 't3'));
    expect(run).toMatchObject({ kind: 'published', ...small.inputs });
  });

  it('takes no lock and changes nothing', async () => {
    const bench = new ConsolidationBench();
    await bench.addOutput('t1');
    const before = await bench.jobs.get(USER, { kind: 'consolidation' });
    await plan(bench);
    expect(await bench.jobs.get(USER, { kind: 'consolidation' })).toEqual(before);
    expect((await bench.heads.read(USER)).version).toBe(0);
    expect(bench.ledger).toEqual(new ConsolidationBench().ledger);
  });
});
