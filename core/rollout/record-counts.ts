import type { RolloutCounts, RolloutDamage } from './rollout.ts';

const MAX_KINDS = 400;
const SHOWN_KINDS = 8;
const PLAIN_KIND = /^[A-Za-z0-9_.:/ -]{1,80}$/;

interface Tally {
  seen: number;
  dropped: number;
}

/** Counts records by kind. Names of kinds come from the rollout: odd ones are counted together, and there is a limit. */
export class RecordCounts {
  readonly #kinds = new Map<string, Map<string, Tally>>();
  #kindCount = 0;
  #records = 0;
  #broken = 0;
  #tornTail = false;
  #prose = 0;

  add(type: string, payloadType: string | undefined, dropped: boolean): void {
    this.#records++;
    const tally = this.#tally(type, payloadType ?? '');
    tally.seen++;
    if (dropped) tally.dropped++;
  }

  /** A line that is no JSON object. The last one, without its line end, was cut by its writer. */
  addBroken(line: string, isLast: boolean): void {
    if (isLast) this.#tornTail = true;
    else if (line.startsWith('{') || line.startsWith('[')) this.#broken++;
    else this.#prose++;
  }

  /** A document was cut by its writer. */
  addTornTail(): void {
    this.#tornTail = true;
  }

  /** @param ignoresProse lines that do not even begin like JSON are no broken records */
  finish(rest: Pick<RolloutCounts, 'bytes' | 'oversized' | 'redactions'>, ignoresProse = false): RolloutCounts {
    const seen = new Map<string, number>();
    const dropped = new Map<string, number>();
    for (const [type, tallies] of this.#kinds) {
      for (const [payloadType, tally] of tallies) {
        const kind = nameOf(type, payloadType);
        seen.set(kind, (seen.get(kind) ?? 0) + tally.seen);
        if (tally.dropped > 0) dropped.set(kind, (dropped.get(kind) ?? 0) + tally.dropped);
      }
    }
    if (ignoresProse && this.#prose > 0) {
      seen.set(PROSE, this.#prose);
      dropped.set(PROSE, this.#prose);
    }
    return {
      ...rest,
      records: this.#records,
      broken: this.#broken + (ignoresProse ? 0 : this.#prose),
      tornTail: this.#tornTail,
      byKind: Object.fromEntries(seen),
      droppedByKind: Object.fromEntries(dropped),
    };
  }

  /** The most frequent kinds, for a message. */
  describeKinds(): string {
    const { byKind } = this.finish({ bytes: 0, oversized: 0, redactions: {} });
    const kinds = Object.entries(byKind).sort((left, right) => right[1] - left[1]);
    const shown = kinds.slice(0, SHOWN_KINDS).map(([kind, count]) => `${kind} ${count}`);
    return shown.length === 0 ? 'no records' : `no known record kind among: ${shown.join(', ')}`;
  }

  #tally(type: string, payloadType: string): Tally {
    let tallies = this.#kinds.get(type);
    let tally = tallies?.get(payloadType);
    if (tally) return tally;
    if (this.#kindCount >= MAX_KINDS && type !== OTHER) return this.#tally(OTHER, '');
    this.#kindCount++;
    tally = { seen: 0, dropped: 0 };
    tallies ??= new Map();
    tallies.set(payloadType, tally);
    this.#kinds.set(type, tallies);
    return tally;
  }
}

/** The counts that are kept with the thread. */
export function damageOf({ broken, oversized, tornTail, redactions }: RolloutDamage): RolloutDamage {
  return { broken, oversized, tornTail, redactions };
}

export function isSameDamage(left: RolloutDamage, right: RolloutDamage): boolean {
  const kinds = Object.entries(left.redactions);
  return (
    left.broken === right.broken &&
    left.oversized === right.oversized &&
    left.tornTail === right.tornTail &&
    kinds.length === Object.keys(right.redactions).length &&
    kinds.every(([kind, count]) => right.redactions[kind] === count)
  );
}

const OTHER = '(other)';
const PROSE = '(prose)';

function nameOf(type: string, payloadType: string): string {
  const kind = payloadType === '' ? type : `${type}/${payloadType}`;
  if (kind === '') return '(no type)';
  return kind === OTHER || PLAIN_KIND.test(kind) ? kind : OTHER;
}
