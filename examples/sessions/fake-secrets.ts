/**
 * Made-up secrets that the samples plant to show redaction. They are put together here so that only the generated files
 * hold them; none of them opens anything.
 */
export const FAKE_GITHUB_TOKEN = ['gh', 'p_', 'FAKEfakeFAKEfakeFAKEfakeFAKE12345678'].join('');
export const FAKE_OPENAI_KEY = ['s', 'k-', 'proj-', 'FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE0123'].join('');
export const FAKE_AWS_KEY_ID = ['AK', 'IA', 'FAKEFAKEFAKE0000'].join('');
export const FAKE_PASSWORD_URL = ['postgres://harbor:', 'n0t-a-real-pass', '@localhost:5432/harbor_test'].join('');

export const ALL_FAKE_SECRETS: readonly string[] = [
  FAKE_GITHUB_TOKEN,
  FAKE_OPENAI_KEY,
  FAKE_AWS_KEY_ID,
  'n0t-a-real-pass',
];
