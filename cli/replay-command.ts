import { type Command, InvalidArgumentError } from 'commander';
import type { Replay } from '../core/replay/replay-version.ts';
import { readEnv } from '../local/env.ts';
import { replayLocal, type ShadowReport, shadowLocal } from '../local/replay.ts';
import { type Console, printable, printResult } from './console.ts';
import type { CommandContext } from './context.ts';
import { EXIT_CODES } from './exit-code.ts';
import { parsePath, parseWhole } from './options.ts';

/** Ends of a run that another day, or another minute, may change. */
const PASSING = /^(budget\.|model\.(rate_limited|unavailable|misconfigured)$)/;

/** `replay`: a version once more, from what is kept of its run. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  program
    .command('replay')
    .description(
      'make a version again from its kept inputs and answers, without a model, and say whether it is the same',
    )
    .argument('<version>', 'a version that a consolidation made in the last 30 days', parseWhole(0, 999_999_999))
    .option(
      '--model <name>',
      'ask this model instead: offline, openai, or a name; shows the difference, publishes nothing',
      parseModel,
    )
    .option('--prompt <file>', 'with this text in the place of the consolidation prompt; publishes nothing', parsePath)
    .action((version: number, options: { model?: string; prompt?: string }) => {
      const { model = null, prompt = null } = options;
      if (model === null && prompt === null) {
        return context.lookAtHome(async (home, out) => {
          const replay = await replayLocal(home, version);
          printResult(out, replay, () => replayText(replay));
          if (!replay.equal)
            context.fault(out, `version ${version} comes out otherwise than it was made`, EXIT_CODES.conflict);
        });
      }
      return context.withHome(async (home, out) => {
        const shadow = await shadowLocal(home, readEnv(), { version, model, promptFile: prompt });
        printResult(out, shadow, () => printable(shadowText(shadow)));
        tellShadow(context, out, shadow);
      });
    });
}

function replayText({ version, equal, difference, files, answers, model }: Replay): string {
  if (equal)
    return `version ${version} made again: equal, byte for byte (${files} files, ${answers} answers of ${model}, no model call)`;
  const line = (mark: string, text: string | null): string =>
    `${mark} ${text === null ? '(nothing)' : printable(text)}`;
  switch (difference?.kind) {
    case 'file':
      return [
        `${printable(difference.path)}, line ${difference.line}:`,
        line('-', difference.kept),
        line('+', difference.replayed),
      ].join('\n');
    case 'manifest':
      return `the files are equal; the manifest differs in ${difference.field}`;
    case 'step':
      return `the replay asked for ${difference.asked}, the run went on with ${difference.kept ?? 'its end'}`;
    default:
      return `the replay ended before its run did: ${difference?.code} (${difference?.detail})`;
  }
}

function shadowText({ diff, reason }: ShadowReport): string {
  if (diff === null) return `nothing to compare: ${reason?.code} (${reason?.detail})`;
  return diff === '' ? 'no difference' : diff.trimEnd();
}

function tellShadow(context: CommandContext, out: Console, shadow: ShadowReport): void {
  const { version, model, original, reason } = shadow;
  const cost = (run: Pick<ShadowReport, 'turns' | 'token_usage'>) =>
    `${run.turns} turns, ${run.token_usage.total_tokens} tokens`;
  out.note(
    `${model}: ${cost(shadow)}; version ${version} (${original.model}): ${cost(original)}; nothing was published`,
  );
  if (reason === null) return;
  const exitCode = PASSING.test(reason.code) ? EXIT_CODES.unavailable : EXIT_CODES.conflict;
  context.fault(out, `the shadow run made no version: ${reason.code} (${reason.detail})`, exitCode);
}

function parseModel(text: string): string {
  const name = text.trim();
  if (/^[\x21-\x7e]{1,200}$/.test(name)) return name;
  throw new InvalidArgumentError('give offline, openai, or the name of a model: 1 to 200 characters without spaces.');
}
