/**
 * Writes rollouts of the Codex envelope format for tests: one record a line, each a second after the former.
 *
 *     codexRollout({ cwd: '/work/app' }).user('add a test').call('exec_command', { cmd: 'npm test' }, 'ok').assistant('done').toBytes()
 */
export interface RolloutOptions {
  readonly id?: string;
  /** Time of the first record, ms. */
  readonly startAt?: number;
  readonly cwd?: string;
  readonly cliVersion?: string;
  readonly originator?: string;
  readonly source?: unknown;
  readonly git?: { readonly repository_url?: string; readonly branch?: string; readonly commit_hash?: string } | null;
  /** Further fields of the first record's payload. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Leave the first record out. */
  readonly headless?: boolean;
}

const DEFAULT_ID = '019c0000-0000-7000-8000-000000000001';
const DEFAULT_START = Date.UTC(2026, 0, 2, 3, 4, 5);

export class RolloutBuilder {
  readonly #lines: string[] = [];
  readonly #startAt: number;
  #calls = 0;

  constructor(options: RolloutOptions) {
    this.#startAt = options.startAt ?? DEFAULT_START;
    if (options.headless === true) return;
    const git =
      options.git === undefined ? { branch: 'main', repository_url: 'git@example.com:dev/app.git' } : options.git;
    this.record('session_meta', {
      id: options.id ?? DEFAULT_ID,
      timestamp: this.#time(),
      cwd: options.cwd ?? '/work/app',
      originator: options.originator ?? 'codex_cli_rs',
      cli_version: options.cliVersion ?? '0.146.0',
      source: options.source ?? 'cli',
      ...(git === null ? {} : { git }),
      ...options.meta,
    });
  }

  /** Any record. */
  record(type: string, payload: unknown): this {
    return this.line(JSON.stringify({ timestamp: this.#time(), type, payload }));
  }

  /** Any line, as it is. */
  line(text: string): this {
    this.#lines.push(text);
    return this;
  }

  item(item: Readonly<Record<string, unknown>>): this {
    return this.record('response_item', item);
  }

  event(event: Readonly<Record<string, unknown>>): this {
    return this.record('event_msg', event);
  }

  user(...texts: readonly string[]): this {
    return this.item({ type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) });
  }

  /** What the harness tells the model at the start of a turn. */
  environment(cwd = '/work/app'): this {
    return this.user(`<environment_context>\n  <cwd>${cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>`);
  }

  assistant(text: string, phase?: 'commentary' | 'final_answer'): this {
    const content = [{ type: 'output_text', text }];
    return this.item({ type: 'message', role: 'assistant', content, ...(phase === undefined ? {} : { phase }) });
  }

  /** A function call; with its output, where one is given. */
  call(name: string, args: unknown, output?: unknown): this {
    const call_id = `call_${++this.#calls}`;
    this.item({ type: 'function_call', name, arguments: JSON.stringify(args), call_id });
    return output === undefined ? this : this.item({ type: 'function_call_output', call_id, output });
  }

  toText(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(this.toText());
  }

  #time(): string {
    return new Date(this.#startAt + this.#lines.length * 1_000).toISOString();
  }
}

export function codexRollout(options: RolloutOptions = {}): RolloutBuilder {
  return new RolloutBuilder(options);
}

/** The bytes as a stream of chunks of the given size. */
export async function* toChunks(bytes: Uint8Array, chunkBytes = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
