/** Tells the cluster that this node can run guests: a label for the scheduler, and a time stamp that goes stale when we do. */
import { NODES } from '../api/core/node.ts';
import { ANNOTATION_HEARTBEAT, LABEL_SCHEDULABLE } from '../api/kubevirt/names.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { timestamp } from '../base/timestamp.ts';
import type { Client } from '../client/client.ts';

export type HeartbeatOptions = {
  readonly client: Client;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Between 0 and 1; spreads the beats of many nodes. */
  readonly random?: () => number;
};

const EVERY_MS = 60_000;
const JITTER_MS = 30_000;
const RETRY_MS = 1_000;

/** Beats at once and then about every minute, until the signal aborts. */
export async function runHeartbeat({ client, nodeName, clock, log, signal, random = Math.random }: HeartbeatOptions): Promise<void> {
  while (!signal.aborted) {
    let waitMs = EVERY_MS + random() * JITTER_MS;
    try {
      const metadata = { labels: { [LABEL_SCHEDULABLE]: 'true' }, annotations: { [ANNOTATION_HEARTBEAT]: timestamp(clock.now()) } };
      await client.patch(NODES, { name: nodeName }, { metadata }, { signal });
    } catch (error) {
      if (signal.aborted) return;
      log.debug('cannot write the heartbeat, trying again', { nodeName, error });
      waitMs = RETRY_MS;
    }
    await clock.sleep(waitMs, signal);
  }
}
