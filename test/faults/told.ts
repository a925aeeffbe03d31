/** Uploaded while its session may go on, so that the sweep brings it; and at the end of its session. */
export const THREADS = { waiting: 'thread-b', ended: 'thread-a' } as const;
/** One that a consolidation takes in which is due anyway, and one that makes its own due. */
export const NOTES = [
  { filename: '2026-03-03T18-00-00-pnpm.md', note: 'Use pnpm in this repository.' },
  { filename: '2026-03-03T19-00-00-port.md', note: 'The database listens on port 5433.' },
] as const;
