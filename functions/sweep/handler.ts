import { createHandler } from './create-handler.ts';
import { readEnv } from './env.ts';
import { wire } from './wire.ts';

/** Hands on what is due, whenever it is called. */
export const handler = createHandler(wire(readEnv()));
