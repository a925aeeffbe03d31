import * as z from 'zod/mini';
import { problemAnswer } from '../http/schema-problem.ts';
import { CONTROL_OPERATIONS } from './control-operations.ts';
import type { Answer, Body, Operation, Parameter, Tag } from './operation.ts';
import { READ_OPERATIONS } from './read-operations.ts';

type Json = Record<string, unknown>;

/** Every operation of the document, in its order. */
export const OPERATIONS: readonly Operation[] = [...READ_OPERATIONS, ...CONTROL_OPERATIONS];

const TAGS: Readonly<Record<Tag, string>> = {
  Reading: 'What an agent asks for, and what it gives back.',
  'Rollouts and threads': 'What was uploaded, what was learned from it, and what a user may do about it.',
  Versions: 'The history of a memory.',
  'Settings and status': 'What may be changed, and how things stand.',
  Leaving: 'Starting anew, and taking everything away.',
};

/** Failures that any operation may answer with: a fault of the request, no identity, too many requests, our own trouble. */
const COMMON_PROBLEMS = [400, 401, 403, 405, 429, 431, 500, 503];
const BODY_PROBLEMS = [413, 415];

/** Of each status that a failure may have: the name of its answer in the document, and what it means. */
const PROBLEMS: Readonly<Record<number, readonly [name: string, text: string]>> = {
  400: ['BadRequest', 'The request is not valid; `detail` names the field and what would be right.'],
  401: ['Unauthorized', 'It is not known who asks.'],
  403: ['Forbidden', 'The caller may not do this.'],
  404: ['NotFound', 'There is no such thing.'],
  405: ['MethodNotAllowed', 'The method is not offered here; `Allow` names those that are.'],
  409: ['Conflict', 'It does not fit the present state.'],
  410: ['Gone', 'It was kept once, and is no longer.'],
  412: ['PreconditionFailed', 'It was changed since the version that the request names.'],
  413: ['ContentTooLarge', 'It is too large; `limit` says how large it may be.'],
  415: ['UnsupportedMediaType', 'The type of the body is not taken.'],
  428: ['PreconditionRequired', 'The request must name a version with `If-Match`.'],
  429: ['TooManyRequests', 'Too many requests, or a limit of money is reached; `Retry-After` says when to ask again.'],
  431: ['HeadersTooLarge', 'The address or the headers are too large.'],
  500: ['InternalServerError', 'A failure on our side; `instance` names it in the logs.'],
  503: ['ServiceUnavailable', 'It cannot be done now; `Retry-After` says when to ask again.'],
};

/**
 * The OpenAPI 3.1 document of the whole API, built from the schemas that check requests and answers. The same operations
 * give the same bytes.
 */
export function buildDocument(operations: readonly Operation[] = OPERATIONS): Json {
  const schemas = new SchemaShelf();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = path;
    path[operation.method.toLowerCase()] = describe(operation, schemas);
  }
  schemas.put('Problem', problemAnswer, 'output');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stillroom',
      version: '1',
      description:
        'Long-term memory for coding agents. Failures are problem details (RFC 9457); clients match on `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative: the document is served by the API that it tells of.
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'A token of your identity provider. A local server asks for none, unless it was started with one.',
        },
      },
      responses: describeFailures(),
      schemas: schemas.all(),
    },
  };
}

/** The document as it is published. */
export function renderDocument(): string {
  return `${JSON.stringify(buildDocument(), null, 2)}\n`;
}

/** Schemas that have a name, each once. */
class SchemaShelf {
  readonly #schemas = new Map<string, { readonly text: string; readonly schema: Json }>();

  /** @throws Error when the name stands for another schema already */
  put(name: string, schema: z.ZodMiniType, io: 'input' | 'output'): Json {
    const made = toSchema(schema, io);
    const text = JSON.stringify(made);
    const known = this.#schemas.get(name);
    if (known !== undefined && known.text !== text) throw new Error(`two schemas are named ${name}`);
    this.#schemas.set(name, { text, schema: made });
    return { $ref: `#/components/schemas/${name}` };
  }

  all(): Json {
    const sorted = [...this.#schemas].sort(([left], [right]) => (left < right ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema]));
  }
}

function toSchema(schema: z.ZodMiniType, io: 'input' | 'output'): Json {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    // The pattern beside the format says the same in 400 characters.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return made;
}

function describe(operation: Operation, schemas: SchemaShelf): Json {
  const parameters = [...(operation.parameters ?? []).map(describeParameter), ...describeQuery(operation.query)];
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    ...(operation.open === true ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined ? {} : { requestBody: describeBody(operation.body, schemas) }),
    responses: { ...describeAnswers(operation.answers, schemas), ...describeProblems(operation) },
  };
}

function describeParameter(parameter: Parameter): Json {
  const { name, description, required } = parameter;
  return { name, in: parameter.in, required, description, schema: toSchema(parameter.schema, 'input') };
}

function describeQuery(query: z.ZodMiniType | undefined): Json[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] }: z.core.JSONSchema.BaseSchema = toSchema(query, 'input');
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function describeBody(body: Body, schemas: SchemaShelf): Json {
  if (body.kind === 'json')
    return {
      required: true,
      content: { 'application/json': { schema: schemas.put(body.name, body.schema, 'input') } },
    };
  const { description, types } = body;
  return { required: true, description, content: Object.fromEntries(types.map((type) => [type, {}])) };
}

function describeAnswers(answers: Readonly<Record<number, Answer>>, schemas: SchemaShelf): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, json, types, headers }]) => {
      const content = {
        ...(json === undefined
          ? {}
          : { 'application/json': { schema: schemas.put(json.name, json.schema, 'output') } }),
        ...Object.fromEntries((types ?? []).map((type) => [type, {}])),
      };
      const described = Object.entries(headers ?? {}).map(([name, text]) => [
        name,
        { description: text, schema: { type: 'string' } },
      ]);
      return [
        status,
        {
          description,
          ...(described.length === 0 ? {} : { headers: Object.fromEntries(described) }),
          ...(Object.keys(content).length === 0 ? {} : { content }),
        },
      ];
    }),
  );
}

function describeProblems(operation: Operation): Json {
  const common = operation.open === true ? [400, 405, 429, 431, 500, 503] : COMMON_PROBLEMS;
  const ofBody = operation.body === undefined ? [] : BODY_PROBLEMS;
  const statuses = [...new Set([...common, ...ofBody, ...(operation.problems ?? [])])].sort((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]));
}

function describeFailures(): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(Object.values(PROBLEMS).map(([name, description]) => [name, { description, content }]));
}

function nameOf(status: number): string {
  const name = PROBLEMS[status]?.[0];
  if (name === undefined) throw new Error(`status ${status} is not described`);
  return name;
}
