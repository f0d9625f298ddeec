/**
 * How much the objects of each namespace take in memory, where the whole store is, and how much they may. Follows the store, object by object.
 * Without a bound whoever may write in one namespace fills the heap, and a store that does not fit into it ends the next start as well.
 *
 *   who writes                            is held to the share of the namespace, and to that of all namespaces
 *   administrators                        never: they make room
 *   nodes and components of the cluster   when they create something: a Deployment may ask for any number of Pods. Not events; and what is there goes on
 *   everybody else                        when they create something, or let it grow
 *
 * What is cluster-wide, and the namespaces of the cluster itself, are not counted: administrators alone write there.
 */
import { getHeapStatistics } from 'node:v8';
import { INSTALL_NAMESPACE } from '../../../api/kubevirt/names.ts';
import { formatBytes } from '../../../base/quantity.ts';
import type { StoreEvent } from '../../store/entry.ts';
import type { Store } from '../../store/store.ts';
import { isMaster } from '../access/authorize.ts';
import { forbidden } from '../response/api-errors.ts';
import type { Identity } from '../transport/identity.ts';
import type { AnyObject, ResourceType } from '../types/resource-type.ts';

export type Shares = { readonly ofOne: number; readonly ofAll: number };
/** A write as admission sees it, as far as it matters here. */
type Write = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly object: AnyObject | undefined;
  readonly oldObject: AnyObject | undefined;
  readonly isDryRun: boolean;
  readonly identity: Identity;
};

const UNCOUNTED: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease', INSTALL_NAMESPACE];
const COMPONENTS = new RegExp(`^system:serviceaccount:(?:${INSTALL_NAMESPACE}|kube-system):`);
/** What keys, indexes and the caches of controllers add to each. */
const OBJECT_BYTES = 2_048;

/** Controllers keep what they watch parsed, which takes some times its text. */
function sharesOfHeap(): Shares {
  const { heap_size_limit: heap } = getHeapStatistics();
  return { ofOne: Math.floor(heap / 8), ofAll: Math.floor(heap / 5) };
}

export class NamespaceShares {
  readonly #shares: Shares;
  readonly #used = new Map<string, number>();
  readonly #stop: () => void;
  #inAll = 0;

  constructor(store: Store, shares: Shares = sharesOfHeap()) {
    this.#shares = shares;
    for (const { key, text } of store.list('')) this.#add(namespaceOf(key), sizeOf(text));
    this.#stop = store.watch('', store.revision, (event) => this.#follow(event));
  }

  /** Takes the room that a new or changed object needs; Forbidden when there is too little. Whoever asked gives it back when the write is over. */
  reserve(request: Write): () => void {
    const { namespace = '', object, oldObject, type, name } = request;
    if (!object || !isCounted(namespace) || !isHeld(request)) return nothing;
    const bytes = sizeOf(JSON.stringify(object)) - (oldObject ? sizeOf(JSON.stringify(oldObject)) : 0);
    if (bytes <= 0) return nothing;
    const why = this.#whyNot(namespace, bytes);
    if (why !== undefined) throw forbidden(type, name, `${why}; delete what is no longer needed`);
    if (request.isDryRun) return nothing;
    this.#add(namespace, bytes);
    return () => this.#add(namespace, -bytes);
  }

  close(): void {
    this.#stop();
  }

  #whyNot(namespace: string, bytes: number): string | undefined {
    const { ofOne, ofAll } = this.#shares;
    if ((this.#used.get(namespace) ?? 0) + bytes > ofOne)
      return `the objects of namespace ${JSON.stringify(namespace)} would take more than ${formatBytes(ofOne)}, which is what one namespace may take of the memory of this cluster`;
    if (this.#inAll + bytes > ofAll)
      return `the objects of all namespaces would take more than ${formatBytes(ofAll)} of the memory of this cluster`;
    return undefined;
  }

  #follow({ key, entry, previous }: StoreEvent): void {
    this.#add(namespaceOf(key), (entry ? sizeOf(entry.text) : 0) - (previous ? sizeOf(previous.text) : 0));
  }

  #add(namespace: string, bytes: number): void {
    if (!isCounted(namespace)) return;
    this.#inAll += bytes;
    const used = (this.#used.get(namespace) ?? 0) + bytes;
    if (used > 0) this.#used.set(namespace, used);
    else this.#used.delete(namespace);
  }
}

function isHeld({ operation, type, identity }: Write): boolean {
  if (isMaster(identity)) return false;
  return isOfCluster(identity) ? operation === 'CREATE' && type.kind !== 'Event' : true;
}

function isOfCluster({ user, groups }: Identity): boolean {
  return groups.includes('system:nodes') || COMPONENTS.test(user);
}

function isCounted(namespace: string): boolean {
  return namespace !== '' && !UNCOUNTED.includes(namespace);
}

/** `group/plural/namespace/name`. */
function namespaceOf(key: string): string {
  return key.split('/', 3)[2] ?? '';
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text) + OBJECT_BYTES;
}

function nothing(): void {}
