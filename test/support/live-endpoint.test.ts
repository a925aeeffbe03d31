import { describe, expect, it } from 'vitest';
import { accessOf, requireEmulator } from './live-endpoint.ts';

const EMULATOR = { AWS_ENDPOINT_URL: 'http://127.0.0.1:5000' };

describe('the live suite', () => {
  it('runs on an emulator, and on an account only where that is asked for', () => {
    expect(() => requireEmulator(EMULATOR)).not.toThrow();
    expect(() => requireEmulator({ STILLROOM_LIVE: '1' })).not.toThrow();
  });

  it.each([
    ['no endpoint', {}, /set AWS_ENDPOINT_URL/],
    ['an empty endpoint', { AWS_ENDPOINT_URL: '', STILLROOM_LIVE: '0' }, /set AWS_ENDPOINT_URL/],
    ['one service only', { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:5000' }, /set AWS_ENDPOINT_URL/],
    ['AWS as endpoint', { AWS_ENDPOINT_URL: 'https://sqs.eu-west-1.amazonaws.com' }, /AWS_ENDPOINT_URL is AWS itself/],
    [
      'AWS for one service',
      { ...EMULATOR, AWS_ENDPOINT_URL_SQS: 'https://sqs.us-east-1.api.aws' },
      /_SQS is AWS itself/,
    ],
    ['an endpoint that the SDK leaves aside', { ...EMULATOR, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }, /unset it/],
  ])('refuses %s', (_name, variables, sentence) => {
    expect(() => requireEmulator(variables)).toThrow(sentence);
  });

  it('never shows an emulator the keys of an account', () => {
    const own = { AWS_ACCESS_KEY_ID: 'mine', AWS_SESSION_TOKEN: 'mine', AWS_PROFILE: 'mine', AWS_REGION: 'eu-west-1' };
    expect(Object.values({ ...own, ...accessOf({ ...own, ...EMULATOR }) })).not.toContain('mine');
    expect(accessOf({ ...own, STILLROOM_LIVE: '1' })).toEqual({});
    expect(accessOf(EMULATOR)).toMatchObject({ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test' });
  });
});
