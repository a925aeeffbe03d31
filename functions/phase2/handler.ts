import { createHandler } from './create-handler.ts';
import { readEnv } from './env.ts';
import { wire } from './wire.ts';

/** One consolidation of one user: `{ "user_key", "due_at", "immediate" }`, as a durable execution. */
export const handler = createHandler(wire(readEnv()));
