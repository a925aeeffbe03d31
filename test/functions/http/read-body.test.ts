import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InvalidInputError } from '../../../core/errors.ts';
import { BODY_LIMIT_BYTES, readJsonBody } from '../../../functions/http/read-body.ts';

const schema = z.strictObject({
  note: z.string().check(z.minLength(1)),
  mode: z.optional(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('any') }),
      z.strictObject({ type: z.literal('near'), lines: z.int() }),
    ]),
  ),
  queries: z.optional(z.array(z.string()).check(z.minLength(1), z.maxLength(3))),
});

function post(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Request {
  return new Request('http://h/v1/x', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}

async function faultOf(request: Request): Promise<InvalidInputError> {
  const thrown: unknown = await readJsonBody(request, schema).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof InvalidInputError) return thrown;
  throw new Error('nothing was refused');
}

describe('readJsonBody', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'reads a body of type %s',
    async (type) => {
      expect(await readJsonBody(post('{"note":"é"}', { 'content-type': type }), schema)).toEqual({ note: 'é' });
    },
  );

  it.each<[string, Record<string, string>]>([
    ['no type', { 'content-type': '' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['plain text', { 'content-type': 'text/plain' }],
    ['another charset', { 'content-type': 'application/json; charset=latin1' }],
    ['a compressed body', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('refuses %s', async (_, headers) => {
    expect((await faultOf(post('{"note":"x"}', headers))).code).toBe('http.unsupported_media_type');
  });

  it.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['an empty body', ''],
    ['half an object', '{"note":"marker'],
    ['two values', '{"note":"a"}{}'],
    ['a byte order mark', '\ufeff{"note":"a"}'],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
  ])('refuses %s as not JSON, quoting nothing', async (_, body) => {
    const fault = await faultOf(post(body));
    expect(fault.code).toBe('http.invalid_json');
    expect(fault.message).not.toContain('marker');
  });

  it.each<[string, string, string, string]>([
    ['null', 'http.invalid_field', '', 'the body must be an object'],
    ['[]', 'http.invalid_field', '', 'the body must be an object'],
    ['{}', 'http.invalid_field', 'note', 'note must be a string'],
    ['{"note":""}', 'http.invalid_field', 'note', 'note must have at least 1 characters'],
    ['{"note":"a","user_id":"v"}', 'http.unknown_field', 'user_id', 'unknown field: user_id'],
    ['{"note":"a","__proto__":{"x":1}}', 'http.unknown_field', '__proto__', 'unknown field: __proto__'],
    ['{"note":"a","queries":[]}', 'http.invalid_field', 'queries', 'queries must have at least 1 items'],
    ['{"note":"a","queries":["a",1]}', 'http.invalid_field', 'queries.1', 'queries.1 must be a string'],
    ['{"note":"a","mode":{"type":"near"}}', 'http.invalid_field', 'mode.lines', 'mode.lines must be a number'],
    ['{"note":"a","mode":"any"}', 'http.invalid_field', 'mode', 'mode must be an object'],
    ['{"note":"a","mode":{"type":"x"}}', 'http.invalid_field', 'mode.type', 'mode.type has none of the allowed forms'],
  ])('refuses %s naming the field', async (body, code, field, message) => {
    const fault = await faultOf(post(body));
    expect(fault).toMatchObject({ code, message });
    expect(fault.details).toMatchObject({ in: 'body', field });
  });

  it('refuses a body whose declared length is over the limit without reading it', async () => {
    const body = new ReadableStream(
      {
        pull() {
          throw new Error('the body was read');
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'content-type': 'application/json', 'content-length': String(BODY_LIMIT_BYTES + 1) };
    expect((await faultOf(post(body, headers))).code).toBe('http.body_too_large');
  });

  it('stops reading an endless body at the limit', async () => {
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks++;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect((await faultOf(post(body))).code).toBe('http.body_too_large');
    expect(chunks).toBeLessThan(20);
  });

  it('takes a body of exactly the limit', async () => {
    const note = 'n'.repeat(BODY_LIMIT_BYTES - '{"note":""}'.length);
    expect(await readJsonBody(post(`{"note":"${note}"}`), schema)).toEqual({ note });
  });

  it('survives JSON as deep as the limit allows', async () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);
    expect((await faultOf(post(deep))).details).toMatchObject({ field: '' });
    expect((await faultOf(post(`{"note":${deep}}`))).details).toMatchObject({ field: 'note' });
  });
});
