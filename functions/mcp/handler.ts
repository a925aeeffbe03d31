import { createGatewayHandler } from '../http/gateway-handler.ts';
import { createMcpApp } from './app.ts';
import { readEnv } from './env.ts';
import { wireMcp } from './wire.ts';

const wired = wireMcp(readEnv());

/** Lambda's entry: the MCP endpoint behind API Gateway. */
export const handler = createGatewayHandler({ ...wired, app: createMcpApp(wired) });
