/** What the command line reads from and writes to; a test puts its own in the place of the process's. */
export interface CommandIo {
  /** True when faults and progress go to a terminal. */
  readonly interactive: boolean;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input as text. */
  readInput(): Promise<string>;
}

export const processIo: CommandIo = {
  interactive: process.stderr.isTTY === true,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  readInput: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString('utf8');
  },
};
