import { type Command, Option } from 'commander';
import { readEnv } from '../local/env.ts';
import { defaultModel, type ModelChoice, startModel } from '../local/model.ts';
import { run } from '../local/run.ts';
import { findRunFault, reportRun } from '../local/run-report.ts';
import { type Console, printResult } from './console.ts';
import type { CommandContext } from './context.ts';
import { parseDuration, parsePath, parseWhole } from './options.ts';
import { drawProgress } from './progress.ts';
import { formatReport } from './run-text.ts';

interface RunOptions {
  readonly model?: ModelChoice;
  readonly since?: number;
  readonly max: number;
  readonly includeActive: boolean;
}

/** `run`: the main job. */
export function addRunCommand(
  program: Command,
  context: CommandContext,
  settings: () => { readonly out: Console },
): void {
  program
    .command('run')
    .description('import rollouts, extract, consolidate, print the summary')
    .argument(
      '[path...]',
      'files or folders; without any, the sessions of Codex and Claude Code in their own folders',
      (path: string, paths: readonly string[] | undefined) => [...(paths ?? []), parsePath(path)],
    )
    .addOption(
      new Option('--model <name>', 'offline: rules, no key and no network; openai: the Responses API').choices([
        'offline',
        'openai',
      ]),
    )
    .option('--since <age>', 'only sessions younger than this, such as 30d or 12h', parseDuration)
    .option('--max <n>', 'at most so many sessions are extracted, newest first', parseWhole(0, 100_000), 200)
    .option('--include-active', 'take sessions too that may still be going on', false)
    .action((paths: readonly string[] | undefined, options: RunOptions) =>
      context.withHome(
        async (home, out) => {
          const env = readEnv();
          const model = await startModel(options.model ?? defaultModel(env), env);
          const progress = drawProgress(settings().out);
          try {
            const request = {
              paths: paths ?? [],
              sinceMs: options.since ?? null,
              max: options.max,
              includeActive: options.includeActive,
            };
            const result = await run(home, model, request, { env, observer: progress });
            progress.close();
            const report = await reportRun(home, model, result);
            printResult(out, report, () => formatReport(report));
            const fault = findRunFault(result);
            if (fault !== null) context.fault(out, fault);
          } finally {
            progress.close();
            await model.close();
          }
        },
        { create: true },
      ),
    );
}
