import { Command, CommanderError, Option } from 'commander';
import type { Console } from './console.ts';
import { addConsolidateCommand } from './consolidate-command.ts';
import { createContext } from './context.ts';
import { describeFailure } from './exit-code.ts';
import { addExtensionCommand } from './extension-command.ts';
import { addInspectCommand } from './inspect-command.ts';
import { allowClosedPipes, type CommandIo, processIo } from './io.ts';
import { addActCommands, addLookCommands, addRedriveCommand } from './look-commands.ts';
import { parsePath } from './options.ts';
import { addReplayCommand } from './replay-command.ts';
import { addRunCommand } from './run-command.ts';
import { addServeCommand } from './serve-command.ts';

const USAGE_EXIT_CODE = 2;

/**
 * The command line (api.md). Results go to stdout, progress and faults to stderr.
 * @param words arguments without the program's name
 * @param io where it reads and writes
 * @returns the exit code (architecture.md, "Errors")
 */
export async function main(words: readonly string[], io: CommandIo = processIo): Promise<number> {
  if (io === processIo) allowClosedPipes();
  const program = new Command('stillroom')
    .description('Long-term memory for coding agents: session transcripts in, a short cited memory out.')
    .option('--home <dir>', 'where the memory is kept', parsePath, './.stillroom')
    .addOption(new Option('--json', 'machine-readable result on stdout').default(false))
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(stillroom --help lists the commands)')
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  const settings = (): { home: string; out: Console } => {
    const options = program.opts<{ home: string; json: boolean }>();
    return { home: options.home, out: createConsole(options.json, io) };
  };
  const context = createContext(settings, io);
  addRunCommand(program, context, settings);
  addServeCommand(program, context);
  addLookCommands(program, context);
  addInspectCommand(program, () => settings().out);
  addActCommands(program, context);
  addRedriveCommand(program, context);
  addConsolidateCommand(program, context);
  addExtensionCommand(program, context);
  addReplayCommand(program, context);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return context.exitCode();
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    return reportFailure(error, settings().out);
  }
}

function reportFailure(error: unknown, out: Console): number {
  const failure = describeFailure(error);
  if (out.json) out.out(JSON.stringify({ error: { code: failure.code, message: failure.message } }, null, 2));
  out.note(`stillroom: ${failure.message}`);
  return failure.exitCode;
}

function createConsole(json: boolean, io: CommandIo): Console {
  return {
    json,
    interactive: io.interactive && !json,
    out: (text) => io.out(`${text}\n`),
    note: (text) => io.err(`${text}\n`),
  };
}
