/** What the page works with: the API, and the copies of it that are always current. */
import { EVENTS, type Event } from '../api/core/event.ts';
import { NODES, type Node } from '../api/core/node.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { KubeObject } from '../api/meta.ts';
import { pathOf, type Resource } from '../api/resource.ts';
import { systemClock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { type Cache, startCache } from '../client/cache.ts';
import { type Client, createClient } from '../client/client.ts';
import { pageFetch, signedInFetch } from './page-fetch.ts';
import { Uploads } from './uploads.ts';

/** What the server of the page says about itself, at /session.json. */
export type SessionInfo = {
  readonly server: string;
  readonly context: string;
  readonly namespace: string;
  readonly version: string;
  /** Who is signed in, where people do. */
  readonly user?: string;
  readonly canSignOut?: boolean;
};

/** The user sees nothing in the namespace that is shown; there may be another one. */
export class NothingToSeeError extends Error {
  readonly info: SessionInfo;
  constructor(info: SessionInfo, namespace: string) {
    super(`you may not see machines in all namespaces, nor in ${namespace}`);
    this.info = info;
  }
}

const CHOSEN = 'namespace';

/** Shows this namespace to who may not see all of them, from the next load on. */
export function chooseNamespace(namespace: string): void {
  localStorage.setItem(CHOSEN, namespace);
}

export type Session = {
  readonly info: SessionInfo;
  readonly client: Client;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  /** Undefined where we may not see them. */
  readonly nodes: Cache<Node> | undefined;
  readonly events: Cache<Event> | undefined;
  /** Disks that are sent from here. */
  readonly uploads: Uploads;
  /** The namespace to which all of this is limited; undefined when everything may be seen. */
  readonly namespace: string | undefined;
  /** Another number whenever anything has changed. */
  version(): number;
  /** False while something on the page may be old. */
  isCurrent(): boolean;
  /** Called when anything has changed, at most once per frame; returns how to stop. */
  subscribe(listener: () => void): () => void;
};

/** Connects, and resolves when the first list is in. */
export async function startSession(): Promise<Session> {
  const told = await fetch('/session.json');
  if (!told.ok) throw new Error(await told.text());
  const info = (await told.json()) as SessionInfo;
  const client = createClient({
    fetch: info.user === undefined ? pageFetch : signedInFetch,
    baseUrl: location.origin,
    userAgent: 'kubevirt-ts-ui',
  });
  const listeners = new Set<() => void>();
  const stale = new Set<string>();
  let isFramePending = false;
  let version = 0;
  const changed = () => {
    version += 1;
    if (isFramePending) return;
    isFramePending = true;
    requestAnimationFrame(() => {
      isFramePending = false;
      for (const listener of listeners) listener();
    });
  };
  const namespace = (await maySee(client, VMS)) ? undefined : (localStorage.getItem(CHOSEN) ?? info.namespace);
  if (namespace !== undefined && !(await maySee(client, VMS, namespace))) throw new NothingToSeeError(info, namespace);
  const copy = <T extends KubeObject>(resource: Resource<T>): Cache<T> => {
    const cache = startCache({
      client,
      resource,
      ...(resource.isNamespaced && namespace !== undefined && { namespace }),
      clock: systemClock,
      log: silentLogger,
      signal: new AbortController().signal,
      onState: (isCurrent) => {
        if (isCurrent) stale.delete(resource.plural);
        else stale.add(resource.plural);
        changed();
      },
    });
    cache.subscribe(changed);
    return cache;
  };
  const [seesNodes, seesEvents] = await Promise.all([maySee(client, NODES), maySee(client, EVENTS, namespace)]);
  const session: Session = {
    info,
    client,
    vms: copy(VMS),
    vmis: copy(VMIS),
    nodes: seesNodes ? copy(NODES) : undefined,
    events: seesEvents ? copy(EVENTS) : undefined,
    uploads: new Uploads({ client, changed }),
    namespace,
    version: () => version,
    isCurrent: () => stale.size === 0,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  await Promise.all([session.vms.synced, session.vmis.synced]);
  return session;
}

async function maySee(client: Client, resource: Resource, namespace?: string): Promise<boolean> {
  try {
    await client.request(`${pathOf(resource, { namespace })}?limit=1`);
    return true;
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return false;
    throw error;
  }
}
