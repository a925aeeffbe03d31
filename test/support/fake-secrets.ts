/** Fake secrets are put together at run time, so that no scanner finds one in the tests. */
export const R = '[REDACTED_SECRET]';
export const join = (...parts: readonly string[]): string => parts.join('');
export const mixed = (count: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z'.repeat(20).slice(0, count);
export const hex = (count: number): string => '0a1b2c3d4e5f6789'.repeat(20).slice(0, count);
export const digits = (count: number): string => '8301749265'.repeat(20).slice(0, count);
export const UUID = '550e8400-e29b-41d4-a716-446655440000';
export const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** A password that nobody's text holds. */
export const WORD_SECRET = join('Tr0ub', '4dor', 'x9');

/** One token of every kind that is known by its own shape. */
export const SERVICE_TOKENS: Readonly<Record<string, string>> = {
  telegram: join(digits(9), ':A', 'A', mixed(33)),
  discord: join('M', mixed(23), '.', mixed(6), '.', mixed(38)),
  twilio: join('S', 'K', hex(32)),
  sendgrid: join('S', 'G.', mixed(22), '.', mixed(43)),
  'mailgun, old': join('ke', 'y-', hex(32)),
  mailgun: join(hex(32), '-', hex(8), '-', hex(8)),
  pypi: join('pyp', 'i-AgEIcHlwaS5vcmc', mixed(80)),
  digitalocean: join('do', 'p_v1_', hex(64)),
  'docker user': join('dckr', '_pat_', mixed(27)),
  'docker organisation': join('dckr', '_oat_', mixed(27)),
  databricks: join('da', 'pi', hex(32), '-2'),
  'vault service': join('hv', 's.', mixed(95)),
  'vault batch': join('hv', 'b.', mixed(140)),
  'vault, old': join('s', '.', mixed(24)),
  linear: join('lin', '_api_', mixed(40)),
  notion: join('nt', 'n_', digits(11), mixed(35)),
  'notion, old': join('sec', 'ret_', mixed(43)),
  figma: join('fi', 'gd_', mixed(40)),
  shopify: join('shp', 'at_', hex(32)),
  'shopify shared': join('shp', 'ss_', hex(32)),
  square: join('sq0', 'csp-', mixed(43)),
  'square access': join('EA', 'AA', mixed(60)),
  'plaid access': join('access', '-sandbox-', UUID),
  'aws session': join('IQoJb3Jp', 'Z2lu', mixed(120)),
  'google refresh': join('1/', '/0', mixed(60)),
  grafana: join('gl', 'sa_', mixed(32), '_', hex(8)),
  'grafana cloud': join('gl', 'c_', mixed(60)),
  vercel: join('vc', 'p_', mixed(40)),
  atlassian: join('ATA', 'TT3', mixed(100)),
  sentry: join('sntr', 'ys_', mixed(80)),
  'new relic': join('NR', 'AK-', mixed(27)),
  postman: join('PM', 'AK-', hex(24), '-', hex(34)),
  doppler: join('dp', '.pt.', mixed(43)),
  supabase: join('sb', 'p_', hex(40)),
  planetscale: join('pscale', '_tkn_', mixed(43)),
  replicate: join('r', '8_', mixed(37)),
  airtable: join('pa', 't', mixed(14), '.', hex(64)),
  terraform: join(mixed(14), '.atlas', 'v1.', mixed(67)),
  rubygems: join('ruby', 'gems_', hex(48)),
  crates: join('ci', 'o', mixed(32)),
  age: join('AGE-SECRET', '-KEY-1', 'QZ3X'.repeat(14)),
  tailscale: join('ts', 'key-auth-', mixed(17), '-', mixed(32)),
};
