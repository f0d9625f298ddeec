/** Waiting for something to become true, within bounds. */
import { systemClock } from '../../src/base/clock.ts';

const PATIENCE_MS = 300_000;

/** Asks until it is; `what` completes the sentence "waited in vain until ...". */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>, signal?: AbortSignal): Promise<void> {
  const deadline = systemClock.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    signal?.throwIfAborted();
    if (systemClock.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s in vain until ${what}`);
    await systemClock.sleep(50, signal);
  }
}
