import type { EraseMarks } from '../../core/ports/erase-marks.ts';

/** Marks in memory. */
export class MemoryEraseMarks implements EraseMarks {
  readonly kept = new Map<string, number>();

  async read(userKey: string): Promise<number | null> {
    return this.kept.get(userKey) ?? null;
  }

  async write(userKey: string, until: number): Promise<void> {
    this.kept.set(userKey, until);
  }

  async remove(userKey: string): Promise<void> {
    this.kept.delete(userKey);
  }
}
