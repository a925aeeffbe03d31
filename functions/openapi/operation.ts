import type * as z from 'zod/mini';
import type { Route } from '../http/create-app.ts';

/** Where an operation stands in the document and on the page. */
export type Tag = 'Reading' | 'Rollouts and threads' | 'Versions' | 'Settings and status' | 'Leaving';

/** One operation of the published document, told with the very schemas that check it. */
export interface Operation {
  readonly method: Route['method'];
  /** As OpenAPI writes it: `{name}` is one parameter of the path, and may hold slashes where `parameters` says so. */
  readonly path: `/${string}`;
  readonly tag: Tag;
  /** Name of the operation for generated clients, unique. */
  readonly id: string;
  readonly summary: string;
  /** What a caller must know that no schema tells. Markdown. */
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly query?: z.ZodMiniType;
  readonly body?: Body;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of failure that belong to this operation; those of every operation are added. */
  readonly problems?: readonly number[];
  /** True: no token is asked for. */
  readonly open?: boolean;
}

export interface Parameter {
  readonly in: 'path' | 'header';
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: z.ZodMiniType;
}

/** A JSON body by its schema, or bytes of these types. */
export type Body =
  | { readonly kind: 'json'; readonly name: string; readonly schema: z.ZodMiniType }
  | { readonly kind: 'bytes'; readonly description: string; readonly types: readonly string[] };

export interface Answer {
  readonly description: string;
  /** Of a JSON answer; `name` is that of the schema in the document, the same name for the same schema. */
  readonly json?: { readonly name: string; readonly schema: z.ZodMiniType };
  /** Types of answers that are no JSON. */
  readonly types?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}
