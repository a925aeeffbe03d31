import type { Home } from '../local/home.ts';
import { openHome } from '../local/home.ts';
import type { Console } from './console.ts';
import type { CommandIo } from './io.ts';

/** What a command gets besides its own arguments. */
export interface CommandContext {
  /** Opens an existing home for one command and closes it whatever happens. */
  withHome(work: (home: Home, out: Console) => Promise<void>, options?: { readonly create: boolean }): Promise<void>;
  /** All of standard input as text. */
  readInput(): Promise<string>;
}

/** @param settings reads `--home` and `--json` when the command runs, not before */
export function createContext(
  settings: () => { readonly home: string; readonly out: Console },
  io: CommandIo,
): CommandContext {
  return {
    withHome: async (work, options = { create: false }) => {
      const { home: folder, out } = settings();
      const home = openHome(folder, options);
      try {
        await work(home, out);
      } finally {
        home.close();
      }
    },
    readInput: io.readInput,
  };
}
