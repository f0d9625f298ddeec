/** The certificates of a cluster that stays up for longer than they last: replaced in time, for connections that are made from then on. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { areLeavesDue, ensurePki, type Pki, renewLeaves } from '../../base/node/pki.ts';

/** Short, for a clock that was ahead when a certificate was made, and is put right. */
const LOOK_EVERY_MS = 60_000;

export type LivePki = {
  /** What is in use now: whoever reads it for each connection has nothing else to do. */
  readonly pki: Pki;
  /** Is called after certificates were replaced, until the signal aborts. */
  onRenewed(listener: () => void, signal: AbortSignal): void;
};
export type LivePkiOptions = { readonly folder: string; readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal };

/** Resolves when there are certificates; looks after them until the signal aborts. */
export async function startLivePki({ folder, clock, log, signal }: LivePkiOptions): Promise<LivePki> {
  const pki = { ...(await ensurePki(folder, clock)) };
  const listeners = new Set<() => void>();
  void keep();
  return {
    pki,
    onRenewed(listener, until) {
      listeners.add(listener);
      until.addEventListener('abort', () => listeners.delete(listener), { once: true });
    },
  };

  async function keep(): Promise<void> {
    for (;;) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      if (!areLeavesDue(pki, clock.now())) continue;
      try {
        Object.assign(pki, await renewLeaves(folder, clock));
        for (const listener of listeners) listener();
        log.info('new certificates are in use', { because: 'the last ones were about to end' });
      } catch (error) {
        log.warn('cannot renew the certificates, the last ones stay in use', { error: messageOf(error) });
      }
    }
  }
}
