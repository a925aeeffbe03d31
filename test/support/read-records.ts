import { readRollout } from '../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../core/rollout/rollout.ts';
import { encodeUtf8 } from '../../core/text.ts';
import { toChunks } from './rollout-builder.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type ReadRollout = Extract<RolloutReading, { kind: 'read' }>;

/** One record a line. */
export function toLines(...records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

export function readText(text: string | Uint8Array, chunkBytes = 4_099): Promise<RolloutReading> {
  const bytes = typeof text === 'string' ? encodeUtf8(text) : text;
  return readRollout(toChunks(bytes, chunkBytes), { evidenceTokens: 10_000 });
}

/** @throws Error with the reason where the rollout is not read */
export async function understand(text: string | Uint8Array, chunkBytes?: number): Promise<ReadRollout> {
  const reading = await readText(text, chunkBytes);
  if (reading.kind !== 'read') throw new Error(`${reading.reason}: ${reading.detail}`);
  return reading;
}

/** The labels of the rows, in order. */
export function labelsOf({ evidence }: ReadRollout): string[] {
  return [...evidence.matchAll(/^\[((?:human|assistant|other|harness|tool)[a-z ]*)\]$/gm)].map(
    (match) => match[1] ?? '',
  );
}
