import { DefectError } from '../../core/errors.ts';
import { parseSettings, settingsToJson } from '../../core/parse-settings.ts';
import type { SettingsStore } from '../../core/ports/settings-store.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../core/settings.ts';
import type { Database } from './database.ts';

/** Settings in SQLite, under their wire names. */
export class SqliteSettingsStore implements SettingsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(userKey: string): Promise<Settings> {
    return this.readNow(userKey);
  }

  /** As `read`, for a program that opens: nothing here waits. */
  readNow(userKey: string): Settings {
    const row = this.#database.one('settings', 'SELECT content FROM settings WHERE user_key = ?', userKey);
    if (row === undefined) return DEFAULT_SETTINGS;
    try {
      return parseSettings(JSON.parse(row.text('content')));
    } catch {
      // without a cause: it would quote the text
      throw new DefectError('settings.unreadable', 'the stored settings cannot be read');
    }
  }

  async write(userKey: string, settings: Settings): Promise<void> {
    const content = JSON.stringify(settingsToJson(settings));
    const sql = 'INSERT OR REPLACE INTO settings (user_key, content) VALUES (?, ?)';
    this.#database.change(() => this.#database.run(sql, userKey, content));
  }
}
