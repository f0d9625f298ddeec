/** What the clock of a machine shows when it starts, where that is not UTC. Pure. */
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import { isTimeZone } from './limits.ts';
import { specError } from './option-text.ts';

type Clock = NonNullable<Domain['clock']>;

/** A time as QEMU takes it, without a zone; undefined for UTC. */
export function clockBase({ utc, timezone }: Pick<Clock, 'utc' | 'timezone'>, nowMs: number): string | undefined {
  if (timezone) return inZone(timezone, nowMs);
  return utc?.offsetSeconds ? withoutZone(nowMs + utc.offsetSeconds * 1000) : undefined;
}

function inZone(timeZone: string, nowMs: number): string {
  if (!isTimeZone(timeZone))
    throw specError('CLOCK_INVALID', 'spec.domain.clock.timezone', `there is no time zone ${JSON.stringify(timeZone.slice(0, 64))}`);
  // Swedes write dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(nowMs).replace(' ', 'T');
}

function withoutZone(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
