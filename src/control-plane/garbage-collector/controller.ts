/** The garbage collector: what nobody owns any more is deleted, and deletions that wait for dependents are seen through. */
import { isDeleting, type KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideItem, type ObservedItem } from './decide.ts';
import { discover } from './discovery.ts';
import { Graph, idOf } from './graph.ts';
import { metadataClient } from './metadata-client.ts';
import { isOfInterest, observeItem } from './observe.ts';

export type GarbageCollectorOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

const NAME = 'garbage-collector-controller';
/** Definitions of kinds and servers of groups tell of themselves; this is for a server that begins to serve something else. */
const REDISCOVER_MS = 600_000;
/** Of a group that did not answer nobody tells us anything. */
const ASK_AGAIN_MS = 30_000;
/** Definitions come in groups: one reading for all of them. */
const SETTLE_MS = 100;
const RETRY_MS = 1_000;
/** A kind that cannot be read must not keep the others waiting. */
const SYNC_PATIENCE_MS = 10_000;
const DEFINING_KINDS = ['CustomResourceDefinition', 'APIService'];

/** Runs the garbage collector until the signal aborts. */
export async function runGarbageCollector({ client, clock, log: rootLog, signal }: GarbageCollectorOptions): Promise<void> {
  const log = rootLog.with({ controller: NAME });
  const metadata = metadataClient(client);
  const graph = new Graph({ metadata, clock, log, signal });
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();
  const discovering = keepDiscovering({ client, clock, log, signal, graph, onSynced });
  const running = runController<ObservedItem>({
    name: NAME,
    client,
    clock,
    log: rootLog,
    signal,
    triggers: [changesOf({ subscribe: (listener) => graph.subscribe(listener), synced }, (object) => concerned(graph, object))],
    observe: (id) => observeItem(id, { graph, metadata }),
    decide: decideItem,
    subject: ({ item }) => item,
    resourceOf: (type) => graph.resourceOf(type),
  });
  await Promise.all([discovering, running]);
}

/** The object itself; what it owns, once it is leaving or gone; and owners that wait for it to go. */
function concerned(graph: Graph, object: KubeObject): string[] {
  const { uid = '', ownerReferences = [] } = object.metadata;
  const isGone = graph.get(idOf(object))?.metadata.uid !== uid;
  const self = !isGone && isOfInterest(object) ? [idOf(object)] : [];
  const owned = isGone || isDeleting(object) ? graph.dependentsOf(uid).map(idOf) : [];
  const waiting = ownerReferences.flatMap((reference) => graph.byUid(reference.uid) ?? []).filter(isDeleting);
  return [...self, ...owned, ...waiting.map(idOf)];
}

type DiscoveryLoop = GarbageCollectorOptions & { readonly graph: Graph; readonly onSynced: () => void };

async function keepDiscovering({ client, clock, log, signal, graph, onSynced }: DiscoveryLoop): Promise<void> {
  let poke = new AbortController();
  const stop = graph.subscribe(({ object }) => {
    if (DEFINING_KINDS.includes(object.kind)) poke.abort();
  });
  while (!signal.aborted) {
    poke = new AbortController();
    let waitMs = REDISCOVER_MS;
    try {
      const discovered = await discover(client, signal);
      if (discovered.silentGroups.length > 0) waitMs = ASK_AGAIN_MS;
      const read = graph.watch(discovered);
      await Promise.race([read, clock.sleep(SYNC_PATIENCE_MS, AbortSignal.any([signal, settled(read)]))]);
      if (!signal.aborted) onSynced();
    } catch (error) {
      if (signal.aborted) break;
      log.warn('cannot read which kinds there are, trying again', { error });
      waitMs = RETRY_MS;
    }
    await clock.sleep(waitMs, AbortSignal.any([signal, poke.signal]));
    if (poke.signal.aborted) await clock.sleep(SETTLE_MS, signal);
  }
  stop();
}

/** Aborts when the promise is settled: ends a sleep that is no longer needed. */
function settled(promise: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void promise.finally(() => controller.abort());
  return controller.signal;
}
