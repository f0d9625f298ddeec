/** A row of values as a small picture, for terminals and pages. Pure. */
import type { HistoryField, UsageHistory } from '../api/handler/usage-history.ts';

const BARS = '▁▂▃▄▅▆▇█';

/** The means of so many equal parts of the time up to now; undefined where nothing was measured. */
export function bucketsOf(
  { points }: UsageHistory,
  {
    field,
    nowMs,
    seconds,
    count,
  }: { readonly field: HistoryField; readonly nowMs: number; readonly seconds: number; readonly count: number },
): (number | undefined)[] {
  const from = nowMs / 1000 - seconds;
  const sums = Array.from({ length: count }, () => ({ sum: 0, count: 0 }));
  for (const point of points) {
    const value = point[field];
    const bucket = sums[Math.floor(((point.atSeconds - from) / seconds) * count)];
    if (value === undefined || !bucket) continue;
    bucket.sum += value;
    bucket.count++;
  }
  return sums.map((each) => (each.count === 0 ? undefined : each.sum / each.count));
}

/** A bar for each value, the highest for `most` and above; a blank where there is none. */
export function sparkline(values: readonly (number | undefined)[], most: number): string {
  return values
    .map((value) => (value === undefined ? ' ' : (BARS[Math.min(BARS.length - 1, Math.floor((value / (most || 1)) * BARS.length))] ?? ' ')))
    .join('');
}
