import { InvalidInputError } from '../core/errors.ts';

/** What the command line reads from and writes to; a test puts its own in the place of the process's. */
export interface CommandIo {
  /** True when faults and progress go to a terminal. */
  readonly interactive: boolean;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input as text, at most 8 MB. */
  readInput(): Promise<string>;
}

/** Who reads the output may stop reading (`stillroom threads | head`): no fault, and no reason to break off the work. */
export function allowClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(ignoreClosedPipe)) stream.on('error', ignoreClosedPipe);
  }
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

export const processIo: CommandIo = {
  interactive: process.stderr.isTTY === true,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  readInput: () => readWhole(process.stdin),
};

/** More than any answer of an assistant; above it somebody piped the wrong file. */
const MAX_INPUT_BYTES = 8 * 1_048_576;

/** All of a stream as text. @throws InvalidInputError `cli.input_too_large`, before more is kept in memory */
export async function readWhole(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > MAX_INPUT_BYTES) {
      throw new InvalidInputError(
        'cli.input_too_large',
        `standard input must hold at most ${MAX_INPUT_BYTES} bytes: the text of one answer`,
        { details: { limit: MAX_INPUT_BYTES } },
      );
    }
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
