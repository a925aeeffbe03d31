/** What befalls one call of a run. */
export const FAULTS = ['fails', 'hangs', 'lost', 'repeated', 'dies before', 'dies after'] as const;

/**
 * - `fails`: refused, and refused again when the SDK repeats it; nothing is applied;
 * - `hangs`: no answer within the time limits of both tries; nothing is applied;
 * - `lost`: applied by both tries, both replies lost;
 * - `repeated`: applied, the reply lost, and the SDK's second try answered by what is stored then;
 * - `dies before`, `dies after`: the function is gone at this call, before or after it was applied. Nothing answers it any more.
 */
export type Fault = (typeof FAULTS)[number];

/** One run of a function's code: dead, it hears nothing any more. */
export class Process {
  readonly #death = Promise.withResolvers<'died'>();
  readonly #break = Promise.withResolvers<undefined>();
  readonly died = this.#death.promise;
  /** A call that was part of another one will never be answered: nor will the other one. */
  readonly broken = this.#break.promise;
  #alive = true;

  get alive(): boolean {
    return this.#alive;
  }

  kill(): void {
    this.#alive = false;
    this.#death.resolve('died');
  }

  /** For the caller of a dead process: what never comes. */
  silence(isPart: boolean): Promise<never> {
    if (isPart) this.#break.resolve(undefined);
    return new Promise(() => {});
  }
}

/** A call on its way to a service. */
export interface Call<T> {
  /** Of the path: function, operation, and on what; equal for all calls of a kind. */
  readonly name: string;
  /** False where the call changes nothing, so that there is no reply that matters. */
  readonly writes: boolean;
  /** Whether its client tries twice by itself. */
  readonly repeats: boolean;
  /** Whether another call of the path waits for it: a look-up of the model's key within a model call. */
  readonly isPart?: boolean;
  /** Applies it. May be done twice. */
  readonly apply: () => Promise<T>;
  /** How the client ends when the service refused it: answers or throws. */
  readonly refused: () => T;
  /** How the client ends when no answer came in time, ms later. */
  readonly silent: () => T;
  readonly timeoutMs: number;
}

/** The call that a fault meets: the n-th of its name, from 0. */
export interface FaultPlan {
  readonly name: string;
  readonly number: number;
  readonly fault: Fault;
}

/** A call that was made, as the clean run numbers it. */
export interface NumberedCall {
  readonly name: string;
  readonly number: number;
  readonly writes: boolean;
  readonly repeats: boolean;
}

/** The one place where calls of the path meet their faults. Every client of every function sends through it. */
export class FaultPoint {
  /** All calls since the start, in order. */
  readonly calls: NumberedCall[] = [];
  readonly #plan: FaultPlan | undefined;
  readonly #counts = new Map<string, number>();
  readonly #open = new Set<Promise<unknown>>();
  readonly #passTime: (ms: number) => void;
  #met = false;
  #ended = false;

  /** @param passTime moves the clock by the ms that a client waits in vain */
  constructor(plan: FaultPlan | undefined, passTime: (ms: number) => void) {
    this.#plan = plan;
    this.#passTime = passTime;
  }

  /** Whether the planned fault has met its call. */
  get met(): boolean {
    return this.#met;
  }

  /** The path is over: calls are neither numbered nor broken from now on. */
  end(): void {
    this.#ended = true;
  }

  /** Waits until everything that was sent has been applied, also what a dead process sent. */
  async settle(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  /** @param meet told when the fault meets this call */
  async send<T>(process: Process, call: Call<T>, meet: () => void): Promise<T> {
    const silence = (): Promise<never> => process.silence(call.isPart === true);
    const hear = (work: () => Promise<T>): Promise<T> => hearAlive(process, work, silence);
    if (!process.alive) return silence();
    const fault = this.#next(call);
    if (fault !== undefined) meet();
    switch (fault) {
      case undefined:
        return hear(() => this.#apply(process, call));
      case 'fails':
        return hear(async () => call.refused());
      case 'hangs':
        return hear(async () => this.#timeOut(call));
      case 'lost':
        await this.#applyUnheard(process, call);
        if (call.repeats) await this.#applyUnheard(process, call);
        return hear(async () => this.#timeOut(call));
      case 'repeated':
        await this.#applyUnheard(process, call);
        return hear(() => this.#apply(process, call));
      case 'dies before':
        process.kill();
        return silence();
      case 'dies after':
        await this.#applyUnheard(process, call);
        process.kill();
        return silence();
    }
  }

  #next<T>({ name, writes, repeats }: Call<T>): Fault | undefined {
    if (this.#ended) return undefined;
    const number = this.#counts.get(name) ?? 0;
    this.#counts.set(name, number + 1);
    this.calls.push({ name, number, writes, repeats });
    if (this.#met || this.#plan?.name !== name || this.#plan.number !== number) return undefined;
    this.#met = true;
    return this.#plan.fault;
  }

  #timeOut<T>(call: Call<T>): T {
    this.#passTime(call.timeoutMs);
    return call.silent();
  }

  #apply<T>(process: Process, call: Call<T>): Promise<T> {
    const sent = call.apply();
    const ended = Promise.race([sent.catch(() => undefined), process.broken]);
    const open = ended.finally(() => this.#open.delete(open));
    this.#open.add(open);
    return sent;
  }

  /** A refusal is a reply that can get lost, too. */
  async #applyUnheard<T>(process: Process, call: Call<T>): Promise<void> {
    await this.#apply(process, call).catch(() => undefined);
  }
}

/** What comes back reaches a living process only. */
async function hearAlive<T>(process: Process, work: () => Promise<T>, silence: () => Promise<never>): Promise<T> {
  try {
    const answer = await work();
    if (process.alive) return answer;
  } catch (error) {
    if (process.alive) throw error;
  }
  return silence();
}
