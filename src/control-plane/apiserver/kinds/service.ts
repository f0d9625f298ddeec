/** Services: an address of their own, and a port on the node where one is asked for. */

import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { Store } from '../../store/store.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

const PREFIX = 'core/services/';
/** 10.96.0.0/12 without the first addresses, which belong to well-known services. */
const RANGE_START = (10 << 24) | (96 << 16) | 256;
const RANGE_SIZE = 2 ** 20 - 512;
const FIRST_NODE_PORT = 30000;
const NODE_PORTS = 2768;

export function serviceStrategy(store: Store): Strategy {
  return {
    prepareCreate: (object) => ({ ...object, spec: allocated(store, specOf(object)), status: { loadBalancer: {} } }),
    prepareUpdate: (object, old) => ({ ...object, spec: allocated(store, withOldAddresses(specOf(object), specOf(old))) }),
    validate: (object, old) => (old ? validateAddress(specOf(object), specOf(old)) : []),
  };
}

function specOf(object: AnyObject): JsonObject {
  return isObject(object['spec']) ? object['spec'] : {};
}

/** A client that sends the Service without its addresses did not mean to take them away. */
function withOldAddresses(spec: JsonObject, old: JsonObject): JsonObject {
  const isStill = spec['type'] !== 'ExternalName' && !spec['clusterIP'];
  return isStill ? { ...spec, clusterIP: old['clusterIP'], clusterIPs: old['clusterIPs'] } : spec;
}

function validateAddress(spec: JsonObject, old: JsonObject): StatusCause[] {
  const isChanged =
    old['type'] !== 'ExternalName' &&
    spec['type'] !== 'ExternalName' &&
    old['clusterIP'] !== undefined &&
    spec['clusterIP'] !== old['clusterIP'];
  return isChanged ? [invalidCause('spec.clusterIPs[0]', [spec['clusterIP']], 'may not change once set')] : [];
}

function allocated(store: Store, spec: JsonObject): JsonObject {
  const { type = 'ClusterIP' } = spec;
  if (type === 'ExternalName') return spec;
  const used = store.list(PREFIX).map(({ value }) => specOf(value as AnyObject)); // every stored object has the outline of one
  const clusterIP = spec['clusterIP'] || freeAddress(new Set(used.map((other) => String(other['clusterIP']))));
  const addresses = { clusterIP, clusterIPs: spec['clusterIPs'] ?? [clusterIP], ipFamilies: spec['ipFamilies'] ?? ['IPv4'] };
  const policies = {
    ipFamilyPolicy: spec['ipFamilyPolicy'] ?? 'SingleStack',
    internalTrafficPolicy: spec['internalTrafficPolicy'] ?? 'Cluster',
  };
  const needsNodePorts = type === 'NodePort' || type === 'LoadBalancer';
  return { ...spec, ...addresses, ...policies, ...(needsNodePorts && { ports: withNodePorts(portsOf(spec), used.flatMap(portsOf)) }) };
}

function portsOf(spec: JsonObject): JsonObject[] {
  return Array.isArray(spec['ports']) ? spec['ports'].filter(isObject) : [];
}

function freeAddress(used: ReadonlySet<string>): string {
  const start = crypto.getRandomValues(new Uint32Array(1))[0]! % RANGE_SIZE; // an array of one number
  for (let i = 0; ; i += 1) {
    const address = RANGE_START + ((start + i) % RANGE_SIZE);
    const text = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
    if (!used.has(text)) return text;
  }
}

function withNodePorts(ports: readonly JsonObject[], used: readonly JsonObject[]): JsonObject[] {
  const taken = new Set([...ports, ...used].map((port) => port['nodePort']));
  return ports.map((port) => {
    if (port['nodePort']) return port;
    let nodePort = FIRST_NODE_PORT + (crypto.getRandomValues(new Uint32Array(1))[0]! % NODE_PORTS); // an array of one number
    while (taken.has(nodePort)) nodePort = nodePort + 1 < FIRST_NODE_PORT + NODE_PORTS ? nodePort + 1 : FIRST_NODE_PORT;
    taken.add(nodePort);
    return { ...port, nodePort };
  });
}
