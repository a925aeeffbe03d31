import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InvalidInputError } from '../../../core/errors.ts';
import { readPathAfter, readQuery } from '../../../functions/http/read-query.ts';

const shape = {
  schema: z.strictObject({
    cwd: z.optional(z.string().check(z.maxLength(10))),
    scope: z.optional(z.enum(['auto', 'all'])),
    max: z.optional(z.int().check(z.minimum(1), z.maximum(2500))),
  }),
  integers: ['max'],
};

function read(query: string) {
  return readQuery(`http://host/v1/x${query}`, shape);
}

function faultOf(act: () => unknown): InvalidInputError {
  try {
    act();
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('readQuery', () => {
  it.each([
    ['', {}],
    ['?', {}],
    ['?cwd=%2Fa+b&scope=all&max=7', { cwd: '/a b', scope: 'all', max: 7 }],
    ['?cwd=', { cwd: '' }],
    ['?cwd', { cwd: '' }],
    ['?cwd=a=b', { cwd: 'a=b' }],
    ['?cwd=%2525', { cwd: '%25' }],
    ['?cwd=%C3%A9#x?cwd=2', { cwd: 'é' }],
    ['?&max=1&', { max: 1 }],
  ])('reads %j', (query, values) => {
    expect(read(query)).toEqual(values);
  });

  it.each([
    ['?user=v', 'http.unknown_field', 'user'],
    ['?__proto__=v', 'http.unknown_field', '__proto__'],
    ['?cwd=a&cwd=b', 'http.duplicate_parameter', 'cwd'],
    ['?scope=none', 'http.invalid_field', 'scope'],
    ['?max=0', 'http.invalid_field', 'max'],
    ['?max=2501', 'http.invalid_field', 'max'],
    ['?max=', 'http.invalid_field', 'max'],
    ['?max=1.5', 'http.invalid_field', 'max'],
    ['?max=0x10', 'http.invalid_field', 'max'],
    ['?max=+7', 'http.invalid_field', 'max'],
    ['?max=-1', 'http.invalid_field', 'max'],
    ['?max=99999999999999999999', 'http.invalid_field', 'max'],
    ['?cwd=12345678901', 'http.invalid_field', 'cwd'],
  ])('refuses %j naming the parameter', (query, code, field) => {
    const fault = faultOf(() => read(query));
    expect(fault.code).toBe(code);
    expect(fault.details).toMatchObject({ in: 'query', field });
    expect(fault.message).toContain(field);
  });

  it.each(['?cwd=%', '?cwd=%zz', '?cwd=%E6%87', '?%ff=1', '?cwd=%C0%AF'])('refuses the broken encoding %j', (query) => {
    expect(faultOf(() => read(query)).code).toBe('http.invalid_encoding');
  });

  it('says the limit and the allowed words, and never the value', () => {
    expect(faultOf(() => read('?max=2501')).message).toBe('max must be at most 2500');
    expect(faultOf(() => read('?max=2501')).details).toMatchObject({ limit: 2500 });
    expect(faultOf(() => read('?scope=marker')).message).toBe('scope must be one of auto, all');
    expect(faultOf(() => read('?cwd=marker-marker')).message).toBe('cwd must have at most 10 characters');
    expect(faultOf(() => read('?max=marker')).message).toBe('max must be a number');
  });

  it('bounds and cleans the name of an unknown parameter', () => {
    const { message } = faultOf(() => read(`?${'n'.repeat(5_000)}%0A%00=1`));
    expect(message.length).toBeLessThan(120);
    expect(message).not.toContain('\n');
  });
});

describe('readPathAfter', () => {
  it.each([
    ['http://h/v1/files/a/b.md', 'a/b.md'],
    ['http://h/v1/files/a%2Fb.md?x=1', 'a/b.md'],
    ['http://h/v1/files/..%2F..%2Fetc', '../../etc'],
    ['http://h/v1/files/%252e%252e/x', '%2e%2e/x'],
    ['http://h/v1/files/a+b', 'a+b'],
    ['http://h/v1/files/%E6%97%A5', '日'],
    ['/v1/files/a?b', 'a'],
  ])('decodes %j once', (url, path) => {
    expect(readPathAfter(url, '/v1/files/')).toBe(path);
  });

  it.each(['http://h/v1/files/%ff', 'http://h/v1/files/a%2'])('refuses the broken encoding %j', (url) => {
    expect(faultOf(() => readPathAfter(url, '/v1/files/')).code).toBe('http.invalid_encoding');
  });
});
