import { expect, it } from 'vitest';
import { selectRanked } from '../../../core/consolidation/load-selection.ts';
import { selectInputs } from '../../../core/consolidation/select-inputs.ts';
import { DAY_MS } from '../../../core/time.ts';
import { NOW, sampleHead, sampleThread } from '../../support/sample-state.ts';

const HEADS = Array.from({ length: 3_000 }, (_, at) =>
  sampleHead({ threadId: `t${(at * 7919) % 3_000}`, sourceUpdatedAt: NOW - (at % 60) * DAY_MS, usageCount: at % 5 }),
);
const THREADS = new Map(
  HEADS.flatMap(({ threadId }, at) => {
    const hidden = at % 4 === 0 ? { memoryMode: 'disabled' as const } : {};
    const asked = at % 11 === 0 ? { requestedAt: NOW } : {};
    return at % 13 === 0 ? [] : [[threadId, sampleThread({ threadId, ...hidden, ...asked })] as const];
  }),
);

it.each([1, 256, 700, 4_096])(
  'selects %i as if all of the catalogue had been read, and reads what it takes',
  async (limit) => {
    let read = 0;
    const ports = {
      outputs: { heads: async () => HEADS },
      threads: {
        getMany: async (_: string, ids: readonly string[]) => {
          read += ids.length;
          return new Map(
            ids.flatMap((id) =>
              [[id, THREADS.get(id)] as const].flatMap(([key, thread]) => (thread ? [[key, thread] as const] : [])),
            ),
          );
        },
      },
    };
    const rules = { now: NOW, limit, maxUnusedDays: 30 };
    const { selected } = await selectRanked(ports, 'u', rules);
    expect(selected).toEqual(selectInputs(HEADS, THREADS, rules));
    expect(selected.length).toBeGreaterThan(0);
    if (limit === 1) expect(read).toBe(500);
  },
);
