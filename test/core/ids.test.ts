import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../core/errors.ts';
import { isThreadId, isUuid, requireThreadId, sha256Hex, toUserKey } from '../../core/ids.ts';

const userId = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }).map((text) => text.toWellFormed()),
  fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'A', '~', 'h', '.', '_', '-', '/', '=') }),
  fc.constantFrom('user1', 'user10', '.', '..', '~aa', '~haa', 'a'.repeat(128), 'a'.repeat(129), '~'.repeat(300)),
);

describe('the storage form of a user id', () => {
  it('is the id itself where that is a plain key', () => {
    for (const id of ['user1', 'a.b_c-D', '0', 'x'.repeat(128)]) expect(toUserKey(id)).toBe(id);
  });

  it.each([
    ['a/b', '~YS9i'],
    ['ü', '~w7w'],
    ['.', '~Lg'],
    ['..', '~Li4'],
    ['~a', '~fmE'],
    ['joe@example.com', `~${Buffer.from('joe@example.com').toString('base64url')}`],
  ])('%s is %s', (id, key) => {
    expect(toUserKey(id)).toBe(key);
  });

  it('is a hash where the encoded form is too long', () => {
    const id = 'a'.repeat(129);
    expect(toUserKey(id)).toBe(`~h${createHash('sha256').update(id).digest('hex')}`);
  });

  it('is one-to-one, stable, short, and one step of a path', () => {
    fc.assert(
      fc.property(userId, userId, (left, right) => {
        const key = toUserKey(left);
        expect(toUserKey(left)).toBe(key);
        expect(key).toMatch(/^[A-Za-z0-9._~-]{1,128}$/);
        expect(key === '.' || key === '..').toBe(false);
        expect(toUserKey(right) === key).toBe(left === right);
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses an empty id', () => {
    expect(() => toUserKey('')).toThrow(InvalidInputError);
  });
});

describe('thread ids', () => {
  it.each(['019c8a70-dda7-7f33-98ea-f30553347322', 'a', 'x'.repeat(128), 'agent-1.2_3'])('takes %s', (id) => {
    expect(isThreadId(id)).toBe(true);
    expect(requireThreadId(id)).toBe(id);
  });

  it.each(['', '.', '..', 'a/b', 'a b', 'ü', 'x'.repeat(129), 'a\n'])('refuses %j', (id) => {
    expect(isThreadId(id)).toBe(false);
    expect(() => requireThreadId(id)).toThrow(InvalidInputError);
  });
});

it('tells a UUID of any version and case', () => {
  expect(isUuid('019C8A70-dda7-7f33-98ea-f30553347322')).toBe(true);
  expect(isUuid('019c8a70dda77f3398eaf30553347322')).toBe(false);
  expect(isUuid('x019c8a70-dda7-7f33-98ea-f30553347322')).toBe(false);
});

it('hashes texts as their UTF-8 bytes', () => {
  expect(sha256Hex('é')).toBe(createHash('sha256').update('é').digest('hex'));
  expect(sha256Hex(new Uint8Array([0xc3, 0xa9]))).toBe(sha256Hex('é'));
});
