import { join } from 'node:path';
import { Architecture, Code, LayerVersion, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { REPOSITORY } from '../bundling.ts';
import { type StageScope, stageName } from './stage-scope.ts';

/** What the model is told, apart from the code: `/opt/templates/<name>.md`. */
export class TemplatesLayer extends Construct {
  readonly layer: LayerVersion;

  constructor(scope: Construct, id: string, stage: StageScope) {
    super(scope, id);
    this.layer = new LayerVersion(this, 'Layer', {
      layerVersionName: stageName(stage.config, 'templates'),
      description: 'Prompt templates, Markdown',
      code: Code.fromAsset(join(REPOSITORY, 'layers')),
      compatibleRuntimes: [Runtime.NODEJS_24_X],
      compatibleArchitectures: [Architecture.ARM_64],
    });
  }
}
