import type { Settings } from '../settings.ts';

/** What a user set. */
export interface SettingsStore {
  /**
   * The user's settings; the defaults where nothing was set.
   * @throws DefectError `settings.unreadable` when what is stored is no settings
   */
  read(userKey: string): Promise<Settings>;

  /** Stores all of a user's settings, in one change. */
  write(userKey: string, settings: Settings): Promise<void>;
}
