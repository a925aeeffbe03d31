import { createHandler } from './create-handler.ts';
import { readEnv } from './env.ts';
import { wire } from './wire.ts';

/** Phase 1 on the queue `rollouts`: an event of S3, or a thread that is due, becomes a stage-one output. */
export const handler = createHandler(wire(readEnv()));
