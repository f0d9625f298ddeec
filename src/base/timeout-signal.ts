/** An AbortSignal that aborts by itself. */
import { LONGEST_TIMER_MS } from './clock.ts';

/**
 * Aborts after so many milliseconds, with a `TimeoutError`. The one place that asks the engine for it: that throws for a time which is longer than
 * its timers are, or no whole number, and a time may be what a tenant wrote. What is longer than 24 days ends then.
 */
export function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(ms > 0 ? Math.min(Math.ceil(ms), LONGEST_TIMER_MS) : 0);
}
