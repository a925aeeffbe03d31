import type { Context } from 'aws-lambda';
import { type SweepReport, sweep } from '../../core/control/sweep.ts';
import { StillroomError } from '../../core/errors.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { SweepDeps } from './deps.ts';

type InvocationContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

/**
 * Most jobs of each kind that one pass hands on. Consolidations come first and are started one by one, some 40 ms each: so
 * many leave the extractions their time.
 */
const MAX_JOBS = 3_000;
/** No page is begun with less: ten starts that all run into their time-outs are cut off, and done by the next pass. */
const PAGE_MS = 30 * SECOND_MS;

/** The function over its dependencies. What started it, a schedule or a person, makes no difference; one pass at a time is enough. */
export function createHandler(deps: SweepDeps): (event: unknown, context: InvocationContext) => Promise<SweepReport> {
  return async (_event, context) => {
    deps.tracing.correlate({ request_id: context.awsRequestId });
    try {
      const hasTime = (): boolean => context.getRemainingTimeInMillis() > PAGE_MS;
      const report = await deps.tracing.withSpan('sweep', {}, () => sweep(deps, { maxJobs: MAX_JOBS, hasTime }));
      tell(deps.telemetry, report);
      return report;
    } catch (error) {
      const code = error instanceof StillroomError ? error.code : 'core.unexpected';
      deps.telemetry.event('error', 'sweep.failed', { code });
      throw error;
    } finally {
      deps.tracing.flush();
    }
  };
}

function tell(telemetry: Telemetry, report: SweepReport): void {
  const { extractions, consolidations, failed, unreadable, unreachable, complete } = report;
  telemetry.count('stillroom.sweep', 1, { status: complete ? 'complete' : 'cut_short' });
  telemetry.count('stillroom.sweep.handed_on', extractions, { phase: 'phase1' });
  telemetry.count('stillroom.sweep.handed_on', consolidations, { phase: 'phase2' });
  telemetry.count('stillroom.sweep.failed', failed);
  telemetry.count('stillroom.sweep.unreadable', unreadable);
  telemetry.count('stillroom.sweep.unreachable', unreachable);
  const level = failed + unreadable + unreachable > 0 ? 'warn' : 'info';
  telemetry.event(level, 'sweep.ended', { ...report });
}
