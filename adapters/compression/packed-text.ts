import { gunzipSync, gzipSync } from 'node:zlib';
import { DefectError } from '../../core/errors.ts';
import { LIMITS } from '../../core/settings.ts';

/** A text in gzip, which every supported Node has, and whose checksum tells damage. */
export function packText(text: string): Uint8Array {
  return gzipSync(text);
}

/** @throws DefectError `replay.unreadable` for what is cut, damaged, or expands over any record */
export function unpackText(packed: Uint8Array): string {
  try {
    return gunzipSync(packed, { maxOutputLength: LIMITS.replayBytes }).toString('utf8');
  } catch (cause) {
    throw new DefectError('replay.unreadable', 'the record of a run is cut off or damaged', {
      details: { bytes: packed.length },
      cause,
    });
  }
}
