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
import { SESSION_PATH } from './first-questions.ts';
import { fetchFor, pageFetch } from './page-fetch.ts';
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
  /** What is found on the machine of the cluster can be asked for. */
  readonly hasHostChecks?: boolean;
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
const ASKED_ANEW = 'asked-anew';

/** Shows this namespace to who may not see all of them, from the next load on. */
export function chooseNamespace(namespace: string): void {
  localStorage.setItem(CHOSEN, namespace);
}

/** Whoever signs in next begins where he would have. */
export function forgetNamespace(): void {
  localStorage.removeItem(CHOSEN);
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

/**
 * Connects, and resolves when the first list is in. Everything is asked for at once, the lists of all namespaces among it, though the user may not be
 * allowed to see them: most may, and each question that waits for another is a way to the cluster and back before anything can be seen.
 */
export async function startSession(): Promise<Session> {
  const about = askAbout();
  const client = createClient({
    fetch: fetchFor(about.then(({ user }) => user !== undefined)),
    baseUrl: location.origin,
    userAgent: 'kubevirt-ts-ui',
  });
  const { changed, stale, ...feed } = startFeed();
  const copy = <T extends KubeObject>(resource: Resource<T>, { namespace, signal }: Limits): Cache<T> => {
    const cache = startCache({
      ...{ client, resource, clock: systemClock, log: silentLogger, signal },
      ...(resource.isNamespaced && namespace !== undefined && { namespace }),
      onState: (isCurrent) => {
        if (isCurrent) stale.delete(resource.plural);
        else stale.add(resource.plural);
        changed();
      },
    });
    cache.subscribe(changed);
    return cache;
  };
  const machinesIn = (limits: Limits) => ({ vms: copy(VMS, limits), vmis: copy(VMIS, limits) });
  const tried = new AbortController();
  const everywhere = machinesIn({ signal: tried.signal });
  const asked = [about, maySee(client, VMS), maySee(client, NODES), maySee(client, EVENTS)] as const;
  const [info, seesAll, seesNodes, seesAllEvents] = await Promise.all(asked).catch((error: unknown) => {
    tried.abort(); // whoever comes next begins anew
    throw error;
  });
  const namespace = seesAll ? undefined : (localStorage.getItem(CHOSEN) ?? info.namespace);
  if (namespace !== undefined) {
    tried.abort();
    stale.clear(); // of lists that nobody shows
    if (!(await maySee(client, VMS, namespace))) throw new NothingToSeeError(info, namespace);
  }
  const limits: Limits = { ...(namespace !== undefined && { namespace }), signal: new AbortController().signal };
  const machines = namespace === undefined ? everywhere : machinesIn(limits);
  const seesEvents = namespace === undefined ? seesAllEvents : await maySee(client, EVENTS, namespace);
  const nodes = seesNodes ? copy(NODES, limits) : undefined;
  const events = seesEvents ? copy(EVENTS, limits) : undefined;
  await Promise.all([machines.vms.synced, machines.vmis.synced]);
  return { info, client, ...machines, nodes, events, uploads: new Uploads({ client, changed }), namespace, ...feed };
}

/** Who is told when something has changed, at most once per frame. */
function startFeed() {
  const listeners = new Set<() => void>();
  const stale = new Set<string>();
  let isFramePending = false;
  let version = 0;
  return {
    stale,
    changed() {
      version += 1;
      if (isFramePending) return;
      isFramePending = true;
      requestAnimationFrame(() => {
        isFramePending = false;
        for (const listener of listeners) listener();
      });
    },
    version: () => version,
    isCurrent: () => stale.size === 0,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Where one may look, and until when. */
type Limits = { readonly namespace?: string; readonly signal: AbortSignal };

async function askAbout(): Promise<SessionInfo> {
  const told = await pageFetch(new Request(SESSION_PATH));
  if (told.status === 401) await signInAnew();
  if (!told.ok) throw new Error(await messageOf(told));
  sessionStorage.removeItem(ASKED_ANEW);
  return (await told.json()) as SessionInfo;
}

/** To the page where people sign in, once: where a proxy sends the credentials there is none, and the next answer would be the same. */
async function signInAnew(): Promise<void> {
  if (sessionStorage.getItem(ASKED_ANEW) !== null) return;
  sessionStorage.setItem(ASKED_ANEW, '');
  location.reload();
  await new Promise(() => {}); // the page ends here
}

/** Refusals are Status objects; what stands in between may answer anything. */
async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
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
