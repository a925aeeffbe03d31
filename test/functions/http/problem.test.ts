import { describe, expect, it } from 'vitest';
import {
  ConflictError,
  DefectError,
  DeniedError,
  InvalidInputError,
  NotFoundError,
  type StillroomError,
  UnavailableError,
} from '../../../core/errors.ts';
import { problemOf, toResponse } from '../../../functions/http/problem.ts';

const PLAIN = { precondition: false };
const INSTANCE = 'urn:uuid:00000000-0000-4000-8000-000000000001';

describe('problemOf', () => {
  const cases: readonly [string, StillroomError, number, string][] = [
    ['invalid input', new InvalidInputError('a.b', 'm'), 400, 'Bad Request'],
    ['an unknown caller', new DeniedError('auth.missing_token', 'm'), 401, 'Unauthorized'],
    ['a caller who may not', new DeniedError('user.not_allowed', 'm'), 403, 'Forbidden'],
    ['a missing thing', new NotFoundError('path.not_found', 'm'), 404, 'Not Found'],
    ['an expired version', new NotFoundError('memory.version_expired', 'm'), 410, 'Gone'],
    ['a conflict', new ConflictError('note.exists', 'm'), 409, 'Conflict'],
    ['an outage', new UnavailableError('store.down', 'm'), 503, 'Service Unavailable'],
    ['a quota', new UnavailableError('quota.requests', 'm'), 429, 'Too Many Requests'],
    ['a defect', new DefectError('store.broken', 'm'), 500, 'Internal Server Error'],
    ['a body over the limit', new InvalidInputError('http.body_too_large', 'm'), 413, 'Content Too Large'],
    ['a foreign media type', new InvalidInputError('http.unsupported_media_type', 'm'), 415, 'Unsupported Media Type'],
  ];
  it.each(cases)('answers %s with its status', (_, error, status, title) => {
    const { problem } = problemOf(error, PLAIN, INSTANCE);
    expect(problem).toMatchObject({ type: 'about:blank', status, title });
  });

  it('answers a conflict with 412 where a precondition header was sent', () => {
    expect(problemOf(new ConflictError('head.moved', 'm'), { precondition: true }, INSTANCE).problem.status).toBe(412);
  });

  it('shows code, message and safe details of a failure that the caller can act on', () => {
    const error = new InvalidInputError('note.too_long', 'note must have at most 5 bytes', {
      details: { field: 'note', limit: 5 },
    });
    expect(problemOf(error, PLAIN, INSTANCE).problem).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      code: 'note.too_long',
      detail: 'note must have at most 5 bytes',
      field: 'note',
      limit: 5,
    });
  });

  it('never lets a detail replace a member of the problem', () => {
    const error = new InvalidInputError('a.b', 'm', { details: { status: 200, code: 'x', detail: 'y', title: 'z' } });
    expect(problemOf(error, PLAIN, INSTANCE).problem).toMatchObject({ status: 400, code: 'a.b', detail: 'm' });
  });

  it.each([
    ['a defect', new DefectError('store.broken', 'secret text', { details: { row: 'secret text' } })],
    ['an unknown error', new TypeError('secret text')],
    ['a thrown string', 'secret text'],
  ])('shows nothing of %s but its instance', (_, thrown) => {
    const { problem } = problemOf(thrown, PLAIN, INSTANCE);
    expect(problem).toMatchObject({ status: 500, code: 'internal', instance: INSTANCE });
    expect(JSON.stringify(problem)).not.toMatch(/secret|store\.broken/);
  });

  it.each([
    [2_500, '3'],
    [0, '1'],
    [undefined, '5'],
  ])('tells when to come back after %s ms as %s s', (waitMs, seconds) => {
    const details = waitMs === undefined ? {} : { retry_after_ms: waitMs };
    const { headers } = problemOf(new UnavailableError('store.down', 'm', { details }), PLAIN, INSTANCE);
    expect(headers['retry-after']).toBe(seconds);
  });

  it('names the scheme with a 401 and the methods with a 405', () => {
    const denied = problemOf(new DeniedError('auth.missing_token', 'm'), PLAIN, INSTANCE);
    const method = new InvalidInputError('http.method_not_allowed', 'm', { details: { allow: 'GET, HEAD' } });
    expect(denied.headers).toEqual({ 'www-authenticate': 'Bearer' });
    expect(problemOf(method, PLAIN, INSTANCE).headers).toEqual({ allow: 'GET, HEAD' });
  });

  it('is sent as problem+json that nobody caches', async () => {
    const response = toResponse(problemOf(new NotFoundError('a.b', 'm'), PLAIN, INSTANCE));
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ code: 'a.b' });
  });
});
