import { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { DefectError } from '../../core/errors.ts';
import { attempt, type ObjectFailureCode, objectFailure } from './object-failure.ts';

/**
 * The chunks of an answered object. Whoever stops early gives the socket back, since leaving the loop destroys the body; one that
 * nobody reads on would hold its socket for good (user case C30).
 */
export async function* bodyChunks(body: Readable, failureCode: ObjectFailureCode): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) if (chunk instanceof Uint8Array) yield chunk;
  } catch (cause) {
    throw objectFailure(failureCode, cause);
  }
}

/** The whole content of an answered object. @throws UnavailableError with the code when the connection breaks */
export async function readBody(answer: GetObjectCommandOutput, failureCode: ObjectFailureCode): Promise<Uint8Array> {
  return attempt(failureCode, async () => bodyOf(answer).transformToByteArray());
}

/** Gives back the socket of an answer whose content is not wanted. */
export function discardBody(answer: GetObjectCommandOutput): void {
  bodyOf(answer).destroy();
}

/** The body as Node has it. */
export function bodyOf(answer: GetObjectCommandOutput): Readable & { transformToByteArray(): Promise<Uint8Array> } {
  const { Body } = answer;
  if (Body instanceof Readable) return Body;
  throw new DefectError('s3.no_body', 'the object store answered without a body');
}
