import type { MemoryStore } from '../ports/memory-store.ts';

type Manifests = Pick<MemoryStore, 'manifest'>;

/** Manifests under way at once: history is walked link by link, and numbers have few gaps. */
const WIDTH = 16;

/**
 * The same manifests, with those of the numbers below each one asked for along with it. For walking down a long history of one
 * user, in which a store that takes 30 ms an answer would be asked a thousand times in a row.
 * @param lowest no number below it is asked for on its own
 */
export function readAhead(memories: Manifests, lowest: number): Manifests {
  const asked = new Map<number, ReturnType<Manifests['manifest']>>();
  return {
    manifest: (userKey, version) => {
      for (let number = version; number > version - WIDTH && number >= lowest; number--) {
        if (asked.has(number)) continue;
        const reading = memories.manifest(userKey, number);
        reading.catch(() => undefined); // an orphan may be damaged: it is told to whoever asks for this number
        asked.set(number, reading);
      }
      const found = asked.get(version) ?? memories.manifest(userKey, version);
      asked.delete(version);
      return found;
    },
  };
}
