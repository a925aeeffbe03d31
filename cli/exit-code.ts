import { StillroomError } from '../core/errors.ts';

/** By the kind of a failure; 0: none. */
export const EXIT_CODES = {
  invalid_input: 2,
  denied: 3,
  not_found: 4,
  conflict: 5,
  unavailable: 6,
  defect: 70,
} as const satisfies Record<StillroomError['kind'], number>;

/** What a failed command tells the shell and the person (architecture.md, "Errors"). */
export interface CommandFailure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
}

/** The one map from failures to exit codes. What is no failure of ours is a defect. */
export function describeFailure(error: unknown): CommandFailure {
  if (error instanceof StillroomError) {
    return { exitCode: EXIT_CODES[error.kind], code: error.code, message: error.message };
  }
  const name = error instanceof Error ? error.name : typeof error;
  const text = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT_CODES.defect, code: 'cli.unexpected', message: `unexpected ${name}: ${text}` };
}
