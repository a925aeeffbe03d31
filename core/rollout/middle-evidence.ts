import { charBoundaryAfter, charBoundaryBefore, decodeUtf8, encodeUtf8 } from '../text.ts';
import { type EvidenceCollector, type PendingItem, stepOfItem } from './evidence-collector.ts';
import { RecallGuard } from './recall-guard.ts';
import { redactCounted } from './redact.ts';

const BYTES_PER_TOKEN = 4;

/**
 * The old way: one JSON array of all kept items in order, redacted, its middle cut out (behaviours S-01, M-05). Holds the
 * start, and as much of the end as can be part of the result.
 */
export class MiddleEvidence implements EvidenceCollector {
  readonly #budgetBytes: number;
  readonly #head: Uint8Array[] = [];
  readonly #tail: Uint8Array[] = [];
  readonly #redactions: Record<string, number> = {};
  readonly #recalls = new RecallGuard();
  #headBytes = 0;
  #tailBytes = 0;
  #totalBytes = 0;
  #items = 0;

  constructor(maxTokens: number) {
    this.#budgetBytes = BYTES_PER_TOKEN * Math.max(0, maxTokens);
  }

  add(item: PendingItem): void {
    const step = item.tier === 'tool' ? stepOfItem(item) : undefined;
    const standIn = step && this.#recalls.standIn(step);
    const json = standIn ?? ('bytes' in item ? item.unpack(item.bytes) : item.toJson());
    if (json === undefined) return;
    const { text, found } = redactCounted(json);
    for (const [kind, count] of Object.entries(found)) this.#redactions[kind] = (this.#redactions[kind] ?? 0) + count;
    this.#append(`${this.#items++ === 0 ? '[' : ','}${text}`);
  }

  finish(): ReturnType<EvidenceCollector['finish']> {
    this.#append(this.#items === 0 ? '[]' : ']');
    const head = join(this.#head);
    const whole = this.#headBytes + this.#tailBytes === this.#totalBytes;
    const tail = whole ? join([...this.#head, ...this.#tail]) : join(this.#tail);
    const redactions = this.#redactions;
    if (this.#totalBytes <= this.#budgetBytes) return { evidence: decodeUtf8(tail), redactions, shares: null };
    const headBudget = Math.floor(this.#budgetBytes / 2);
    const left = decodeUtf8(head.subarray(0, charBoundaryBefore(head, headBudget)));
    const tailFrom = charBoundaryAfter(tail, tail.length - (this.#budgetBytes - headBudget));
    const tokens = Math.ceil((this.#totalBytes - this.#budgetBytes) / BYTES_PER_TOKEN);
    return {
      evidence: `${left}…${tokens} tokens truncated…${decodeUtf8(tail.subarray(tailFrom))}`,
      redactions,
      shares: null,
    };
  }

  /** Fills the head to the budget first; the tail then holds at least the budget's last bytes. */
  #append(text: string): void {
    const bytes = encodeUtf8(text);
    this.#totalBytes += bytes.length;
    if (this.#tail.length === 0 && this.#headBytes < this.#budgetBytes) {
      this.#head.push(bytes);
      this.#headBytes += bytes.length;
      return;
    }
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    for (
      let oldest = this.#tail[0];
      oldest && this.#tailBytes - oldest.length >= this.#budgetBytes;
      oldest = this.#tail[0]
    ) {
      this.#tail.shift();
      this.#tailBytes -= oldest.length;
    }
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
