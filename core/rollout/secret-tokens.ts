import { END, REDACTED, RUN_START, rule, type SecretRule, START } from './secret-rules.ts';

/**
 * Tokens of services that give theirs a shape. As in `SECRET_RULES` every pattern is one literal start and one run of
 * characters; a negative look-ahead stands behind runs of bounded length only, so that nothing is tried twice.
 */
const BODY = '[A-Za-z0-9_-]{20,}(?:\\.[A-Za-z0-9_-]{20,})?';

/** A prefix of a service and a run behind it. Names in code share prefixes with tokens: a token has letters and digits. */
function prefixed(kind: string, ...prefixes: readonly string[]): SecretRule {
  const literals = prefixes.map((prefix) => prefix.replaceAll('.', '\\.'));
  return rule(kind, prefixes, `${START}(?:${literals.join('|')})${BODY}`, (match) => {
    const body = match.slice(prefixes.find((prefix) => match.startsWith(prefix))?.length ?? 0);
    return /\d/.test(body) && /[A-Za-z]/.test(body) ? REDACTED : match;
  });
}

/** Only where the match holds a digit, a lower and an upper case letter. */
function ifMixed(match: string): string {
  return /\d/.test(match) && /[a-z]/.test(match) && /[A-Z]/.test(match) ? REDACTED : match;
}

/** `CREATE USER u IDENTIFIED BY '…'`, `ALTER ROLE r WITH PASSWORD '…'`. */
const SQL_TEXT = "[^\\s\"'\\\\`<{$]{3,128}(?=')";
const SQL_IDENTIFIED = `(?<=[Ii](?:DENTIFIED|dentified) (?:(?:WITH|with) \\w{1,40} )?(?:BY|by) (?:(?:PASSWORD|password) )?')${SQL_TEXT}`;
const SQL_PASSWORD = `(?<=(?:WITH|with|ENCRYPTED|encrypted|LOGIN|login) (?:PASSWORD|password) ')${SQL_TEXT}`;

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

export const TOKEN_RULES: readonly SecretRule[] = [
  rule('telegram_token', [':AA'], '(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])'),
  rule(
    'discord_token',
    ['.'],
    `${RUN_START}[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])`,
    ifMixed,
  ),
  rule(
    'discord_token',
    ['/webhooks/'],
    '(?<=discord(?:app)?\\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,20}/)[A-Za-z0-9_-]{40,}',
  ),
  rule('twilio_key', ['SK'], `${START}SK[0-9a-f]{32}${END}`),
  rule('sendgrid_key', ['SG.'], `${START}SG\\.[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]{3,})?`),
  rule('mailgun_key', ['key-'], `${START}key-[0-9a-f]{32}${END}`),
  rule('mailgun_key', ['-'], `${RUN_START}[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])`),
  rule('databricks_token', ['dapi'], `${START}dapi[0-9A-Fa-f]{32}(?:-[0-9])?(?![0-9A-Fa-f])`),
  rule('vault_token', ['s.', 'b.', 'r.'], `${RUN_START}[sbr]\\.[A-Za-z0-9]{24}(?![A-Za-z0-9_.(])`, ifMixed),
  rule('notion_token', ['secret_'], `${START}secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])`),
  rule('square_token', ['EAA'], `${START}EAA[A-Za-z0-9_-]{60,}`, ifMixed),
  rule('plaid_token', ['access-'], `${START}access-(?:sandbox|development|production)-${UUID}`),
  rule('airtable_token', ['pat'], `${START}pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}`),
  rule('terraform_token', ['.atlasv1.'], '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{40,}'),
  rule('cloudflare_token', ['v1.0-'], `${START}v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}`),
  rule('dropbox_token', ['sl.'], `${START}sl\\.(?:[a-z]\\.)?[A-Za-z0-9_-]{60,}`, ifMixed),
  rule('crates_token', ['cio'], `${START}cio[A-Za-z0-9]{32}${END}`, ifMixed),
  rule('launchdarkly_key', ['sdk-', 'api-', 'mob-'], `${START}(?:sdk|api|mob)-${UUID}`),
  rule('mapbox_token', ['sk.eyJ'], `${RUN_START}sk\\.eyJ[A-Za-z0-9_-]{20,}\\.[A-Za-z0-9_-]{10,}`),
  rule('age_key', ['AGE-SECRET-KEY-'], `${START}AGE-SECRET-KEY-1[A-Z0-9]{40,}`),
  rule('npm_token', ['_auth'], '(?<=:_auth ?= ?"?)[A-Za-z0-9+/]{8,}=*'),
  rule('password_hash', ['$2'], '\\$2[abxy]\\$[0-9]{2}\\$[./A-Za-z0-9]{53}'),
  rule(
    'password_hash',
    ['$1$', '$5$', '$6$', '$y$'],
    '(?<=[:"\'=\\s]|^)\\$[156y]\\$[./A-Za-z0-9=]{1,64}(?:\\$[./A-Za-z0-9]{1,64})?\\$[./A-Za-z0-9]{22,86}(?![./A-Za-z0-9$])',
    ifMixed,
  ),
  rule('password_hash', ['$argon2'], '\\$argon2(?:id|i|d)\\$[A-Za-z0-9=,$+/]{30,256}'),
  rule('url_key', ['key='], '(?<=[?&]key=)[A-Za-z0-9_-]{24,}', ifMixed),
  rule('sql_password', ['DENTIFIED ', 'dentified '], SQL_IDENTIFIED),
  rule('sql_password', ["PASSWORD '", "password '"], SQL_PASSWORD),
  prefixed('vault_token', 'hvs.', 'hvb.', 'hvr.'),
  prefixed('digitalocean_token', 'dop_v1_', 'doo_v1_', 'dor_v1_'),
  prefixed('docker_token', 'dckr_pat_', 'dckr_oat_'),
  prefixed('pypi_token', 'pypi-'),
  prefixed('linear_token', 'lin_api_', 'lin_oauth_'),
  prefixed('notion_token', 'ntn_'),
  prefixed('figma_token', 'figd_', 'figu_', 'figo_'),
  prefixed('shopify_token', 'shpat_', 'shpss_', 'shpca_', 'shppa_', 'shprt_', 'shpua_'),
  prefixed('square_token', 'sq0atp-', 'sq0csp-'),
  prefixed('grafana_token', 'glc_', 'glsa_'),
  prefixed('one_password_token', 'ops_ey'),
  prefixed('vercel_token', 'vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'),
  prefixed('atlassian_token', 'ATATT3', 'ATCTT3', 'ATBB', 'BBDC-'),
  prefixed('sentry_token', 'sntrys_', 'sntryu_'),
  prefixed('doppler_token', 'dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.'),
  prefixed('supabase_key', 'sbp_', 'sb_secret_'),
  prefixed('planetscale_token', 'pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'),
  prefixed('model_key', 'gsk_', 'xai-', 'pplx-', 'r8_', 'nvapi-', 'jina_', 'tvly-', 'pcsk_', 'lsv2_pt_', 'lsv2_sk_'),
  prefixed('host_token', 'nfp_', 'rnd_', 'HRKU-', 'fm2_', 'fm1r_', 'fo1_', 'tskey-', 'pul-', 'napi_', 'apify_api_'),
  prefixed('build_token', 'bkua_', 'CCIPAT_', 'CCIPRJ_', 'rubygems_', 'CLOJARS_', 'oy2', 'pnu_', 'rdme_'),
  prefixed(
    'service_token',
    'NRAK-',
    'phx_',
    'PMAK-',
    'xkeysib-',
    'xsmtpsib-',
    'tfp_',
    'ory_at_',
    'ory_rt_',
    'cal_live_',
  ),
];
