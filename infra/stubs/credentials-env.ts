/** Takes the place of `@aws-sdk/credential-provider-node` in the bundles: Lambda gives credentials by the environment alone. */
export interface EnvironmentCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** @returns a provider that reads at each call. @throws Error when the environment holds no credentials */
export function defaultProvider(): () => Promise<EnvironmentCredentials> {
  return async () => {
    const accessKeyId = process.env['AWS_ACCESS_KEY_ID'];
    const secretAccessKey = process.env['AWS_SECRET_ACCESS_KEY'];
    const sessionToken = process.env['AWS_SESSION_TOKEN'];
    if (!accessKeyId || !secretAccessKey) throw new Error('the environment holds no AWS credentials');
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
  };
}
