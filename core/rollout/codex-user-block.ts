import type { KnownMessage } from './codex-message.ts';

/** A person says few things before an answer, a hostile file millions. */
const MAX_ENTRIES = 256;
const MAX_UNITS = 4_194_304;

interface Entry {
  message: KnownMessage;
  /** A record of its own says that a person sent it. */
  confirmed: boolean;
  /** It has come as an item; else as an event only. */
  isItem: boolean;
}

/**
 * The messages in the user's role between two answers of the assistant. Codex writes a person's turn up to three times (as
 * an item, as `user_message`, as a completed item), in any order; it is told of once. Other texts in the user's role come as
 * items only: where the records say which item a person sent, the ones beside it are the harness's, whatever their tags are.
 */
export class UserBlock {
  #entries: Entry[] = [];
  /** Texts of `user_message` events whose item has not come yet. */
  #sent: string[] = [];

  #units = 0;

  /** Then it must be settled before more is added. */
  get isFull(): boolean {
    return this.#entries.length >= MAX_ENTRIES || this.#units > MAX_UNITS;
  }

  addItem(message: KnownMessage): void {
    const repeated = this.#entries.find(
      (entry) => !entry.isItem && isSameText(sentText(entry.message), sentText(message)),
    );
    if (message.tier === 'human' && repeated) {
      repeated.message = message;
      repeated.isItem = true;
      return;
    }
    this.#units += message.text.length;
    const at = message.tier === 'human' ? this.#sent.findIndex((text) => isSameText(text, sentText(message))) : -1;
    if (at >= 0) this.#sent.splice(at, 1);
    this.#entries.push({ message, confirmed: at >= 0, isItem: true });
  }

  /** A turn as a completed item. @returns false when it was known */
  addEvent(message: KnownMessage): boolean {
    const same = this.#entries.filter(
      (entry) => isPersons(entry) && isSameText(sentText(entry.message), sentText(message)),
    );
    const open = same.find((entry) => !entry.confirmed) ?? same[0];
    if (open) open.confirmed = true;
    else {
      this.#units += message.text.length;
      this.#entries.push({ message, confirmed: true, isItem: false });
    }
    return open === undefined;
  }

  /** A `user_message` event: it says who sent an item, and is never told of itself. */
  confirm(text: string): void {
    const entry = this.#entries.find(
      (each) => isPersons(each) && !each.confirmed && isSameText(sentText(each.message), text),
    );
    if (entry) entry.confirmed = true;
    else if (text.trim() !== '' && !this.isFull) {
      this.#units += text.length;
      this.#sent.push(text);
    }
  }

  /** The answer begins. @returns the messages in order, by who is known to have sent them */
  settle(): readonly KnownMessage[] {
    if (this.#entries.length === 0 && this.#sent.length === 0) return NONE;
    const entries = this.#entries;
    const known = entries.some((entry) => entry.confirmed && entry.isItem);
    this.#entries = [];
    this.#sent = [];
    this.#units = 0;
    return entries.map(({ message, confirmed }) =>
      known && !confirmed && message.tier === 'human' && hasWords(message) ? { ...message, tier: 'context' } : message,
    );
  }
}

const NONE: readonly KnownMessage[] = [];

function sentText({ sent, text }: KnownMessage): string {
  return sent ?? text;
}

function isPersons({ message }: Entry): boolean {
  return message.tier === 'human';
}

function hasWords({ text }: KnownMessage): boolean {
  return text.replaceAll('[image omitted]', '').replaceAll('[audio omitted]', '').trim() !== '';
}

/** The event may hold the whole text where the item holds the request alone, or the other way round. */
function isSameText(left: string, right: string): boolean {
  const [a, b] = [left.trim(), right.trim()];
  return a === b || (a !== '' && b.endsWith(a)) || (b !== '' && a.endsWith(b));
}
