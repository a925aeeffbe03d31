import { DefectError } from '../../core/errors.ts';

/**
 * One row as SQLite gave it, read column by column. A value of another type than the schema promises means a damaged
 * database.
 * @throws DefectError `home.row_unreadable` from every reader
 */
export class Row {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #table: string;

  constructor(values: Readonly<Record<string, unknown>>, table: string) {
    this.#values = values;
    this.#table = table;
  }

  text(column: string): string {
    return this.textOrNull(column) ?? this.#fail(column);
  }

  textOrNull(column: string): string | null {
    const value = this.#values[column];
    return value === null || typeof value === 'string' ? value : this.#fail(column);
  }

  integer(column: string): number {
    return this.integerOrNull(column) ?? this.#fail(column);
  }

  integerOrNull(column: string): number | null {
    const value = this.#values[column];
    return value === null || (typeof value === 'number' && Number.isSafeInteger(value)) ? value : this.#fail(column);
  }

  flag(column: string): boolean {
    const value = this.#values[column];
    return value === 0 || value === 1 ? value === 1 : this.#fail(column);
  }

  bytes(column: string): Uint8Array {
    const value = this.#values[column];
    return value instanceof Uint8Array ? value : this.#fail(column);
  }

  oneOf<T extends string>(column: string, allowed: readonly T[]): T {
    const value = this.#values[column];
    return allowed.find((item) => item === value) ?? this.#fail(column);
  }

  #fail(column: string): never {
    throw new DefectError('home.row_unreadable', `the database holds an unreadable value in ${this.#table}.${column}`, {
      details: { table: this.#table, column },
    });
  }
}
