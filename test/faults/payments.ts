import type { FaultPlan } from './fault-point.ts';
import { type Provider, TOKENS_PER_ANSWER } from './provider.ts';

const PAID = /^phase[12] model /;
/** An answer is kept: the turn in the table, or the end of the extraction that came of it. */
const KEPT = /^(phase2 PutItem answer|phase1 PutItem stage1 (complete|fail))/;

/** What the provider was paid for, and whether the fault of the run may have cost a call in flight. */
export class Payments {
  readonly #provider: Provider;
  readonly #plan: FaultPlan | undefined;
  /** Functions with an answer that is paid and not yet kept. */
  readonly #inFlight = new Set<string>();
  #mayRepeat = false;

  constructor(provider: Provider, plan: FaultPlan | undefined) {
    this.#provider = provider;
    this.#plan = plan;
  }

  /** The planned fault meets its call now: an answer that was paid and never arrived was in flight. */
  meet(): void {
    if (PAID.test(this.#plan?.name ?? '') && this.#plan?.fault === 'lost') this.#mayRepeat = true;
  }

  /** A call was applied. */
  apply(name: string): void {
    const [functionName = ''] = name.split(' ');
    if (PAID.test(name)) this.#inFlight.add(functionName);
    else if (KEPT.test(name)) this.#inFlight.delete(functionName);
  }

  /** An invocation died. A failure that its code outlives is no excuse for paying again. */
  die(functionName: string): void {
    if (this.#inFlight.delete(functionName)) this.#mayRepeat = true;
  }

  /** Answers given. */
  get answers(): number {
    return [...this.#provider.paid.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Tokens of all answers. */
  get tokens(): number {
    return this.answers * TOKENS_PER_ANSWER;
  }

  /** What was paid for twice beyond the one call that may have been in flight. */
  faults(): readonly string[] {
    const twice = [...this.#provider.paid].filter(([, count]) => count > 1);
    const repeated = twice.reduce((sum, [, count]) => sum + count - 1, 0);
    if (repeated <= (this.#mayRepeat ? 1 : 0)) return [];
    return [
      `paid ${repeated + 1} times: ${twice.map(([subject]) => subject.split(' ').slice(0, 2).join(' ')).join(', ')}`,
    ];
  }
}
