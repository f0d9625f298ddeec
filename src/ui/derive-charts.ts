/** Lines and bars from the history of a machine. Pure. */
import { HISTORY_SECONDS, type HistoryField, type UsageHistory } from '../api/handler/usage-history.ts';
import { formatBytes } from '../base/quantity.ts';

/** What the list asks for, and what the overview does. */
export const LIST_SECONDS = 600;
export const OVERVIEW_SECONDS = 3600;

/** What the charts can show, from a quarter of an hour to all that a node remembers. */
export const RANGES: readonly (readonly [seconds: number, words: string])[] = [
  [900, 'the last quarter of an hour'],
  [OVERVIEW_SECONDS, 'the last hour'],
  [HISTORY_SECONDS, 'the last ten hours'],
];

export type Span = { readonly nowMs: number; readonly seconds: number };
type Size = { readonly width: number; readonly height: number };

/** The path of an SVG through the points of a field, a new stroke after each gap; empty when there are none. `most` is at the top. */
export function derivePath(
  history: UsageHistory,
  field: HistoryField,
  { width, height, most, ...span }: Size & Span & { readonly most: number },
): string {
  const from = span.nowMs / 1000 - span.seconds;
  let previous = Number.NEGATIVE_INFINITY;
  const strokes = history.points.flatMap((point) => {
    const value = point[field];
    if (value === undefined || point.atSeconds < from) return [];
    const isNext = point.atSeconds - previous <= 2 * history.stepSeconds;
    previous = point.atSeconds;
    const x = Math.min(width, ((point.atSeconds - from) / span.seconds) * width);
    const y = height - Math.min(1, value / (most || 1)) * height;
    const at = `${x.toFixed(1)} ${y.toFixed(1)}`;
    return [isNext ? `L${at}` : `M${at}h.1`]; // one alone is a dot
  });
  return strokes.join('');
}

/** The last that is known of a field, no older than a minute and a half. */
export function deriveLatest({ points }: UsageHistory, field: HistoryField, nowMs: number): number | undefined {
  const last = points.findLast((point) => point[field] !== undefined);
  return last && nowMs / 1000 - last.atSeconds < 90 ? last[field] : undefined;
}

/** The largest of some fields. */
export function deriveMost({ points }: UsageHistory, fields: readonly HistoryField[]): number {
  return points.reduce((most, point) => fields.reduce((each, field) => Math.max(each, point[field] ?? 0), most), 0);
}

/** How much memory is used, of how much: as the guest sees it where it tells, else as its node does. */
export function deriveMemory(
  history: UsageHistory,
  totalBytes: number,
  nowMs: number,
): { readonly share: number; readonly text: string } | undefined {
  const used = deriveLatest(history, 'guestUsedBytes', nowMs) ?? deriveLatest(history, 'residentBytes', nowMs);
  if (used === undefined || totalBytes <= 0) return undefined;
  return { share: Math.min(1, used / totalBytes), text: `${wholeMebibytes(used)} of ${formatBytes(totalBytes)}` };
}

export function coresText(cores: number): string {
  return `${cores.toFixed(2)} CPU`;
}

export function rateText(bytesPerSecond: number): string {
  const [divisor, unit] = bytesPerSecond >= 2 ** 20 ? [2 ** 20, 'MiB/s'] : bytesPerSecond >= 1024 ? [1024, 'KiB/s'] : [1, 'B/s'];
  return `${(bytesPerSecond / divisor).toFixed(divisor === 1 ? 0 : 1)} ${unit}`;
}

export function wholeMebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)}Mi`;
}

/** Lines of the table that says what the charts show. */
const TABLE_ROWS = 12;

export type ChartRow = { readonly atMs: number; readonly values: Readonly<Partial<Record<HistoryField, number>>> };

/** The same as numbers: the mean of each part of the time, the latest first; parts in which nothing was measured are left out. */
export function deriveTable({ points }: UsageHistory, fields: readonly HistoryField[], { nowMs, seconds }: Span): ChartRow[] {
  const partSeconds = seconds / TABLE_ROWS;
  const parts = Map.groupBy(points, ({ atSeconds }) => Math.floor((nowMs / 1000 - atSeconds) / partSeconds));
  const known = [...parts].filter(([part]) => part >= 0 && part < TABLE_ROWS).sort(([a], [b]) => a - b);
  return known.map(([part, measured]) => ({
    atMs: nowMs - part * partSeconds * 1000,
    values: Object.fromEntries(fields.flatMap((field) => meanOf(field, measured))),
  }));
}

function meanOf(field: HistoryField, points: UsageHistory['points']): [HistoryField, number][] {
  const values = points.flatMap((point) => point[field] ?? []);
  return values.length === 0 ? [] : [[field, values.reduce((sum, value) => sum + value, 0) / values.length]];
}
