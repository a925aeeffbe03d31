import { type Command, Option } from 'commander';
import type { ConsolidationPlan } from '../core/consolidation/plan-consolidation.ts';
import { toFileTime } from '../core/time.ts';
import { consolidateWorkingCopy, planHome } from '../local/consolidate.ts';
import { readEnv } from '../local/env.ts';
import type { Home } from '../local/home.ts';
import { defaultModel, type ModelChoice, startModel } from '../local/model.ts';
import { consolidationFault, consolidationToWire } from '../local/run-report.ts';
import { type Console, formatTable, printable, printResult } from './console.ts';
import type { CommandContext } from './context.ts';

interface ConsolidateOptions {
  readonly model?: ModelChoice;
  readonly now: boolean;
  readonly dryRun: boolean;
}

/** `consolidate`: Phase 2 by itself. */
export function addConsolidateCommand(program: Command, context: CommandContext): void {
  program
    .command('consolidate')
    .description('work what is new into the memory; by itself not more often than every six hours')
    .option('--now', 'at once, without the cooldown and without waiting after a failure', false)
    .option('--dry-run', 'say what would be taken in and how, ask no model, change nothing', false)
    .addOption(
      new Option('--model <name>', 'offline: rules, no key and no network; openai: the Responses API').choices([
        'offline',
        'openai',
      ]),
    )
    .action((options: ConsolidateOptions) =>
      options.dryRun
        ? context.lookAtHome((home, out) => showPlan(home, out, options))
        : context.withHome((home, out) => consolidateNow(context, home, out, options)),
    );
}

async function showPlan(home: Home, out: Console, options: ConsolidateOptions): Promise<void> {
  const env = readEnv();
  const model = await startModel(options.model ?? defaultModel(env), env);
  try {
    const plan = await planHome(home, model.consolidationModel);
    printResult(out, planToWire(plan), () => planText(plan));
  } finally {
    await model.close();
  }
}

async function consolidateNow(
  context: CommandContext,
  home: Home,
  out: Console,
  options: ConsolidateOptions,
): Promise<void> {
  const env = readEnv();
  const model = await startModel(options.model ?? defaultModel(env), env);
  try {
    const { result, edits } = await consolidateWorkingCopy(home, model, options.now);
    const wire = consolidationToWire(result);
    const retryAt =
      result.kind === 'refused' && result.retryAt !== null ? { retry_at: toFileTime(result.retryAt) } : {};
    printResult(out, { ...wire, ...retryAt, hand_edits: edits }, () => resultText({ ...wire, ...retryAt }));
    if (result.kind === 'failed') context.fault(out, consolidationFault(result));
  } finally {
    await model.close();
  }
}

function resultText({ kind, ...facts }: Readonly<Record<string, unknown>>): string {
  return [
    String(kind),
    ...Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`),
  ].join(', ');
}

function planToWire({ inputs, changedFiles, tokens, ...plan }: ConsolidationPlan) {
  return { ...plan, ...inputs, changed_files: changedFiles, tokens: { to_read: tokens.toRead, most: tokens.most } };
}

const WAYS = { once: 'one model call', loop: 'a loop of tool calls' } as const;

function planText(plan: ConsolidationPlan): string {
  const { inputs, notes, way, tokens } = plan;
  if (way === null) return `nothing to do: version ${plan.version} stands, and no model would be asked`;
  const threads = (ids: readonly string[]): string => (ids.length === 0 ? '0' : `${ids.length}: ${ids.join(', ')}`);
  const rows = [
    ['builds on', `version ${plan.version}`],
    ['added', threads(inputs.added)],
    ['retained', String(inputs.retained.length)],
    ['removed', threads(inputs.removed)],
    ['new notes', notes.length === 0 ? '0' : notes.join(', ')],
    ['changed files', String(plan.changedFiles)],
    ['way', `${WAYS[way]} to ${plan.model}`],
    ['tokens', `about ${tokens.toRead} to read; stopped at ${tokens.most}`],
  ];
  return formatTable(rows.map((row) => row.map(printable)));
}
