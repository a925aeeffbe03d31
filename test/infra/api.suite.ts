import { describe, expect, it } from 'vitest';
import { API_ROUTES, DEFAULT_ROUTE, HEALTH_PATH, routeKey, THROTTLES } from '../../infra/routes.ts';
import { controlWorld } from '../functions/control/control-world.ts';
import { readWorld } from '../functions/read/read-world.ts';
import { at, flat, synthStack, tree } from '../support/synth.ts';

const stack = synthStack({
  'jwt-issuer': 'https://id.example',
  'jwt-audience': 'agents,people',
  'user-claim': 'email',
});
const iam = synthStack({ auth: 'iam' });

function authorization(of: typeof stack): ReadonlyMap<string, unknown> {
  return new Map(
    of
      .of('AWS::ApiGatewayV2::Route')
      .map((route) => [String(route.properties['RouteKey']), route.properties['AuthorizationType']]),
  );
}

/** A pattern without the names of its parameters, as Hono or API Gateway writes it. */
function shapeOf(path: string): string {
  return path.replace(/:\w+\{\.\+\}|\{\w+\+\}/g, '{+}').replace(/:\w+|\{\w+\}/g, '{}');
}

describe('the API', () => {
  it('serves exactly the routes of the table, each by one function', () => {
    expect([...authorization(stack).keys()].sort()).toEqual([DEFAULT_ROUTE, ...API_ROUTES.map(routeKey)].sort());
    expect(new Set(API_ROUTES.map(routeKey)).size).toBe(API_ROUTES.length);
    for (const route of stack.of('AWS::ApiGatewayV2::Route')) {
      const integration = flat(at(route.properties, 'Target')).replace(/^integrations\/<(.*)>$/, '$1');
      const target = flat(
        stack.one('AWS::ApiGatewayV2::Integration', new RegExp(`^${integration}$`)).properties['IntegrationUri'],
      );
      const expected = API_ROUTES.find((item) => routeKey(item) === route.properties['RouteKey']);
      expect(target).toBe(`<${stack.fn(expected?.function ?? 'read').id}.Arn>`);
    }
  });

  it('asks for a JWT on every route but health', () => {
    for (const [key, kind] of authorization(stack))
      expect([key, kind]).toEqual([key, key === `GET ${HEALTH_PATH}` ? 'NONE' : 'JWT']);
    const authorizer = stack.one('AWS::ApiGatewayV2::Authorizer');
    expect(authorizer.properties).toMatchObject({
      AuthorizerType: 'JWT',
      IdentitySource: ['$request.header.Authorization'],
      JwtConfiguration: { Audience: ['agents', 'people'], Issuer: 'https://id.example' },
    });
    for (const route of stack.of('AWS::ApiGatewayV2::Route'))
      if (route.properties['AuthorizationType'] === 'JWT')
        expect(flat(route.properties['AuthorizerId'])).toBe(`<${authorizer.id}>`);
  });

  it('asks for a signature on every route but health where a back end speaks for its users', () => {
    for (const [key, kind] of authorization(iam))
      expect([key, kind]).toEqual([key, key === `GET ${HEALTH_PATH}` ? 'NONE' : 'AWS_IAM']);
    expect(iam.of('AWS::ApiGatewayV2::Authorizer')).toEqual([]);
  });

  it.each(['read', 'control', 'mcp'])('tells %s how callers were authorised', (name) => {
    const jwt = tree(at(stack.fn(name).properties, 'Environment', 'Variables'));
    expect(jwt).toMatchObject({ AUTH_MODE: 'jwt', USER_CLAIM: 'email' });
    const signed = tree(at(iam.fn(name).properties, 'Environment', 'Variables'));
    expect(signed['AUTH_MODE']).toBe('iam');
    expect(signed['USER_CLAIM']).toBeUndefined();
  });

  it('throttles each route by itself, and what costs money the most', () => {
    const settings = tree(stack.one('AWS::ApiGatewayV2::Stage').properties['RouteSettings']);
    expect(Object.keys(settings).sort()).toEqual([DEFAULT_ROUTE, ...API_ROUTES.map(routeKey)].sort());
    for (const route of API_ROUTES) {
      const { rateLimit, burstLimit } = THROTTLES[route.throttle];
      expect(settings[routeKey(route)]).toMatchObject({
        ThrottlingRateLimit: rateLimit,
        ThrottlingBurstLimit: burstLimit,
      });
    }
    expect(THROTTLES.heavy.rateLimit).toBeLessThan(THROTTLES.control.rateLimit);
  });

  it.each([
    ['read', readWorld().app.routes],
    ['control', controlWorld().app.routes],
  ] as const)('leads to every route that the app of %s serves, and to no other', (name, served) => {
    const own = served
      .filter((route) => route.method !== 'ALL')
      .map((route) => `${route.method} ${shapeOf(route.path)}`);
    expect(own.length).toBeGreaterThan(5);
    const routed = API_ROUTES.filter((route) => route.function === name).map(
      (route) => `${route.method} ${shapeOf(route.path)}`,
    );
    // The local server takes notes with the app that reads.
    for (const route of own) if (name !== 'read' || !route.endsWith('/notes')) expect(routed).toContain(route);
    for (const route of routed)
      expect([...own, ...(name === 'control' ? ['POST /v1/memory/notes'] : [])]).toContain(route);
  });

  it('may call each function by its routes, and read by the one for all the rest, whose ARN is a step shorter', () => {
    const api = `<${stack.one('AWS::ApiGatewayV2::Api').id}>`;
    const arn = (rest: string): string =>
      `arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:${api}/${rest}`;
    const sources = (name: string): readonly string[] =>
      stack
        .of('AWS::Lambda::Permission')
        .filter((item) => flat(item.properties['FunctionName']) === `<${stack.fn(name).id}.Arn>`)
        .map((item) => flat(item.properties['SourceArn']))
        .sort();
    expect(sources('read')).toEqual([arn('$default/$default'), arn('*/*/*')]);
    expect(sources('control')).toEqual([arn('*/*/*')]);
    expect(sources('mcp')).toEqual([arn('*/*/*')]);
  });

  it('routes notes to control, since read may not write a version', () => {
    expect(API_ROUTES.find((route) => route.path === '/v1/memory/notes')?.function).toBe('control');
  });

  it('logs that a route was asked, and nothing that tells by whom or for what', () => {
    const format = String(at(stack.one('AWS::ApiGatewayV2::Stage').properties, 'AccessLogSettings', 'Format'));
    expect(
      Object.values(tree(JSON.parse(format)))
        .map(String)
        .sort(),
    ).toEqual([
      '$context.error.responseType',
      '$context.integrationLatency',
      '$context.integrationStatus',
      '$context.requestId',
      '$context.requestTimeEpoch',
      '$context.responseLatency',
      '$context.responseLength',
      '$context.routeKey',
      '$context.status',
    ]);
  });

  it('gives up after its functions do', () => {
    for (const item of stack.of('AWS::ApiGatewayV2::Integration')) {
      expect(item.properties).toMatchObject({ PayloadFormatVersion: '2.0', TimeoutInMillis: 29_000 });
    }
    for (const name of ['read', 'control', 'mcp'])
      expect(Number(stack.fn(name).properties['Timeout'])).toBeLessThanOrEqual(29);
  });

  it('opens its stage when every route is there', () => {
    const waits = stack.one('AWS::ApiGatewayV2::Stage').whole['DependsOn'];
    for (const route of stack.of('AWS::ApiGatewayV2::Route')) expect(waits).toContain(route.id);
  });
});
