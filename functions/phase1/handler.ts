import { createHandler } from './create-handler.ts';
import { readEnv } from './env.ts';
import { wire } from './wire.ts';

/** Phase 1 on the queue `rollouts`: an upload puts its thread into its user's turn, and a thread that is due becomes a stage-one output. */
export const handler = createHandler(wire(readEnv()));
