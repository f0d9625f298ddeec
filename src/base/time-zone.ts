/** Time zones by their names in the tz database, and what a clock on the wall shows there. */

/** Whether there is a time zone of this name; `Local` is none, it would be another on every machine. */
export function isTimeZone(name: string): boolean {
  if (name === '' || name.length > 64 || /^local$/i.test(name)) return false;
  try {
    return wallClock(name) !== undefined;
  } catch {
    return false; // how the platform says so
  }
}

/** What the clocks of a zone show at a moment, as if it were UTC; the same zone may be asked many times. */
export function wallClock(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  };
}
