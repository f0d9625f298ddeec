/** How fast something comes and how long the rest will take, in the words of a progress line. Pure. */
import type { PullProgress } from '../../../../images/pull.ts';

const MIB = 2 ** 20;

type Sample = { readonly atMs: number; readonly doneBytes: number };

/** `12 of 80 MiB, 6.1 MiB/s, 11 s left`; what was here before `start` does not count for the rate. */
export function transferText({ doneBytes, allBytes }: PullProgress, start: Sample, nowMs: number): string {
  const size = `${Math.floor(doneBytes / MIB)} of ${Math.ceil(allBytes / MIB)} MiB`;
  const seconds = (nowMs - start.atMs) / 1000;
  const rate = seconds > 0 ? (doneBytes - start.doneBytes) / seconds : 0;
  if (seconds < 1 || rate <= 0) return size;
  return `${size}, ${(rate / MIB).toFixed(1)} MiB/s, ${timeLeft((allBytes - doneBytes) / rate)} left`;
}

function timeLeft(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
