/**
 * Which Service has which address and which NodePort: of each there is one. Follows the store, so that a question costs the same however
 * many Services there are. A write takes what it wants in the same turn in which it is sent to the store, and so no two writes get the same.
 */
import { FIRST_NODE_PORT, FREE_ADDRESSES, freeAddress, NODE_PORTS, RESERVED_ADDRESSES } from '../../../api/core/service-ranges.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { Store } from '../../store/store.ts';

const PREFIX = 'core/services/';

/** `10.96.3.4` or `30080`. */
export type Claim = string;

export class ServiceClaims {
  /** By what is had: who has it, or writes it just now. More than one only where an older store has them. */
  readonly #owners = new Map<Claim, Map<string, number>>();
  readonly #stored = new Map<string, readonly Claim[]>();
  readonly #stop: () => void;
  #nextPort = randomBelow(NODE_PORTS);

  constructor(store: Store) {
    for (const { key, value } of store.list(PREFIX)) this.#keep(key, claimsOf(specOf(value)));
    this.#stop = store.watch(PREFIX, store.revision, ({ key, entry }) => this.#keep(key, entry ? claimsOf(specOf(entry.value)) : []));
  }

  /** True when another Service than this one (`namespace/name`) has it. */
  isTaken(claim: Claim, owner: string): boolean {
    if ((RESERVED_ADDRESSES.get(claim) ?? owner) !== owner) return true;
    const owners = this.#owners.get(claim);
    return owners !== undefined && (owners.size > 1 || !owners.has(owner));
  }

  /** Keeps these for whoever writes them, until the write is over. */
  take(claims: readonly Claim[], owner: string): () => void {
    for (const claim of claims) this.#count(claim, owner, 1);
    return () => {
      for (const claim of claims) this.#count(claim, owner, -1);
    };
  }

  /** One that nobody has. */
  newAddress(): string {
    const start = randomBelow(FREE_ADDRESSES);
    for (let tries = 0; tries < FREE_ADDRESSES; tries += 1) {
      const address = freeAddress((start + tries) % FREE_ADDRESSES);
      if (!this.#owners.has(address)) return address;
    }
    return ''; // which is no address, and is refused
  }

  /** One that nobody has and that is not among these; each is given in its turn, so that two who ask at once get two. 0 when all are taken. */
  newNodePort(besides: ReadonlySet<unknown>): number {
    for (let tries = 0; tries < NODE_PORTS; tries += 1) {
      const port = FIRST_NODE_PORT + this.#nextPort;
      this.#nextPort = (this.#nextPort + 1) % NODE_PORTS;
      if (!besides.has(port) && !this.#owners.has(String(port))) return port;
    }
    return 0;
  }

  /** Stops following the store. */
  close(): void {
    this.#stop();
  }

  #keep(key: string, claims: readonly Claim[]): void {
    const owner = key.slice(PREFIX.length);
    for (const claim of this.#stored.get(owner) ?? []) this.#count(claim, owner, -1);
    for (const claim of claims) this.#count(claim, owner, 1);
    if (claims.length > 0) this.#stored.set(owner, claims);
    else this.#stored.delete(owner);
  }

  #count(claim: Claim, owner: string, difference: number): void {
    const owners = this.#owners.get(claim) ?? new Map<string, number>();
    const count = (owners.get(owner) ?? 0) + difference;
    if (count > 0) this.#owners.set(claim, owners.set(owner, count));
    else owners.delete(owner);
    if (owners.size === 0) this.#owners.delete(claim);
  }
}

/** What a Service has that no other one may have; a port may be had for TCP and UDP at once. */
export function claimsOf(spec: JsonObject): Claim[] {
  const { clusterIP, type } = spec;
  const hasAddress = type !== 'ExternalName' && typeof clusterIP === 'string' && clusterIP !== '' && clusterIP !== 'None';
  const ports = portsOf(spec).flatMap(({ nodePort }) => (nodePort ? [String(nodePort)] : []));
  return [...new Set([...(hasAddress ? [clusterIP] : []), ...ports])];
}

export function specOf(object: object): JsonObject {
  const { spec } = object as { readonly spec?: unknown }; // every object may be asked for a field
  return isObject(spec) ? spec : {};
}

export function portsOf(spec: JsonObject): JsonObject[] {
  return Array.isArray(spec['ports']) ? spec['ports'].filter(isObject) : [];
}

function randomBelow(limit: number): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! % limit; // an array of one number
}
