import { RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { DeployConfig } from '../config.ts';
import type { Alarms } from './alarms.ts';

/** What every construct of a stage is given. */
export interface StageScope {
  readonly config: DeployConfig;
  /** The customer's own key, where there is one. */
  readonly key: IKey | undefined;
  readonly alarms: Alarms;
}

/** Name of something that holds no data, so that stages stand side by side in one account. */
export function stageName(config: DeployConfig, part: string): string {
  return `stillroom-${config.stage}-${part}`;
}

/** Data outlives its stack, unless somebody asked otherwise for the stage `dev`. */
export function dataRemoval(config: DeployConfig): RemovalPolicy {
  return config.destroyData ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;
}
