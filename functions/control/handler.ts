import { createGatewayHandler } from '../http/gateway-handler.ts';
import { createControlApp } from './app.ts';
import { readEnv } from './env.ts';
import { wireControl } from './wire.ts';

const wired = wireControl(readEnv());

/** Lambda's entry: the control app behind API Gateway. */
export const handler = createGatewayHandler({ ...wired, app: createControlApp(wired) });
