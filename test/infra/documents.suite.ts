import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/settings.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { CONTEXT_KEYS } from '../../infra/config.ts';
import { API_ROUTES } from '../../infra/routes.ts';
import { REPOSITORY, synthStack } from '../support/synth.ts';

const NAMES = ['deploy.md', 'runbook.md', 'state-machines.md'];
const texts = new Map(NAMES.map((name) => [name, readFileSync(join(REPOSITORY, 'docs', name), 'utf8')]));

function textOf(name: string): string {
  return texts.get(name) ?? '';
}

/** Every distinct match of a pattern's first group. */
function all(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))];
}

describe('docs/deploy.md', () => {
  it.each(CONTEXT_KEYS)('explains the context key %s', (key) => {
    expect(textOf('deploy.md')).toContain(`\`${key}\``);
  });

  it('uses no context key that is not read', () => {
    const used = all(textOf('deploy.md'), /--context ([\w-]+)=/g);
    expect(used.length).toBeGreaterThan(2);
    for (const key of used) expect(CONTEXT_KEYS).toContain(key);
  });

  it('names every output of the stack', () => {
    for (const name of Object.keys(Object(synthStack().template['Outputs'])))
      expect(textOf('deploy.md')).toContain(`\`${name}\``);
  });

  it('counts the alarms that are billed at rest', () => {
    expect(textOf('deploy.md')).toContain(`${synthStack().of('AWS::CloudWatch::Alarm').length} alarms`);
  });
});

describe('the operator’s pages', () => {
  it.each(NAMES)('docs/%s names scripts, routes, files and resources that are there', (name) => {
    const text = textOf(name);
    const scripts = Object.keys(JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')).scripts);
    for (const script of all(text, /npm run ([\w:]+)/g)) expect(scripts).toContain(script);
    const routes = API_ROUTES.map((route) => `${route.method} ${route.path}`);
    for (const route of all(text, /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`\s]*)`/g)) expect(routes).toContain(route);
    for (const path of all(text, /`((?:core|infra|docs|adapters)\/[\w/.-]+\.(?:ts|md))`/g))
      expect([path, existsSync(join(REPOSITORY, path))]).toEqual([path, true]);
    const made = JSON.stringify(synthStack({ stage: 'prod' }).template);
    for (const resource of all(text, /\b(stillroom-prod-[a-z0-9-]+)/g)) expect(made).toContain(`"${resource}"`);
  });
});

describe('docs/scale.md', () => {
  it('says how much the sweep hands on in one pass', () => {
    const code = readFileSync(join(REPOSITORY, 'functions/sweep/create-handler.ts'), 'utf8');
    const [jobs = ''] = all(code, /MAX_JOBS = ([\d_]+);/g);
    const said = readFileSync(join(REPOSITORY, 'docs/scale.md'), 'utf8');
    expect(all(said, /handed on by one pass of the sweep\D+[\d,]+\D+set: ([\d,]+)/g)).toEqual([jobs.replace('_', ',')]);
  });
});

describe('docs/state-machines.md', () => {
  it('says the numbers of the code', () => {
    const text = textOf('state-machines.md').replace(/\s+/g, ' ');
    for (const words of [
      `lease ${LIMITS.extractionLeaseMs / MINUTE_MS} minutes`,
      `lease ${LIMITS.consolidationLeaseMs / MINUTE_MS} minutes`,
      `heartbeat every ${LIMITS.heartbeatMs / SECOND_MS} s`,
      `less than ${LIMITS.consolidationCooldownMs / HOUR_MS} hours since the last success`,
      `retries (${LIMITS.retryBudget})`,
      `${LIMITS.maxAttempts} attempts were made`,
      `at most ${LIMITS.agentMaxTurns} turns`,
    ])
      expect(text).toContain(words);
  });

  it('names every refusal of a claim', () => {
    const source = readFileSync(join(REPOSITORY, 'core/job/job.ts'), 'utf8');
    const union = /export type ClaimRefusal =([^;]+);/.exec(source)?.[1] ?? '';
    const refusals = all(union, /'(\w+)'/g);
    expect(refusals).toHaveLength(6);
    for (const refusal of refusals) expect(textOf('state-machines.md')).toContain(`\`${refusal}\``);
  });
});
