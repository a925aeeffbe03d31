import { spawn } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import { REPOSITORY } from './synth.ts';

const ended = z.union([
  z.object({ answer: z.unknown() }),
  z.object({ failure: z.object({ name: z.string(), code: z.optional(z.string()), message: z.string() }) }),
]);

export type BundleEnd = z.output<typeof ended>;

/** Nothing listens there: every call to AWS is refused at once. */
const NOBODY = 'http://127.0.0.1:9';
const MARK = '@@ended ';

/** Loads the bundle as Lambda does, calls its handler once, and prints how that ended. */
const PROBE = `
const [bundle, event] = process.argv.slice(1);
const { handler } = await import(bundle);
const context = { awsRequestId: '0', functionName: 'probe', functionVersion: '1', getRemainingTimeInMillis: () => 60000 };
let end;
try {
  end = { answer: await handler(JSON.parse(event), context) };
} catch (error) {
  end = { failure: { name: error.name, code: error.code, message: String(error.message) } };
}
console.log(${JSON.stringify(MARK)} + JSON.stringify(end));
process.exit(0);
`;

/**
 * Invokes a built bundle in a Node process of its own, with no more than Lambda would give it.
 * @param environment of the function, as the template sets it
 */
export async function invokeBundle(
  codeFolder: string,
  environment: Readonly<Record<string, string>>,
  event: unknown,
): Promise<BundleEnd> {
  const env = {
    ...environment,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'key',
    AWS_ENDPOINT_URL: NOBODY,
    TEMPLATES_FOLDER: join(REPOSITORY, 'layers/templates'),
  };
  const args = ['--input-type=module', '--eval', PROBE, join(codeFolder, 'index.mjs'), JSON.stringify(event)];
  const child = spawn(process.execPath, args, { cwd: codeFolder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const hear = (chunk: Buffer): void => {
    said += chunk.toString();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  await new Promise((resolve) => child.on('close', resolve));
  const line = said.split('\n').find((item) => item.startsWith(MARK));
  if (line === undefined) throw new Error(`the bundle did not get as far as an end:\n${said.slice(-2_000)}`);
  return ended.parse(JSON.parse(line.slice(MARK.length)));
}
