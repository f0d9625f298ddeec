/** Events are news, not history: an hour after the last time something happened, its event goes. */
import type { Clock } from '../../../base/clock.ts';
import { isApiError, messageOf } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { Store } from '../../store/store.ts';

const PREFIX = 'core/events/';
const LIFETIME_MS = 60 * 60_000;
const INTERVAL_MS = 60_000;

/** Runs until the signal aborts. */
export async function expireEvents(options: { store: Store; clock: Clock; log: Logger; signal: AbortSignal }): Promise<void> {
  const { store, clock, log, signal } = options;
  while (!signal.aborted) {
    await clock.sleep(INTERVAL_MS, signal);
    if (signal.aborted) return;
    const oldest = clock.now() - LIFETIME_MS;
    const expired = store.list(PREFIX).filter(({ value }) => lastSeenMs(value) < oldest);
    const writes = expired.map(({ key, revision }) => store.write({ key, expectedRevision: revision, value: undefined }));
    for (const result of await Promise.allSettled(writes)) {
      // Somebody changed it in the meantime: it is news again.
      if (result.status === 'rejected' && !isApiError(result.reason, 'Conflict')) {
        log.warn('an old event cannot be removed', { error: messageOf(result.reason) });
      }
    }
  }
}

/** Components write different ones of these fields; the newest counts. */
function lastSeenMs(event: unknown): number {
  const { metadata, series, lastTimestamp, firstTimestamp, eventTime } = event as Record<string, unknown>; // every stored value is an object
  const created = isObject(metadata) ? metadata['creationTimestamp'] : undefined;
  const observed = isObject(series) ? series['lastObservedTime'] : undefined;
  const times = [created, observed, lastTimestamp, firstTimestamp, eventTime].map((time) => Date.parse(String(time)));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}
