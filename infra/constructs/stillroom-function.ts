import { ArnFormat, type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type DurableConfig, type ILayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, type NodejsFunctionProps, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  BUNDLE_ALIASES,
  BUNDLE_BANNER,
  BUNDLE_MAIN_FIELDS,
  BUNDLE_TARGET,
  type FunctionName,
  handlerFile,
  REPOSITORY,
} from '../bundling.ts';
import { acknowledgeWildcard } from './findings.ts';
import { type Grant, useKey, writeLogs } from './grants.ts';
import { dataRemoval, type StageScope, stageName } from './stage-scope.ts';

export interface StillroomFunctionProps {
  readonly stage: StageScope;
  readonly name: FunctionName;
  readonly description: string;
  readonly memoryMb: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  readonly grants: readonly Grant[];
  readonly layers?: readonly ILayerVersion[];
  readonly durable?: DurableConfig;
  /** Where an asynchronous event goes that failed. */
  readonly deadLetters?: IQueue;
}

/**
 * One of our functions: bundled from its folder, with a role of its own that holds exactly the statements given, and a log
 * group whose lines do not live for ever.
 */
export class StillroomFunction extends Construct {
  readonly function: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: StillroomFunctionProps) {
    super(scope, id);
    const { stage, name } = props;
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: stage.config.logDays,
      removalPolicy: dataRemoval(stage.config),
      ...(stage.key ? { encryptionKey: stage.key } : {}),
    });
    this.function = new NodejsFunction(this, 'Function', {
      ...BUNDLED,
      functionName: stageName(stage.config, name),
      description: props.description,
      entry: handlerFile(name),
      memorySize: props.memoryMb,
      timeout: props.timeout,
      // A role that the CDK adds nothing to: what stands in `grants` is all there is.
      role: createRole(this, props, this.logGroup).withoutPolicyUpdates(),
      logGroup: this.logGroup,
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN }, // runs in flight end on the code they began with
      layers: [...(props.layers ?? [])],
      environment: {
        ...RUNTIME_SETTINGS,
        POWERTOOLS_SERVICE_NAME: name,
        STAGE: stage.config.stage,
        ...props.environment,
      },
      ...(stage.key ? { environmentEncryption: stage.key } : {}),
      ...(props.durable ? { durableConfig: props.durable } : {}),
      ...(props.deadLetters ? { deadLetterQueue: props.deadLetters } : {}),
    });
    stage.alarms.addFunction(this, name, this.function);
  }
}

/** Stack traces that name our sources; the map is read only when an error is printed. */
const RUNTIME_SETTINGS = { NODE_OPTIONS: '--enable-source-maps', POWERTOOLS_METRICS_NAMESPACE: 'Stillroom' };

const BUNDLED = {
  handler: 'handler',
  runtime: Runtime.NODEJS_24_X,
  architecture: Architecture.ARM_64,
  projectRoot: REPOSITORY,
  depsLockFilePath: `${REPOSITORY}/package-lock.json`,
  awsSdkConnectionReuse: false, // the default of SDK 3; no variable needed
  bundling: {
    format: OutputFormat.ESM,
    target: BUNDLE_TARGET,
    mainFields: [...BUNDLE_MAIN_FIELDS],
    banner: BUNDLE_BANNER,
    minify: true,
    sourceMap: true,
    sourcesContent: false,
    logLevel: LogLevel.WARNING,
    externalModules: [], // the SDK of the lock file, not the one that the runtime happens to hold
    esbuildArgs: Object.fromEntries(Object.entries(BUNDLE_ALIASES).map(([name, stub]) => [`--alias:${name}`, stub])),
  },
} satisfies NodejsFunctionProps;

function createRole(scope: Construct, { stage, name, grants }: StillroomFunctionProps, logGroup: LogGroup): Role {
  const all = [...grants, writeLogs(logGroup), ...(stage.key ? [useKey(stage.key)] : [])];
  const role = new Role(scope, 'Role', {
    description: `What ${stageName(stage.config, name)} may do`,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    inlinePolicies: { [name]: new PolicyDocument({ statements: all.map(toStatement) }) },
  });
  for (const { resources, wildcard } of all) {
    for (const resource of resources) if (wildcard !== undefined) acknowledgeWildcard(role, resource, wildcard);
  }
  return role;
}

function toStatement({ sid, actions, resources, conditions }: Grant): PolicyStatement {
  return new PolicyStatement({
    sid,
    effect: Effect.ALLOW,
    actions: [...actions],
    resources: [...resources],
    ...(conditions ? { conditions } : {}),
  });
}

/** The ARN of a function by its name: a policy that uses it does not have to wait for the function. */
export function functionArn(scope: Construct, stage: StageScope, name: FunctionName): string {
  return Stack.of(scope).formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName: stageName(stage.config, name),
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
