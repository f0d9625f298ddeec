/** How far a machine is that is being moved, for people: a bar, how much there is, and how long it takes. Pure. */
import type { MigrationState } from '../api/kubevirt/kinds/migration.ts';

type Progress = NonNullable<MigrationState['progress']>;

const WIDTH = 20;
const MIB = 2 ** 20;

/** `[##########----------] memory 50 % · 64 of 128 MiB · 32.0 MiB/s · 2 s left`. What the guest writes meanwhile counts against the rate. */
export function moveProgressOf({ stage, bytesDone, bytesLeft, bytesPerSecond, dirtyBytesPerSecond = 0 }: Progress): string {
  const total = Math.max(1, bytesDone + bytesLeft);
  const percent = Math.floor((bytesDone * 100) / total);
  const filled = Math.floor((bytesDone * WIDTH) / total);
  const net = bytesPerSecond - dirtyBytesPerSecond;
  return [
    `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${stage.toLowerCase()} ${percent} %`,
    `${Math.floor(bytesDone / MIB)} of ${Math.ceil(total / MIB)} MiB`,
    ...(bytesPerSecond > 0 ? [`${(bytesPerSecond / MIB).toFixed(1)} MiB/s`] : []),
    ...(bytesPerSecond === 0
      ? []
      : [net > 0 ? `${duration(Math.ceil(bytesLeft / net))} left` : 'the guest writes as fast as it is copied']),
  ].join(' · ');
}

function duration(seconds: number): string {
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
