import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../core/parse-settings.ts';
import type { SettingsStore } from '../../core/ports/settings-store.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../core/settings.ts';
import { type Ground, onGround } from '../support/ground.ts';

/** No value is the default. */
const FULL: Settings = parseSettings({
  max_raw_memories_for_consolidation: 7,
  max_unused_days: 0,
  max_rollout_age_days: 90,
  max_rollouts_per_startup: 128,
  min_rollout_idle_hours: 1,
  min_rate_limit_remaining_percent: 99,
  daily_token_budget: 1_000_000_000,
  generate_memories: false,
  use_memories: false,
  disable_on_external_context: true,
  allowed_sources: ['exec', 'my "own" 日本 😀'],
  allowed_mcp_servers: ['docs'],
  extract_model: 'a/b:c',
  consolidation_model: 'm2',
  evidence: 'middle',
});

/** Every settings store keeps to this. */
export function settingsStoreContract(name: string, makeGround: () => Ground<SettingsStore>): void {
  const on = (check: Parameters<typeof onGround<SettingsStore>>[1]) => () => onGround(makeGround(), check);

  describe(`settings store: ${name}`, () => {
    it(
      'reads as the defaults before anything is set',
      on(async (store) => {
        expect(await store.read('u')).toEqual(DEFAULT_SETTINGS);
      }),
    );

    it(
      'keeps every setting over reopening',
      on(async (store, other, reopen) => {
        for (const key of Object.keys(DEFAULT_SETTINGS) as (keyof Settings)[]) {
          expect(FULL[key], key).not.toEqual(DEFAULT_SETTINGS[key]);
        }
        await store.write('u', FULL);
        expect(await other.read('u')).toEqual(FULL);
        expect(await reopen().read('u')).toEqual(FULL);
      }),
    );

    it(
      'replaces all that was set before, with the last writer winning as a whole',
      on(async (store, other) => {
        await store.write('u', FULL);
        await other.write('u', DEFAULT_SETTINGS);
        expect(await store.read('u')).toEqual(DEFAULT_SETTINGS);
        await Promise.all([store.write('u', FULL), other.write('u', DEFAULT_SETTINGS)]);
        expect([FULL, DEFAULT_SETTINGS]).toContainEqual(await store.read('u'));
      }),
    );

    it(
      'keeps users apart',
      on(async (store) => {
        await store.write('user1', FULL);
        for (const other of ['user10', 'user', 'USER1', '~dXNlcjE']) {
          expect(await store.read(other)).toEqual(DEFAULT_SETTINGS);
        }
      }),
    );
  });
}
