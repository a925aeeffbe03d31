import { createGatewayHandler } from '../http/gateway-handler.ts';
import { createReadApp } from './app.ts';
import { readEnv } from './env.ts';
import { wireRead } from './wire.ts';

const wired = wireRead(readEnv());

/** Lambda's entry: the read app behind API Gateway. */
export const handler = createGatewayHandler({ ...wired, app: createReadApp(wired) });
