import type { SettingsStore } from '../../core/ports/settings-store.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../core/settings.ts';

/** Settings held in memory. */
export class MemorySettingsStore implements SettingsStore {
  readonly #settings = new Map<string, Settings>();

  async read(userKey: string): Promise<Settings> {
    return this.#settings.get(userKey) ?? DEFAULT_SETTINGS;
  }

  async write(userKey: string, settings: Settings): Promise<void> {
    this.#settings.set(userKey, structuredClone(settings));
  }
}
