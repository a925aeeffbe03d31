import { Duration, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CfnStage,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { IdentityConfig } from '../config.ts';
import {
  API_ROUTES,
  type ApiRoute,
  DEFAULT_ROUTE,
  HEALTH_PATH,
  routeKey,
  THROTTLES,
  type ThrottleName,
} from '../routes.ts';
import { acknowledge } from './findings.ts';
import { dataRemoval, type StageScope, stageName } from './stage-scope.ts';

/**
 * The front door: an HTTP API whose every route but health asks for a verified identity. Made before the functions behind it,
 * which are told its address; `serve` puts them in.
 */
export class FrontDoor extends Construct {
  readonly api: HttpApi;
  readonly #stage: StageScope;

  constructor(scope: Construct, id: string, stage: StageScope) {
    super(scope, id);
    this.#stage = stage;
    this.api = new HttpApi(this, 'Api', {
      apiName: stageName(stage.config, 'api'),
      description: 'Stillroom: memory for hosted coding agents',
      createDefaultStage: false,
    });
  }

  /** The address that clients use, without a slash at its end. */
  get url(): string {
    return this.api.apiEndpoint;
  }

  /** Routes every path to its function. */
  serve(functions: Readonly<Record<ApiRoute['function'], IFunction>>): void {
    const authorizer = authorizerOf(this.#stage.config.identity);
    const integrations = {
      read: integrationOf('Read', functions.read),
      control: integrationOf('Control', functions.control),
      mcp: integrationOf('Mcp', functions.mcp),
    };
    const routes = API_ROUTES.map(
      (route) =>
        new HttpRoute(this, routeId(route), {
          httpApi: this.api,
          routeKey: HttpRouteKey.with(route.path, HttpMethod[route.method]),
          integration: integrations[route.function],
          authorizer: route.path === HEALTH_PATH ? new HttpNoneAuthorizer() : authorizer,
        }),
    );
    // Other methods and paths are answered by an app, in the form that clients know: HEAD, 404, 405. To callers with a token only.
    routes.push(
      new HttpRoute(this, 'Default', {
        httpApi: this.api,
        routeKey: HttpRouteKey.DEFAULT,
        integration: integrations.read,
        authorizer,
      }),
    );
    this.#permitDefault(functions.read);
    const health = routes.find((route) => route.path === HEALTH_PATH);
    if (health)
      acknowledge(health, { 'AwsSolutions-APIG4': 'Health tells that the API answers; it touches no store.' });
    this.#openStage(routes);
  }

  /**
   * A call by `$default` has no method and no path: its ARN is a step shorter than the pattern which the integration permits
   * (stage, method, path).
   */
  #permitDefault(target: IFunction): void {
    target.addPermission('DefaultRoute', {
      scope: this,
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: Stack.of(this).formatArn({
        service: 'execute-api',
        resource: this.api.apiId,
        resourceName: `${STAGE_NAME}/${DEFAULT_ROUTE}`,
      }),
    });
  }

  #openStage(routes: readonly HttpRoute[]): void {
    const { config, key, alarms } = this.#stage;
    const logGroup = new LogGroup(this, 'AccessLogs', {
      retention: config.logDays,
      removalPolicy: dataRemoval(config),
      ...(key ? { encryptionKey: key } : {}),
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: STAGE_NAME,
      autoDeploy: true,
      detailedMetricsEnabled: true,
      throttle: THROTTLES.control,
      accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: ACCESS_LOG },
    });
    const resource = stage.node.defaultChild;
    if (!(resource instanceof CfnStage)) throw new Error('the stage has no resource');
    resource.routeSettings = Object.fromEntries([
      ...API_ROUTES.map((route) => [routeKey(route), settingsOf(route.throttle)]),
      [DEFAULT_ROUTE, settingsOf('control')],
    ]);
    for (const route of routes) resource.node.addDependency(route);
    alarms.add(this, 'api-errors', {
      metric: stage.metricServerError({ period: Duration.minutes(5), statistic: Stats.SUM }),
      above: 5,
      periods: 2,
      runbook: 'The API answers 5xx',
    });
  }
}

/** The stage without a name in its address. */
const STAGE_NAME = '$default';

/** What was asked, in what kind, and how it went: no address, no user, no path with a name in it, no query. */
const ACCESS_LOG = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTimeEpoch',
    route: '$context.routeKey',
    status: '$context.status',
    bytes: '$context.responseLength',
    latencyMs: '$context.responseLatency',
    integrationMs: '$context.integrationLatency',
    integrationStatus: '$context.integrationStatus',
    error: '$context.error.responseType',
  }),
);

function authorizerOf(identity: IdentityConfig): IHttpRouteAuthorizer {
  if (identity.mode === 'iam') return new HttpIamAuthorizer();
  return new HttpJwtAuthorizer('Users', identity.issuer, { jwtAudience: [...identity.audience] });
}

/** API Gateway gives up after 30 s whatever the function does (user case C18). */
function integrationOf(id: string, target: IFunction): HttpLambdaIntegration {
  return new HttpLambdaIntegration(id, target, { timeout: Duration.seconds(29), scopePermissionToRoute: false });
}

/** Written as CloudFormation names them: the CDK passes these settings on as they are. */
function settingsOf(throttle: ThrottleName): Readonly<Record<string, number | boolean>> {
  const { rateLimit, burstLimit } = THROTTLES[throttle];
  return { ThrottlingRateLimit: rateLimit, ThrottlingBurstLimit: burstLimit, DetailedMetricsEnabled: true };
}

function routeId(route: ApiRoute): string {
  const words = route.path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return [route.method, ...words].map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()).join('');
}
