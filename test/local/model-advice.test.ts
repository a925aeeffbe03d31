import { describe, expect, it } from 'vitest';
import { adviceOnSettings, adviceOnSilence } from '../../local/model-advice.ts';

describe('the advice on a model that cannot be used', () => {
  it.each(['http_401', 'http_403', 'http_404', 'invalid_api_key', 'model_not_found', 'permission_denied'])(
    'names the key after a refusal of who asks or of what is asked for: %s',
    (code) => {
      expect(adviceOnSettings(code)).toContain('OPENAI_API_KEY');
    },
  );

  it.each(['http_400', 'http_307', 'unknown_parameter', 'insufficient_quota', 'host_not_found', 'tls', 'bad_url'])(
    'leaves the key alone after %s',
    (code) => {
      expect(adviceOnSettings(code)).not.toContain('KEY');
    },
  );

  it.each(['connection_refused', 'timeout', 'http_503', 'response_not_understood'])(
    'leaves the key alone where there was no answer: %s',
    (code) => {
      expect(adviceOnSilence(code)).not.toContain('KEY');
    },
  );
});
