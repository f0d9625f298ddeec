/** The end of many parts that were told to stop: waited for together, but not for ever. */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';

export type EndOptions = { readonly signal: AbortSignal; readonly clock: Clock; readonly log: Logger; readonly patienceMs?: number };

/**
 * Resolves after the signal when all parts have ended, or when patience is over; then the late ones are named. Nothing is lost by leaving
 * them behind: what they were about to do is done by the next process. A part that fails before the signal fails all.
 */
export async function allEnded(parts: Readonly<Record<string, Promise<unknown>>>, options: EndOptions): Promise<void> {
  const { signal, clock, log, patienceMs = 5_000 } = options;
  const running = new Set(Object.keys(parts));
  const ended = Promise.all(Object.entries(parts).map(([name, part]) => part.then(() => running.delete(name))));
  await Promise.race([aborted(signal), ended]);
  const done = new AbortController();
  await Promise.race([ended, clock.sleep(patienceMs, done.signal)]);
  done.abort();
  if (running.size > 0) log.warn('some parts did not end in time and are left behind', { parts: [...running] });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
