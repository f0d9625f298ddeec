/** Points of the history from what was measured, and fewer points from many. Pure. */
import {
  HISTORY_FIELDS,
  type HistoryField,
  type HistoryPoint,
  MEASURED_EVERY_SECONDS,
  MOST_HISTORY_POINTS,
  type UsageHistory,
} from '../../api/handler/usage-history.ts';
import type { GuestFigures } from './guest-figures.ts';

/** What follows from two looks; of one alone only what is no rate. */
export function deriveHistoryPoint(now: GuestFigures, before: GuestFigures | undefined): HistoryPoint {
  const seconds = before ? (now.atMs - before.atMs) / 1000 : 0;
  const rate = (of: (figures: GuestFigures) => number | undefined): number | undefined => {
    const [from, to] = [before && of(before), of(now)];
    // What was counted anew says nothing about the time in between.
    return from === undefined || to === undefined || seconds <= 0 || to < from ? undefined : (to - from) / seconds;
  };
  const { availableBytes, usableBytes = 0 } = now.memory;
  const values: Readonly<Record<HistoryField, number | undefined>> = {
    cpuCores: rate(cpuSecondsOf),
    residentBytes: now.process?.residentBytes,
    guestUsedBytes: availableBytes === undefined ? undefined : Math.max(0, availableBytes - usableBytes),
    diskReadBytesPerSecond: rate(({ disks }) => sumOf(disks, ({ readBytes }) => readBytes)),
    diskWrittenBytesPerSecond: rate(({ disks }) => sumOf(disks, ({ writtenBytes }) => writtenBytes)),
    networkReceivedBytesPerSecond: rate(({ networks }) => sumOf(networks, ({ receivedBytes }) => receivedBytes)),
    networkSentBytesPerSecond: rate(({ networks }) => sumOf(networks, ({ sentBytes }) => sentBytes)),
  };
  return {
    atSeconds: Math.floor(now.atMs / 1000),
    ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
  };
}

/** No more points than are worth sending: steps of a longer time are put together, each field the mean of what was known. */
export function deriveUsageHistory(points: readonly HistoryPoint[], seconds: number): UsageHistory {
  const together = Math.max(1, Math.ceil(seconds / MEASURED_EVERY_SECONDS / MOST_HISTORY_POINTS));
  const stepSeconds = together * MEASURED_EVERY_SECONDS;
  if (together === 1) return { stepSeconds, points };
  const groups = Map.groupBy(points, ({ atSeconds }) => Math.floor(atSeconds / stepSeconds));
  return { stepSeconds, points: [...groups].map(([step, group]) => ({ atSeconds: step * stepSeconds, ...meansOf(group) })) };
}

function meansOf(points: readonly HistoryPoint[]): Partial<Record<HistoryField, number>> {
  const means = HISTORY_FIELDS.flatMap((field) => {
    const values = points.flatMap((point) => point[field] ?? []);
    return values.length === 0 ? [] : [[field, values.reduce((sum, value) => sum + value, 0) / values.length] as const];
  });
  return Object.fromEntries(means);
}

function cpuSecondsOf(figures: GuestFigures): number | undefined {
  const used = figures.process;
  return used && used.userSeconds + used.systemSeconds;
}

/** Undefined of none: no card and no count is not the same as nothing sent. */
function sumOf<Item>(items: readonly Item[], of: (item: Item) => number): number | undefined {
  return items.length === 0 ? undefined : items.reduce((sum, item) => sum + of(item), 0);
}
