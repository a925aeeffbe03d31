import { answerStageOne } from '../../../local/offline/stage-one.ts';
import type { TestInput } from './consolidation-run.ts';
import { human, ran, stageOneMessage, type TestRow } from './evidence-rows.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-10-01T08:00:00Z');

interface Spec {
  /** Tells sessions apart, and orders them: one day each. */
  readonly day: number;
  readonly project?: string;
  readonly request?: string;
  readonly says?: readonly string[];
  readonly rows?: readonly TestRow[];
}

/** What Phase 1 makes of a small session, as an input of Phase 2. */
export function session(spec: Spec): TestInput {
  const { day, project = 'example.org/quayside/app', request = `Change number ${day} of the list.` } = spec;
  const cwd = `/src/${project.split('/').at(-1)}`;
  const rows = [human(request), ...(spec.says ?? []).map(human), ...(spec.rows ?? ran('make check', 0))];
  const answer = answerStageOne(stageOneMessage(rows, cwd));
  return {
    threadId: `019b0000-0000-7000-8000-${String(day).padStart(12, '0')}`,
    sourceUpdatedAt: START_MS + day * DAY_MS,
    rawMemory: answer.raw_memory,
    rolloutSummary: answer.rollout_summary,
    slug: answer.rollout_slug,
    cwd,
    rolloutPath: `/r/rollout-${day}.jsonl`,
    gitBranch: 'main',
    project,
  };
}

/** In the order that a selection has. */
export function inOrder(...inputs: readonly TestInput[]): readonly TestInput[] {
  return inputs.toSorted((a, b) => (a.threadId < b.threadId ? -1 : 1));
}
