import { DefectError } from '../../core/errors.ts';
import { parseSettings, settingsToJson } from '../../core/parse-settings.ts';
import type { SettingsStore } from '../../core/ports/settings-store.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../core/settings.ts';
import type { DynamoTable, PutRequest, StoredItem } from './dynamo-table.ts';
import { DynamoFront } from './front.ts';
import { itemKey } from './requests.ts';
import { SORT_KEYS } from './table.ts';

/** Settings in DynamoDB: one item a user, under their wire names. */
export class DynamoSettingsStore implements SettingsStore {
  readonly #table: DynamoTable;
  readonly #front: DynamoFront;

  /** @param front share it with the head's store: a read then asks for both in one request */
  constructor(table: DynamoTable, front: DynamoFront = new DynamoFront(table)) {
    this.#table = table;
    this.#front = front;
  }

  async read(userKey: string): Promise<Settings> {
    return readSettings(await this.#front.get(itemKey(userKey, SORT_KEYS.settings)));
  }

  async write(userKey: string, settings: Settings): Promise<void> {
    await this.#table.put(putSettings(userKey, settings));
  }
}

export function putSettings(userKey: string, settings: Settings): PutRequest {
  return { Item: { ...itemKey(userKey, SORT_KEYS.settings), content: JSON.stringify(settingsToJson(settings)) } };
}

function readSettings(stored: StoredItem | undefined): Settings {
  if (stored === undefined) return DEFAULT_SETTINGS;
  try {
    return parseSettings(JSON.parse(String(stored['content'])));
  } catch {
    // without a cause: it would quote the text
    throw new DefectError('settings.unreadable', 'the stored settings cannot be read');
  }
}
