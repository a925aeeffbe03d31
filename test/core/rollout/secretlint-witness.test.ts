import { lintSource } from '@secretlint/core';
import { creator, rules as presetRules } from '@secretlint/secretlint-rule-preset-recommend';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact } from '../../../core/rollout/redact.ts';
import { base64, digits, hex, join, mixed, R, SERVICE_TOKENS } from '../../support/fake-secrets.ts';

/** Comments that switch rules off are switched off themselves: a text must not decide what is looked for in it. */
const FILTER = '@secretlint/secretlint-rule-filter-comments';

interface Finding {
  readonly rule: string;
  readonly from: number;
  readonly to: number;
}

/** What secretlint's recommended preset finds: a rule set that others maintain, the witness of ours. */
async function findings(content: string): Promise<readonly Finding[]> {
  const result = await lintSource({
    source: { content, filePath: 'rollout.json', ext: '.json', contentType: 'text' },
    options: {
      noPhysicFilePath: true,
      config: { rules: [{ id: 'recommended', rule: creator, rules: [{ id: FILTER, disabled: true }] }] },
    },
  });
  // a password that became the marker is a password to the witness
  return result.messages
    .map(({ ruleId, range: [from, to] }) => ({ rule: ruleId, from, to }))
    .filter(({ from, to }) => !content.slice(from, to).includes(R));
}

const ALPHABET = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z';
const run = (length: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...ALPHABET), { minLength: length, maxLength: length }).map((units) => units.join(''));
const hexRun = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((units) => units.join(''));
const upper = (length: number): fc.Arbitrary<string> => run(length).map((text) => text.toUpperCase());
const after = (prefix: string, body: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  body.map((text) => join(prefix, text));

/** What each rule of the preset describes, by the end of the rule's name. */
const KINDS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  aws: fc.oneof(
    after(join('aws_secret', '_access_key = '), run(40)),
    after(join('AWS_SECRET', '_ACCESS_KEY="'), run(40)).map((text) => `${text}"x`),
  ),
  gcp: run(64).map((body) =>
    JSON.stringify({ private_key_id: hex(40), private_key: join('-----BEGIN ', 'PRIVATE KEY-----\n', body, '\n') }),
  ),
  privatekey: run(200).map((body) =>
    join('-----BEGIN ', 'RSA PRIVATE KEY-----\nMII', body, body, '\n-----END ', 'RSA PRIVATE KEY-----'),
  ),
  npm: fc.oneof(after(join('np', 'm_'), run(36)), after('//registry.npmjs.org/:_authToken=', run(36))),
  basicauth: run(12).map((body) => `https://dev:${body}@git.corp.io`),
  slack: fc.oneof(
    after(join('xo', 'xb-', digits(12), '-'), run(24)),
    after(join('xo', 'xp-', digits(12), '-', digits(12), '-'), run(32)),
    after(join('https://hooks.slack', '.com/services/T0', digits(6), '/B0', digits(6), '/'), run(24)),
  ),
  sendgrid: fc.tuple(run(22), run(43)).map(([left, right]) => join('S', 'G.', left, '.', right)),
  openai: fc.oneof(
    fc.tuple(run(74), run(74)).map(([left, right]) => join('sk-', 'proj-', left, 'T3Blbk', 'FJ', right)),
    fc.tuple(run(20), run(20)).map(([left, right]) => join('sk-', left, 'T3Blbk', 'FJ', right)),
  ),
  anthropic: run(93).map((body) => join('sk-', 'ant-api03-', body, 'AA')),
  groq: after(join('gs', 'k_'), run(52)),
  huggingface: fc
    .array(fc.constantFrom(...'abcdefABCDEFxyzXYZ'), { minLength: 34, maxLength: 34 })
    .map((units) => join('h', 'f_', ...units)),
  linear: after(join('lin', '_api_'), run(40)),
  notion: run(35).map((body) => join('nt', 'n_', digits(11), body)),
  shopify: fc.oneof(...['at', 'ss', 'ca', 'pa'].map((kind) => after(join('shp', kind, '_'), hexRun(32)))),
  github: fc.oneof(
    ...['p', 'o', 'u', 's', 'r'].map((kind) => after(join('gh', kind, '_'), run(36))),
    after(join('github', '_pat_'), run(82)),
  ),
  gitlab: after(join('gl', 'pat-'), run(20)),
  grafana: fc.oneof(
    after(join('gl', 'c_'), run(60)),
    fc.tuple(run(32), hexRun(8)).map(([left, right]) => join('gl', 'sa_', left, '_', right)),
  ),
  '1password': run(140).map((body) =>
    join('op', 's_', base64(JSON.stringify({ signInAddress: 'x', secretKey: body, throttleSecret: {} }))),
  ),
  'database-connection-string': fc.oneof(
    ...['mongodb+srv', 'mongodb', 'mysql', 'jdbc:mysql', 'postgres', 'postgresql'].map((scheme) =>
      run(12).map((body) => `${scheme}://dev:${body}@db.corp.io/app`),
    ),
  ),
  'hashicorp-vault': fc.oneof(
    after(join('hv', 's.'), run(95)),
    after(join('hv', 'b.'), run(140)),
    after(join('hv', 'r.'), run(95)),
  ),
  vercel: fc.oneof(...['p', 'i', 'a', 'r', 'k'].map((kind) => after(join('vc', kind, '_'), run(40)))),
  databricks: after(join('da', 'pi'), hexRun(32)),
  docker: after(join('dckr', '_pat_'), run(27)),
  figma: after(join('fi', 'gd_'), run(40)),
  'aws access key': after('AKIA', upper(16)),
};

describe("everything that secretlint's recommended preset finds", () => {
  it.each(Object.entries(KINDS))('%s: nothing is found in what was redacted', async (_kind, secret) => {
    await fc.assert(
      fc.asyncProperty(secret, async (text) => {
        expect(await findings(redact(`use ${text} here`))).toEqual([]);
        expect(await findings(redact(`use\n${text}\nhere`))).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  it('the witness does find them, with nearly every rule of the preset', async () => {
    const told = new Set<string>();
    for (const secret of Object.values(KINDS)) {
      for (const text of fc.sample(secret, { numRuns: 12, seed: 1 })) {
        for (const { rule } of await findings(text)) told.add(rule);
      }
    }
    const silent = presetRules.map((rule) => rule.meta.id).filter((id) => !told.has(id) && id !== FILTER);
    expect(silent).toEqual([]);
  });

  it('and in our own table of tokens nothing is left for it', async () => {
    const text = Object.values(SERVICE_TOKENS).join('\n');
    expect((await findings(text)).length).toBeGreaterThan(5);
    expect(await findings(redact(text))).toEqual([]);
  });

  it('a comment in the text switches none of ours off', () => {
    const token = join('gh', 'p_', mixed(36));
    expect(redact(`secretlint-disable\n${token}`)).not.toContain(token);
  });
});
