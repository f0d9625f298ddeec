/** Ages the way kubectl prints them: 45s, 3m20s, 2h, 5d3h. */
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration for people; two units while the first is small, one when it no longer matters. */
export function humanDuration(ms: number): string {
  if (ms < -SECOND) return '<invalid>';
  if (ms < 0) return '0s';
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < 10 * MINUTE) return pair(ms, MINUTE, 'm', SECOND, 's');
  if (ms < 3 * HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < 8 * HOUR) return pair(ms, HOUR, 'h', MINUTE, 'm');
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}h`;
  if (ms < 8 * DAY) return pair(ms, DAY, 'd', HOUR, 'h');
  if (ms < 2 * 365 * DAY) return `${Math.floor(ms / DAY)}d`;
  return pair(ms, 365 * DAY, 'y', DAY, 'd');
}

function pair(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % big) / small);
  return rest === 0 ? `${Math.floor(ms / big)}${bigUnit}` : `${Math.floor(ms / big)}${bigUnit}${rest}${smallUnit}`;
}
