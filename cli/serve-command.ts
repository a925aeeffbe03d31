import type { Command } from 'commander';
import { serve } from '../local/serve.ts';
import type { CommandContext } from './context.ts';
import { parseWhole } from './options.ts';

/** `serve`: the API on loopback until it is told to stop. */
export function addServeCommand(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .description('the HTTP API on loopback; stop it with Ctrl-C')
    .option('--port <n>', 'port; 0 = any free one', parseWhole(0, 65_535), 8787)
    .option('--token <token>', 'demand this bearer token of every request')
    .action((options: { port: number; token?: string }) =>
      context.withHome(
        async (home, out) => {
          const server = await serve(home, { port: options.port, token: options.token ?? null });
          out.note(`stillroom listens on ${server.url} (home ${home.folder})`);
          await new Promise<void>((resolve) => {
            process.once('SIGINT', () => resolve());
            process.once('SIGTERM', () => resolve());
          });
          await server.close();
        },
        { create: true },
      ),
    );
}
