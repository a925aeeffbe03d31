import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ConfigError, readConfig } from './config.ts';
import { StillroomStack } from './stack.ts';

/** Run by the CDK (`cdk.json`): one stack of the stage that the context names, checked by cdk-nag. */
const app = new App();
try {
  const config = readConfig(app.node.getAllContext());
  const { account, region } = config;
  new StillroomStack(app, `Stillroom-${config.stage}`, {
    config,
    ...(region === undefined ? {} : { env: { region, ...(account === undefined ? {} : { account }) } }),
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
