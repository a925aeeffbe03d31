/** One thing that keeps a memory from being published (DV-20). Never quotes the files. */
export interface ArtifactFault {
  readonly code: string;
  /** File, and line where there is one: `MEMORY.md:12`. */
  readonly place: string;
  /** What is wrong. */
  readonly message: string;
  /** What would satisfy the gate. */
  readonly cure: string;
}

const SHOWN_FAULTS = 40;

/** The faults as lines for the `repair` template; at most 40, then how many more there are. */
export function renderFaults(faults: readonly ArtifactFault[]): string {
  const lines = faults
    .slice(0, SHOWN_FAULTS)
    .map((fault) => `- ${fault.place}: ${fault.message} (${fault.code}). To satisfy it: ${fault.cure}.`);
  const more = faults.length - SHOWN_FAULTS;
  return [...lines, ...(more > 0 ? [`- and ${more} more of this kind`] : [])].join('\n');
}
