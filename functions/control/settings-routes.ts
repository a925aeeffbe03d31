import type { Context } from 'hono';
import * as z from 'zod/mini';
import { parseSettings, settingsToJson } from '../../core/parse-settings.ts';
import type { Route } from '../http/create-app.ts';
import { readJsonBody } from '../http/read-body.ts';
import { noQuery, readQuery } from '../http/read-query.ts';
import type { ControlDeps } from './deps.ts';

const SETTINGS = '/v1/settings';

type SettingsDeps = Pick<ControlDeps, 'identify' | 'settings'>;

/** A user's settings, all of them, by their wire names (behaviours 1.Y); the rules of each stand in `parseSettings`. */
export function settingsRoutes(deps: SettingsDeps): readonly Route[] {
  return [
    { method: 'GET', path: SETTINGS, handle: (context) => answerSettings(deps, context) },
    { method: 'PATCH', path: SETTINGS, handle: (context) => answerChange(deps, context) },
  ];
}

async function answerSettings(deps: SettingsDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  return context.json(settingsToJson(await deps.settings.read(userKey)));
}

async function answerChange(deps: SettingsDeps, context: Context): Promise<Response> {
  const { userKey } = deps.identify(context.req.raw, context.env);
  readQuery(context.req.url, noQuery);
  const body = await readJsonBody(context.req.raw, z.unknown());
  const settings = parseSettings(body, await deps.settings.read(userKey));
  await deps.settings.write(userKey, settings);
  return context.json(settingsToJson(settings));
}
