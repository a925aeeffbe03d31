/** A command as every AWS client sends it. */
export interface Command {
  readonly input: Readonly<Record<string, unknown>>;
  readonly constructor: { readonly name: string };
}

/**
 * The same client with something in front of `send`.
 * @param through is given the command and a way to send it, as often as it likes
 */
export function intercept<Client extends object>(
  client: Client,
  through: (command: Command, send: () => Promise<unknown>) => Promise<unknown>,
): Client {
  return new Proxy(client, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (key !== 'send') return member.bind(target);
      return (command: unknown, ...rest: readonly unknown[]): Promise<unknown> => {
        if (!isCommand(command)) throw new Error('a client was asked to send what is no command');
        return through(command, async () => Reflect.apply(member, target, [command, ...rest]));
      };
    },
  });
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && 'input' in value && typeof value.input === 'object';
}
