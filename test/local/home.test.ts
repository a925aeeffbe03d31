import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { countTraces, eraseUser } from '../../core/control/erase-user.ts';
import { NO_TRACES } from '../../core/ports/user-traces.ts';
import { DEFAULT_SETTINGS } from '../../core/settings.ts';
import { openHome } from '../../local/home.ts';
import { importRollout } from '../../local/import-rollouts.ts';
import { createLocalApp } from '../../local/serve.ts';
import { makeTempFolder } from '../support/ground.ts';
import { codexRollout } from '../support/rollout-builder.ts';

it('opens with the settings that were stored, and serves those of the moment', async () => {
  const folder = makeTempFolder();
  const home = openHome(folder, { create: true });
  expect(home.settings).toEqual(DEFAULT_SETTINGS);
  const enabled = async (): Promise<unknown> => {
    const answer = await createLocalApp(home).request('/v1/memory', { headers: { host: 'localhost' } });
    return z.object({ enabled: z.boolean() }).parse(await answer.json()).enabled;
  };
  expect(await enabled()).toBe(true);
  const stored = { ...DEFAULT_SETTINGS, useMemories: false, maxUnusedDays: 7 };
  await home.settingsStore.write(home.userKey, stored);
  expect(await enabled()).toBe(false);
  expect(home.settings).toEqual(DEFAULT_SETTINGS);
  home.close();
  const again = openHome(folder, { create: false });
  expect(again.settings).toEqual(stored);
  again.close();
});

it('finds the jobs that are due, and keeps nothing of an erased user', async () => {
  const folder = makeTempFolder();
  const home = openHome(folder, { create: true });
  const path = join(folder, 'session.jsonl');
  writeFileSync(path, codexRollout().user('always use pnpm here').assistant('done').toBytes());
  const { size, mtimeMs } = statSync(path);
  await importRollout(home, { path, bytes: size, modifiedAt: Math.trunc(mtimeMs) }, { requested: true });
  await home.jobs.wake(home.userKey, 't', 5);
  const { jobs } = await home.due.due({ kind: 'extraction', shard: 0, now: 9, limit: 9, after: null });
  expect(jobs).toContainEqual({ userKey: home.userKey, key: { kind: 'extraction', threadId: 't' }, dueAt: 5 });
  expect((await countTraces(home, home.userKey)).objects).toBeGreaterThan(0);
  const removed = await eraseUser(home, home.userKey);
  expect(removed.items).toBeGreaterThanOrEqual(2);
  expect(await countTraces(home, home.userKey)).toEqual(NO_TRACES);
  expect(existsSync(join(folder, 'rollouts'))).toBe(false);
  expect(readdirSync(folder)).toContain('stillroom.db');
  home.close();
});
