import type { Home } from '../local/home.ts';
import { openHome } from '../local/home.ts';
import type { Console } from './console.ts';
import { EXIT_CODES } from './exit-code.ts';
import type { CommandIo } from './io.ts';

/** What a command gets besides its own arguments. */
export interface CommandContext {
  /** Opens an existing home for one command and closes it whatever happens. */
  withHome(work: (home: Home, out: Console) => Promise<void>, options?: { readonly create: boolean }): Promise<void>;
  /** The same for a command that only looks: the home may lie on a disk that cannot be written. */
  lookAtHome(work: (home: Home, out: Console) => Promise<void>): Promise<void>;
  /**
   * Tells of work that could not be done, although the command itself ran; the exit code says so too.
   * @param code default: that it could not be done now
   */
  fault(out: Console, sentence: string, code?: number): void;
  /** The exit code of a command that threw nothing. */
  exitCode(): number;
  /** All of standard input as text. */
  readInput(): Promise<string>;
}

/** @param settings reads `--home` and `--json` when the command runs, not before */
export function createContext(
  settings: () => { readonly home: string; readonly out: Console },
  io: CommandIo,
): CommandContext {
  let exitCode = 0;
  const open = async (
    work: (home: Home, out: Console) => Promise<void>,
    options: { readonly create: boolean; readonly look?: boolean },
  ): Promise<void> => {
    const { home: folder, out } = settings();
    const home = openHome(folder, options);
    try {
      await work(home, out);
    } finally {
      home.close();
    }
  };
  return {
    fault: (out, sentence, code = EXIT_CODES.unavailable) => {
      exitCode = code;
      out.note(`stillroom: ${sentence}`);
    },
    exitCode: () => exitCode,
    withHome: (work, options = { create: false }) => open(work, options),
    lookAtHome: (work) => open(work, { create: false, look: true }),
    readInput: io.readInput,
  };
}
