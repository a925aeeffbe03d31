import type { Command } from 'commander';
import { syncExtensionFolder } from '../local/extension.ts';
import { printable, printResult } from './console.ts';
import type { CommandContext } from './context.ts';
import { parsePath } from './options.ts';

/** `extension`: documents of another source that the memory draws on. */
export function addExtensionCommand(program: Command, context: CommandContext): void {
  program
    .command('extension')
    .description('keep a folder of Markdown documents as a source of the memory; run it again after a change')
    .argument('<name>', 'name of the extension')
    .argument('<folder>', 'holds instructions.md, which says how to read the other *.md files in it', parsePath)
    .action((name: string, folder: string) =>
      context.withHome(async (home, out) => {
        const synced = await syncExtensionFolder(home, name, folder);
        printResult(out, synced, () =>
          synced.changed
            ? printable(
                `version ${synced.version}: ${synced.written.length} written, ${synced.removed.length} removed, ${synced.unchanged} unchanged; the next run takes the difference in`,
              )
            : `everything is in place (version ${synced.version})`,
        );
      }),
    );
}
