/** One route of the API, by the function that serves it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As API Gateway writes it: `{name}` one step, `{name+}` the rest. */
  readonly path: string;
  readonly function: 'read' | 'control' | 'mcp';
  readonly throttle: ThrottleName;
}

export interface Throttle {
  /** Requests a second, of all users together. */
  readonly rateLimit: number;
  readonly burstLimit: number;
}

/** A storm on one route must not take the others down with it. */
export const THROTTLES = {
  health: { rateLimit: 20, burstLimit: 40 },
  read: { rateLimit: 1_000, burstLimit: 2_000 },
  write: { rateLimit: 200, burstLimit: 400 },
  control: { rateLimit: 100, burstLimit: 200 },
  /** Starts work that costs money or takes long. */
  heavy: { rateLimit: 20, burstLimit: 40 },
} as const satisfies Record<string, Throttle>;

export type ThrottleName = keyof typeof THROTTLES;

/** The only route without a caller's identity: it touches no store. */
export const HEALTH_PATH = '/healthz';

/** Whatever is no route of the table, as API Gateway writes it. */
export const DEFAULT_ROUTE = '$default';

const read = on('read');
const control = on('control');
const mcp = on('mcp');

/**
 * Every route of api.md that a function serves: a path is added with what answers it. Notes are served by `control`, not by `read`: a note is a small version, and `read` may not write
 * memories (docs/decisions/0009-infrastructure.md).
 */
export const API_ROUTES: readonly ApiRoute[] = [
  read('health', `GET ${HEALTH_PATH}`),
  read('read', 'GET /v1/memory'),
  read('read', 'GET /v1/memory/files'),
  read('read', 'GET /v1/memory/files/{path+}'),
  read('read', 'POST /v1/memory/search'),
  read('write', 'POST /v1/citations'),
  read('read', 'GET /v1/status'),
  mcp('read', 'POST /mcp'),
  mcp('read', 'GET /mcp'),
  mcp('read', 'DELETE /mcp'),
  control('write', 'POST /v1/memory/notes'),
  control('write', 'POST /v1/rollouts'),
  control('write', 'PUT /v1/rollouts/{thread_id}'),
  control('control', 'GET /v1/threads'),
  control('control', 'GET /v1/threads/{id}'),
  control('control', 'PATCH /v1/threads/{id}'),
  control('control', 'DELETE /v1/threads/{id}'),
  control('heavy', 'POST /v1/threads/{id}/extract'),
  control('control', 'GET /v1/settings'),
  control('control', 'PATCH /v1/settings'),
  control('heavy', 'POST /v1/consolidations'),
  control('control', 'GET /v1/consolidations/{id}'),
  control('control', 'GET /v1/memory/versions'),
  control('control', 'GET /v1/memory/versions/{n}'),
  control('heavy', 'GET /v1/memory/versions/{n}/diff'),
  control('heavy', 'GET /v1/memory/versions/{n}/replay'),
  control('heavy', 'POST /v1/memory/versions/{n}/restore'),
  control('write', 'PUT /v1/memory/files/{path+}'),
  control('write', 'DELETE /v1/memory/files/{path+}'),
  control('heavy', 'POST /v1/redrive'),
  control('heavy', 'POST /v1/reset'),
  control('heavy', 'POST /v1/erase'),
  control('read', 'GET /openapi.json'),
  control('read', 'GET /docs'),
];

/** The key that API Gateway knows a route by. */
export function routeKey(route: ApiRoute): string {
  return `${route.method} ${route.path}`;
}

type Line = `${ApiRoute['method']} /${string}`;

function on(name: ApiRoute['function']): (throttle: ThrottleName, line: Line) => ApiRoute {
  return (throttle, line) => {
    const [method, path] = split(line);
    return { method, path, function: name, throttle };
  };
}

function split(line: Line): [ApiRoute['method'], string] {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)
    if (line.startsWith(`${method} `)) return [method, line.slice(method.length + 1)];
  throw new Error(`not a route: ${line}`);
}
