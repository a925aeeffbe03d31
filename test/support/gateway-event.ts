/** Who API Gateway says is calling. */
export type Caller =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'jwt'; readonly claims: Readonly<Record<string, unknown>> }
  | { readonly kind: 'iam' };

export interface GatewayAsk {
  readonly method?: string;
  /** As the client sent it, encoded, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly caller?: Caller;
  readonly stage?: string;
}

/** An event as an HTTP API records it (payload format 2.0): the path is decoded, the query is not, names are lower-case. */
export function gatewayEvent(ask: GatewayAsk) {
  const [path = '/', query] = ask.path.split('?', 2);
  const rawPath = decodeURIComponent(path);
  const method = ask.method ?? 'GET';
  const bytes = ask.body === undefined ? undefined : Buffer.from(ask.body);
  const isText = typeof ask.body === 'string';
  return {
    version: '2.0',
    routeKey: `${method} ${path}`,
    rawPath,
    rawQueryString: query ?? '',
    headers: {
      accept: '*/*',
      host: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
      'user-agent': 'curl/8.14.1',
      'x-amzn-trace-id': 'Root=1-692c0b1e-0a1b2c3d4e5f60718293a4b5',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
      ...ask.headers,
    },
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      ...authorizer(ask.caller ?? { kind: 'nobody' }),
      domainName: 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com',
      domainPrefix: 'a1b2c3d4e5',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'curl/8.14.1' },
      requestId: 'Uz1q2j4pFiAEJ5A=',
      routeKey: `${method} ${path}`,
      stage: ask.stage ?? '$default',
      time: '30/Nov/2025:08:00:00 +0000',
      timeEpoch: 1_764_489_600_000,
    },
    ...(bytes === undefined ? {} : { body: bytes.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: bytes !== undefined && !isText,
  };
}

/** A caller whose token names this user in `sub`. */
export function tokenOf(userId: unknown): Caller {
  return { kind: 'jwt', claims: { iss: 'https://id.example.com/', aud: 'stillroom', exp: '1764493200', sub: userId } };
}

function authorizer(caller: Caller): object {
  switch (caller.kind) {
    case 'nobody':
      return {};
    case 'jwt':
      return { authorizer: { jwt: { claims: caller.claims, scopes: null } } };
    case 'iam':
      return {
        authorizer: {
          iam: {
            accessKey: 'key-id',
            accountId: '123456789012',
            callerId: 'AROAEXAMPLE:backend',
            cognitoIdentity: null,
            principalOrgId: 'o-example',
            userArn: 'arn:aws:sts::123456789012:assumed-role/backend/session',
            userId: 'AROAEXAMPLE:backend',
          },
        },
      };
  }
}
