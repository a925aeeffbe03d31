export const MEMORY_PATH = 'MEMORY.md';
export const SUMMARY_PATH = 'memory_summary.md';
export const SKILLS_FOLDER = 'skills/';

/** True for a file that the agent makes. */
export function isOutput(path: string): boolean {
  return path === MEMORY_PATH || path === SUMMARY_PATH || path.startsWith(SKILLS_FOLDER);
}
