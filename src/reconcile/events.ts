/** Records what happened to an object as core/v1 Events, for people. The same event again only raises the count of the first. */
import { EVENTS, type Event } from '../api/core/event.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { timestamp } from '../base/timestamp.ts';
import type { Client } from '../client/client.ts';
import type { EventToRecord } from './decision.ts';

export type EventRecorder = {
  /** Queues the event and returns at once: no loop waits for, or fails with, the recording. */
  record(subject: KubeObject, event: EventToRecord): void;
  /** Resolves when everything recorded so far has been sent or given up; waits a few seconds at most. */
  flush(): Promise<void>;
};

export type RecorderOptions = { readonly client: Client; readonly clock: Clock; readonly log: Logger; readonly component: string };

/** Events that wait while the server does not answer; what comes after these is dropped. */
const LONGEST_QUEUE = 1_000;
/** No shutdown waits for longer on a server that does not answer. */
const FLUSH_MS = 2_000;
const LONGEST_MESSAGE = 1_024;
const LONGEST_NAME = 253;

/** A recorder that writes one event after the other in the name of `component`. */
export function createEventRecorder({ client, clock, log, component }: RecorderOptions): EventRecorder {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return {
    record(subject, { type, reason, message: text }) {
      if (waiting >= LONGEST_QUEUE) return;
      waiting += 1;
      const message = text.slice(0, LONGEST_MESSAGE);
      const event = eventFor({ subject, component, type, reason, message, at: timestamp(clock.now()) });
      last = last
        .then(() => send(client, event))
        .catch((error: unknown) => log.warn('cannot record event', { object: event.metadata.name, reason, error }))
        .finally(() => {
          waiting -= 1;
        });
    },
    async flush() {
      const sent = new AbortController();
      await Promise.race([last, clock.sleep(FLUSH_MS, sent.signal)]);
      sent.abort();
    },
  };
}

type Parts = EventToRecord & { readonly subject: KubeObject; readonly component: string; readonly at: string };

function eventFor({ subject, component, type, reason, message, at }: Parts): Event {
  const { apiVersion, kind, metadata } = subject;
  const { name, namespace, uid, resourceVersion } = metadata;
  // The name follows from the content, so that also after a restart the same event is found and counted.
  const suffix = `.${hash([component, uid ?? `${kind} ${name}`, type, reason, message].join('\n'))}`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: name.slice(0, LONGEST_NAME - suffix.length) + suffix, namespace: namespace ?? 'default' },
    involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
    type,
    reason,
    message,
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    reportingComponent: component,
    reportingInstance: '',
  };
}

async function send(client: Client, event: Event): Promise<void> {
  try {
    await client.create(EVENTS, event);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    await countAgain(client, event);
  }
}

async function countAgain(client: Client, event: Event): Promise<void> {
  const earlier = await client.get(EVENTS, event.metadata);
  if (!earlier) return; // its time ran out between the two requests: the next one is new again
  await client.patch(EVENTS, event.metadata, { count: (earlier.count ?? 1) + 1, lastTimestamp: event.lastTimestamp });
}

/** FNV-1a, 64 bit: told apart is all these have to be, and this needs neither a package nor waiting. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  return value.toString(16).padStart(16, '0');
}
