/**
 * Which Service has which address and which NodePort: of each there is one. And how many ports the Services of a namespace have. Follows the store, so that a question costs the same however
 * many Services there are. A write takes what it wants in the same turn in which it is sent to the store, and so no two writes get the same.
 */
import {
  FIRST_NODE_PORT,
  FREE_ADDRESSES,
  freeAddress,
  NODE_PORTS,
  RESERVED_ADDRESSES,
  SERVICE_PORTS,
} from '../../../api/core/service-ranges.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { Store } from '../../store/store.ts';

const PREFIX = 'core/services/';

/** `10.96.3.4` or `30080`. */
export type Claim = string;

type Held = { readonly claims: readonly Claim[]; readonly ports: number };
const NOTHING: Held = { claims: [], ports: 0 };

export class ServiceClaims {
  /** By what is had: who has it, or writes it just now. More than one only where an older store has them. */
  readonly #owners = new Map<Claim, Map<string, number>>();
  readonly #stored = new Map<string, Held>();
  /** By namespace, those that are being written included. */
  readonly #ports = new Map<string, number>();
  #allPorts = 0;
  readonly #stop: () => void;
  #nextPort = randomBelow(NODE_PORTS);

  constructor(store: Store) {
    for (const { key, value } of store.list(PREFIX)) this.#keep(key, heldBy(specOf(value)));
    this.#stop = store.watch(PREFIX, store.revision, ({ key, entry }) => this.#keep(key, entry ? heldBy(specOf(entry.value)) : NOTHING));
  }

  /** True when another Service than this one (`namespace/name`) has it. */
  isTaken(claim: Claim, owner: string): boolean {
    if ((RESERVED_ADDRESSES.get(claim) ?? owner) !== owner) return true;
    const owners = this.#owners.get(claim);
    return owners !== undefined && (owners.size > 1 || !owners.has(owner));
  }

  /** Keeps these for whoever writes them, until the write is over. */
  take(spec: JsonObject, owner: string, morePorts: number): () => void {
    const held = { claims: claimsOf(spec), ports: Math.max(0, morePorts) };
    this.#add(owner, held, 1);
    return () => this.#add(owner, held, -1);
  }

  /** Why a Service of this namespace cannot have so many more ports. */
  whyNoPorts(namespace: string, more: number): string | undefined {
    const { ofOne, ofAll } = SERVICE_PORTS;
    if (more <= 0) return undefined;
    if ((this.#ports.get(namespace) ?? 0) + more > ofOne)
      return `the Services of namespace "${namespace}" may have ${ofOne} ports together on this cluster`;
    return this.#allPorts + more > ofAll ? `the Services of all namespaces may have ${ofAll} ports together on this cluster` : undefined;
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

  #keep(key: string, held: Held): void {
    const owner = key.slice(PREFIX.length);
    this.#add(owner, this.#stored.get(owner) ?? NOTHING, -1);
    this.#add(owner, held, 1);
    if (held.claims.length + held.ports > 0) this.#stored.set(owner, held);
    else this.#stored.delete(owner);
  }

  #add(owner: string, { claims, ports }: Held, sign: 1 | -1): void {
    for (const claim of claims) this.#count(claim, owner, sign);
    const namespace = owner.slice(0, owner.indexOf('/'));
    const count = (this.#ports.get(namespace) ?? 0) + sign * ports;
    if (count > 0) this.#ports.set(namespace, count);
    else this.#ports.delete(namespace);
    this.#allPorts += sign * ports;
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
function claimsOf(spec: JsonObject): Claim[] {
  const { clusterIP, type } = spec;
  const hasAddress = type !== 'ExternalName' && typeof clusterIP === 'string' && clusterIP !== '' && clusterIP !== 'None';
  const ports = portsOf(spec).flatMap(({ nodePort }) => (nodePort ? [String(nodePort)] : []));
  return [...new Set([...(hasAddress ? [clusterIP] : []), ...ports])];
}

function heldBy(spec: JsonObject): Held {
  return { claims: claimsOf(spec), ports: servedPortsOf(spec) };
}

/** Ports at which somebody listens for the Service. */
export function servedPortsOf(spec: JsonObject): number {
  return spec['type'] === 'ExternalName' || spec['clusterIP'] === 'None' ? 0 : portsOf(spec).length;
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
