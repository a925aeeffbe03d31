/** What a person can do about a model that cannot be used, by the content-free code of the reply. */
const SETTINGS: Readonly<Record<string, string>> = {
  no_api_key: 'set OPENAI_API_KEY',
  bad_api_key:
    'OPENAI_API_KEY holds what no request can carry, such as a line end or letters outside ASCII: set it anew',
  bad_url: 'OPENAI_BASE_URL must be an http or https address on a port that requests may go to',
  url_with_credentials: 'OPENAI_BASE_URL must hold no user name and no password: the key belongs in OPENAI_API_KEY',
  host_not_found: 'OPENAI_BASE_URL names a host that is not known here: check it and the network',
  tls: 'the host of OPENAI_BASE_URL has no certificate that is trusted here',
};
const QUOTA = /quota|billing/;
/** A 401, 403 or 404, or the words of providers for them. */
const REFUSED = /^http_40[134]$|api_key|auth|permission|forbidden|denied|not_found/;

/** For a model that a person must see to first. */
export function adviceOnSettings(code: string): string {
  const known = SETTINGS[code];
  if (known !== undefined) return known;
  if (QUOTA.test(code)) return "see to the plan and the billing of the provider's account";
  if (REFUSED.test(code)) return "check OPENAI_API_KEY, OPENAI_BASE_URL and the model's name";
  return "the provider does not take such a request: check OPENAI_BASE_URL and the model's name";
}

/** For a model that gave no answer. */
export function adviceOnSilence(code: string): string {
  if (code.startsWith('http_5')) return 'the provider is out of order';
  if (code.startsWith('response_')) return 'what OPENAI_BASE_URL leads to gives no answers of this API';
  return 'check the network and, where it is set, OPENAI_BASE_URL';
}
