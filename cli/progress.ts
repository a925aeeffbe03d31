import { Listr } from 'listr2';
import type { RunObserver, RunPhase } from '../local/run-request.ts';
import type { Console } from './console.ts';

const TITLES: Readonly<Record<RunPhase, string>> = {
  import: 'reading rollouts',
  extract: 'extracting',
  consolidate: 'consolidating',
};

export interface Progress extends RunObserver {
  /** Ends the drawing; may be called twice. */
  close(): void;
}

/** A list that redraws itself on a terminal; elsewhere one plain line when a phase ends. Silent with `--json`. */
export function drawProgress(out: Console): Progress {
  if (out.json) return { progress: () => {}, close: () => {} };
  return out.interactive ? drawList() : drawLines(out);
}

function drawLines(out: Console): Progress {
  return {
    progress: (phase, done, total) => {
      if (total > 0 && done === total) out.note(`${TITLES[phase]}: ${done} of ${total}`);
    },
    close: () => {},
  };
}

function drawList(): Progress {
  const phases: readonly RunPhase[] = ['import', 'extract', 'consolidate'];
  const ends = new Map<RunPhase, () => void>();
  const titles = new Map<RunPhase, (text: string) => void>();
  const finished = new Set<RunPhase>();
  const list = new Listr(
    phases.map((phase) => ({
      title: TITLES[phase],
      task: (_: unknown, task: { title: string }) =>
        new Promise<void>((resolve) => {
          titles.set(phase, (text) => {
            task.title = text;
          });
          if (finished.has(phase)) resolve();
          else ends.set(phase, resolve);
        }),
    })),
    { concurrent: false, rendererOptions: { collapseSubtasks: false } },
  );
  const drawn = list.run();
  const finish = (phase: RunPhase): void => {
    finished.add(phase);
    ends.get(phase)?.();
  };
  return {
    progress: (phase, done, total) => {
      for (const earlier of phases.slice(0, phases.indexOf(phase))) finish(earlier);
      titles.get(phase)?.(`${TITLES[phase]} ${total > 1 ? `${done} of ${total}` : ''}`.trimEnd());
      if (done === total) finish(phase);
    },
    close: () => {
      for (const phase of phases) finish(phase);
      void drawn;
    },
  };
}
