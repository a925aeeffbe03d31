import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import * as notes from '../../../functions/http/schema-notes.ts';
import * as problem from '../../../functions/http/schema-problem.ts';
import * as citations from '../../../functions/read/schema-citations.ts';
import * as files from '../../../functions/read/schema-files.ts';
import * as memory from '../../../functions/read/schema-memory.ts';
import * as status from '../../../functions/read/schema-status.ts';

const shapes = Object.entries({ ...problem, ...citations, ...files, ...memory, ...notes, ...status });

describe('the wire schemas', () => {
  it.each(shapes)('%s can be told as JSON Schema, as an OpenAPI document needs it', (_, shape) => {
    const schema = 'schema' in shape ? shape.schema : shape;
    expect(z.toJSONSchema(schema)).toMatchObject({ type: expect.stringMatching(/^(object|string)$/) });
  });

  const queries = Object.entries({ ...files, ...memory }).flatMap(([name, shape]) =>
    'integers' in shape ? [[name, shape] as const] : [],
  );
  it.each(queries)('%s reads as numbers just the parameters that are whole numbers', (_, shape) => {
    const numeric = Object.entries(z.toJSONSchema(shape.schema).properties ?? {}).filter(
      ([, property]) => typeof property === 'object' && property.type === 'integer',
    );
    expect(shape.integers.toSorted()).toEqual(numeric.map(([name]) => name).sort());
  });
});
