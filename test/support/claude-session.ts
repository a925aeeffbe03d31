type Line = Readonly<Record<string, unknown>>;

const START = Date.UTC(2026, 0, 2, 3, 4, 5);

/**
 * Writes Claude Code sessions for tests: one record a line, each the child of the one before it, a second later.
 *
 *     new ClaudeSession().user('fix it').call('Bash', 't1', 'ok').assistant('done').toBytes()
 */
export class ClaudeSession {
  readonly #lines: string[] = [];
  #parent: string | null = null;
  #count = 0;

  /** The uuid of the last record; null at the start. */
  get last(): string | null {
    return this.#parent;
  }

  /** The next record is a child of this one. */
  goBackTo(uuid: string | null): this {
    this.#parent = uuid;
    return this;
  }

  user(content: unknown, extra: object = {}): this {
    return this.record('user', { message: { role: 'user', content }, ...extra });
  }

  assistant(text: string, extra: object = {}): this {
    return this.record('assistant', { message: { role: 'assistant', content: [{ type: 'text', text }] }, ...extra });
  }

  callOnly(name: string, id: string, input: unknown = {}): this {
    const message = { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] };
    return this.record('assistant', { message });
  }

  result(id: string, content: unknown): this {
    return this.user([{ type: 'tool_result', tool_use_id: id, content }]);
  }

  call(name: string, id: string, output: unknown): this {
    return this.callOnly(name, id).result(id, output);
  }

  record(type: string, extra: object): this {
    const uuid = `00000000-0000-4000-8000-${String(++this.#count).padStart(12, '0')}`;
    const record: Line = {
      parentUuid: this.#parent,
      isSidechain: false,
      cwd: '/work/app',
      sessionId: 'session-1',
      version: '2.1.7',
      gitBranch: 'main',
      type,
      uuid,
      timestamp: new Date(START + this.#count * 1_000).toISOString(),
      ...extra,
    };
    this.#lines.push(JSON.stringify(record));
    this.#parent = uuid;
    return this;
  }

  /** The last line once more. */
  repeat(): this {
    this.#lines.push(this.#lines.at(-1) ?? '');
    return this;
  }

  toText(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(this.toText());
  }
}
