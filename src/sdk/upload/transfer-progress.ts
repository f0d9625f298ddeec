/** How far a transfer is, in the words that people know from other tools. Pure. */
export type Transfer = {
  readonly doneBytes: number;
  readonly totalBytes: number | undefined;
  /** Since it began, and how much of `doneBytes` was there then; without it there is neither rate nor time left. */
  readonly elapsedMs?: number;
  readonly resumedBytes?: number;
};

const MIB = 2 ** 20;

/** `41 % · 120 of 293 MiB · 12.3 MiB/s · 14 s left`, as much of it as is known. */
export function progressOf({ doneBytes, totalBytes, elapsedMs = 0, resumedBytes = 0 }: Transfer): string {
  const rate = elapsedMs > 0 ? ((doneBytes - resumedBytes) * 1000) / elapsedMs : 0;
  const left = totalBytes !== undefined && rate > 0 ? Math.ceil((totalBytes - doneBytes) / rate) : undefined;
  return [
    ...(totalBytes ? [`${Math.floor((doneBytes * 100) / totalBytes)} %`] : []),
    `${mib(doneBytes)}${totalBytes === undefined ? '' : ` of ${mib(totalBytes)}`} MiB`,
    ...(rate > 0 ? [`${(rate / MIB).toFixed(1)} MiB/s`] : []),
    ...(left === undefined ? [] : [`${duration(left)} left`]),
  ].join(' · ');
}

function mib(bytes: number): string {
  return String(Math.ceil(bytes / MIB));
}

function duration(seconds: number): string {
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
