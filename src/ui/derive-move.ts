/** How the move of a machine to another node goes, while it goes, and when it failed. Pure. */
import { humanDuration } from '../base/duration.ts';
import { formatBytes } from '../base/quantity.ts';
import type { Machine } from './derive-machines.ts';

export type Move = {
  readonly text: string;
  readonly isFailed: boolean;
  /** Somebody has asked for its end. */
  readonly isCancelled: boolean;
  /** From 0 to 1, as far as it is known. */
  readonly share: number | undefined;
  readonly detail: string;
};

export function deriveMove({ vmi }: Machine): Move | undefined {
  const move = vmi?.status?.migrationState;
  if (!move || move.completed) return undefined;
  if (move.failed)
    return {
      text: `The last move failed: ${move.failureReason ?? 'nobody says why'}`,
      isFailed: true,
      isCancelled: false,
      share: undefined,
      detail: '',
    };
  const where = `from ${move.sourceNode ?? vmi?.status?.nodeName ?? 'its node'} to ${move.targetNode ?? 'another node'}`;
  const isCancelled = move.abortRequested === true;
  const text = `Migrating ${where}${isCancelled ? '; it is being cancelled' : ''}`;
  if (!move.progress) return { text, isFailed: false, isCancelled, share: undefined, detail: '' };
  const { stage, bytesDone, bytesLeft, bytesPerSecond } = move.progress;
  const leftSeconds = bytesPerSecond > 0 ? bytesLeft / bytesPerSecond : undefined;
  const parts = [
    `${stage}: ${rounded(bytesLeft)} left`,
    ...(bytesPerSecond > 0 ? [`${rounded(bytesPerSecond)}/s`] : []),
    ...(leftSeconds === undefined ? [] : [`about ${humanDuration(Math.max(1, leftSeconds) * 1000)} left`]),
  ];
  return { text, isFailed: false, isCancelled, share: bytesDone / Math.max(1, bytesDone + bytesLeft), detail: parts.join(' · ') };
}

/** Whole mebibytes, as nobody reads more. */
function rounded(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)}Ki` : formatBytes(Math.round(bytes / 2 ** 20) * 2 ** 20);
}
