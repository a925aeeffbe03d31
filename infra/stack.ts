import { Annotations, CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { type DeployConfig, NO_ISSUER } from './config.ts';
import { Alarms } from './constructs/alarms.ts';
import { ApiFunctions } from './constructs/api-functions.ts';
import { Consolidation } from './constructs/consolidation.ts';
import { FrontDoor } from './constructs/http-api.ts';
import { ModelKey } from './constructs/model.ts';
import { Outcomes } from './constructs/outcomes.ts';
import { RolloutIntake } from './constructs/rollout-intake.ts';
import type { StageScope } from './constructs/stage-scope.ts';
import { Storage } from './constructs/storage.ts';
import { Sweep } from './constructs/sweep.ts';
import { StillroomTable } from './constructs/table.ts';
import { TemplatesLayer } from './constructs/templates-layer.ts';
import { createDashboard } from './dashboard.ts';

/** One deployment of Stillroom: everything of one stage, in one account and region. */
export class StillroomStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps & { readonly config: DeployConfig }) {
    const { config, ...rest } = props;
    super(scope, id, {
      ...rest,
      description: `Stillroom, stage ${config.stage}`,
      terminationProtection: config.stage !== 'dev',
    });
    warnWithoutIssuer(this, config);
    Tags.of(this).add('application', 'stillroom');
    Tags.of(this).add('stage', config.stage);

    const key = config.kmsKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', config.kmsKeyArn);
    const alarms = new Alarms(this, 'Alarms', { config });
    const stage: StageScope = { config, key, alarms };

    const storage = new Storage(this, 'Storage', stage);
    const table = new StillroomTable(this, 'Items', stage);
    const templates = new TemplatesLayer(this, 'Templates', stage).layer;
    const { secretArn } = new ModelKey(this, 'ModelKey', stage);
    const frontDoor = new FrontDoor(this, 'FrontDoor', stage);

    const shared = { stage, storage, table, templates };
    const intake = new RolloutIntake(this, 'Intake', { ...shared, secretArn });
    const consolidation = new Consolidation(this, 'Consolidation', { ...shared, secretArn });
    const handedOn = { rollouts: intake.queue, consolidationArn: consolidation.startArn };
    const sweep = new Sweep(this, 'Sweep', { stage, table, ...handedOn });
    const api = new ApiFunctions(this, 'Api', { ...shared, ...handedOn, apiUrl: frontDoor.url });
    frontDoor.serve({ read: api.read.function, control: api.control.function, mcp: api.mcp.function });

    const outcomes = new Outcomes(this, 'Outcomes', {
      stage,
      phase1Logs: intake.phase1.logGroup,
      phase2Logs: consolidation.phase2.logGroup,
    });
    createDashboard(this, { stage, table, intake, consolidation, sweep, api, frontDoor, outcomes });
    this.#tell({ storage, table, frontDoor, secretArn });
  }

  /** What an operator needs after a deployment. */
  #tell(made: { storage: Storage; table: StillroomTable; frontDoor: FrontDoor; secretArn: string }): void {
    const outputs = {
      ApiUrl: made.frontDoor.url,
      RolloutsBucket: made.storage.rollouts.bucketName,
      MemoriesBucket: made.storage.memories.bucketName,
      TableName: made.table.table.tableName,
      ModelSecretArn: made.secretArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/** `npm run deploy` is strict: a warning stops it. A template can be made and looked at without an issuer, but not deployed. */
function warnWithoutIssuer(stack: Stack, config: DeployConfig): void {
  if (config.identity.mode !== 'jwt' || config.identity.issuer !== NO_ISSUER) return;
  Annotations.of(stack).addWarningV2(
    'stillroom:no-issuer',
    'context jwt-issuer is not set: no token can be verified, so this template is not to be deployed. Set jwt-issuer and jwt-audience, or auth=iam.',
  );
}
