import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUserKey } from '../../../core/ids.ts';
import { gatewayIdentity } from '../../../functions/http/identity.ts';
import { type Caller, gatewayEvent, tokenOf } from '../../support/gateway-event.ts';

const jwt = gatewayIdentity({ mode: 'jwt', claim: 'sub' });
const iam = gatewayIdentity({ mode: 'iam', claim: 'sub' });
const request = new Request('https://stillroom.invalid/v1/memory', { headers: { 'x-stillroom-user': 'victim' } });

function envOf(caller: Caller, headers: Readonly<Record<string, string>> = {}) {
  return { event: gatewayEvent({ path: '/v1/memory', caller, headers }) };
}

function refused(code: string) {
  return expect.objectContaining({ kind: 'denied', code });
}

describe('identity by token', () => {
  it('is the claim, exactly, whatever it is made of', () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
    const usable = id.filter((text) => text.trim() === text && text.isWellFormed() && !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(usable, (userId) => {
        expect(jwt(request, envOf(tokenOf(userId)))).toEqual({ userId, userKey: toUserKey(userId) });
      }),
    );
  });

  it.each([undefined, '', ' ', 'user1 ', '\tuser1', 'a\u0000b', 'a\nb', '\ud800', 7, null, true, ['user1'], {}])(
    'is refused for the claim %j',
    (claim) => {
      expect(() => jwt(request, envOf(tokenOf(claim)))).toThrow(refused('auth.no_user_claim'));
    },
  );

  it('B15 never looks at a header, and takes no name from the object it reads', () => {
    const headers = { 'x-stillroom-user': 'victim' };
    expect(jwt(request, envOf(tokenOf('user1'), headers)).userId).toBe('user1');
    expect(() => jwt(request, envOf({ kind: 'jwt', claims: {} }, headers))).toThrow(refused('auth.no_user_claim'));
    const inherited = gatewayIdentity({ mode: 'jwt', claim: 'constructor' });
    expect(() => inherited(request, envOf(tokenOf('user1')))).toThrow(refused('auth.no_user_claim'));
  });

  it('reads another claim where it is told to', () => {
    const byMail = gatewayIdentity({ mode: 'jwt', claim: 'https://example.com/user' });
    const caller: Caller = { kind: 'jwt', claims: { sub: 'x', 'https://example.com/user': 'user1' } };
    expect(byMail(request, envOf(caller)).userId).toBe('user1');
  });

  it.each<[string, unknown]>([
    ['no event', undefined],
    ['an empty one', {}],
    ['an event without authorizer', envOf({ kind: 'nobody' })],
    ['an authorizer of the other kind', envOf({ kind: 'iam' }, { 'x-stillroom-user': 'victim' })],
  ])('is refused for %s', (_, env) => {
    expect(() => jwt(request, env)).toThrow(refused('auth.not_authorized'));
  });
});

describe('identity by IAM', () => {
  it('is what a caller that IAM let in names', () => {
    expect(iam(request, envOf({ kind: 'iam' }, { 'x-stillroom-user': 'a/b' }))).toEqual({
      userId: 'a/b',
      userKey: toUserKey('a/b'),
    });
  });

  it.each([undefined, '', ' user1', 'a\u0007b'])('is refused for the header %j', (name) => {
    const headers = name === undefined ? {} : { 'x-stillroom-user': name };
    expect(() => iam(request, envOf({ kind: 'iam' }, headers))).toThrow(refused('auth.no_user_header'));
  });

  it.each<[string, Caller]>([
    ['nobody', { kind: 'nobody' }],
    ['a token', tokenOf('user1')],
  ])('is refused for %s, although it names a user', (_, caller) => {
    expect(() => iam(request, envOf(caller, { 'x-stillroom-user': 'victim' }))).toThrow(refused('auth.not_authorized'));
  });

  it('is refused where the authorizer names no caller', () => {
    const { event } = envOf({ kind: 'iam' }, { 'x-stillroom-user': 'victim' });
    const nameless = { ...event, requestContext: { ...event.requestContext, authorizer: { iam: { userArn: '' } } } };
    expect(() => iam(request, { event: nameless })).toThrow(refused('auth.not_authorized'));
  });
});
