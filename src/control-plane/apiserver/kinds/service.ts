/** Services: an address of their own, and a port on the node where one is asked for. */

import { forbiddenCause } from '../../../base/causes.ts';
import { deepEqual, type JsonObject } from '../../../base/json.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';
import { portsOf, type ServiceClaims, servedPortsOf, specOf } from './service-claims.ts';
import { serviceCauses, takenCauses } from './service-rules.ts';

const ADDRESS_FIELDS = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

export function serviceStrategy(claims: ServiceClaims): Strategy {
  const isTakenFor = (object: AnyObject) => (claim: string) => claims.isTaken(claim, ownerOf(object));
  return {
    prepareCreate: (object) => ({ ...object, spec: allocated(claims, specOf(object)), status: { loadBalancer: {} } }),
    prepareUpdate: (object, old) => ({ ...object, spec: allocated(claims, withOldAddresses(specOf(object), specOf(old))) }),
    validate: (object, old) => serviceCauses(specOf(object), { old: old && specOf(old), isTaken: isTakenFor(object) }),
    reserve(object, old) {
      const causes = takenCauses(specOf(object), { old: old && specOf(old), isTaken: isTakenFor(object) });
      const more = servedPortsOf(specOf(object)) - (old ? servedPortsOf(specOf(old)) : 0);
      const why = claims.whyNoPorts(object.metadata.namespace ?? '', more);
      if (why !== undefined) causes.push(forbiddenCause('spec.ports', why));
      return causes.length > 0 ? { causes } : { giveBack: claims.take(specOf(object), ownerOf(object), more) };
    },
  };
}

function ownerOf({ metadata: { namespace = '', name } }: AnyObject): string {
  return `${namespace}/${name}`;
}

/** A client that sends the Service without its addresses did not mean to take them away; of what its new type has none of, it did. */
function withOldAddresses(spec: JsonObject, old: JsonObject): JsonObject {
  const isUnchanged = (field: string) => deepEqual(spec[field], old[field]);
  const kept = withOldNodePorts(spec, old);
  if (spec['type'] === 'ExternalName') {
    return Object.fromEntries(Object.entries(kept).filter(([field]) => !ADDRESS_FIELDS.includes(field) || !isUnchanged(field)));
  }
  const { clusterIPs: _, ...withoutList } = kept;
  if (spec['clusterIP']) return isUnchanged('clusterIPs') && !isUnchanged('clusterIP') ? withoutList : kept;
  return old['clusterIP'] ? { ...kept, clusterIP: old['clusterIP'], clusterIPs: spec['clusterIPs'] ?? old['clusterIPs'] } : kept;
}

function withOldNodePorts(spec: JsonObject, old: JsonObject): JsonObject {
  const before = portsOf(old).filter(({ nodePort }) => nodePort);
  if (before.length === 0 || !Array.isArray(spec['ports'])) return spec;
  const isSame = (one: JsonObject, other: JsonObject) => one['port'] === other['port'] && one['protocol'] === other['protocol'];
  const ports = portsOf(spec).map((port) => {
    const { nodePort, ...rest } = port;
    if (needsNodePorts(spec)) {
      const own = nodePort ? undefined : before.find((each) => isSame(each, port));
      const isGiven = own && portsOf(spec).some((other) => other['nodePort'] === own['nodePort'] && other['protocol'] === own['protocol']);
      return own && !isGiven ? { ...rest, nodePort: own['nodePort'] } : port;
    }
    return before.some((each) => each['nodePort'] === nodePort) ? rest : port;
  });
  return { ...spec, ports };
}

function needsNodePorts({ type }: JsonObject): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

function allocated(claims: ServiceClaims, spec: JsonObject): JsonObject {
  if (spec['type'] === 'ExternalName') return spec;
  const [first] = Array.isArray(spec['clusterIPs']) ? spec['clusterIPs'] : [];
  const clusterIP = spec['clusterIP'] || first || claims.newAddress();
  const addresses = { clusterIP, clusterIPs: spec['clusterIPs'] ?? [clusterIP], ipFamilies: spec['ipFamilies'] ?? ['IPv4'] };
  const policies = {
    ipFamilyPolicy: spec['ipFamilyPolicy'] ?? 'SingleStack',
    internalTrafficPolicy: spec['internalTrafficPolicy'] ?? 'Cluster',
  };
  return { ...spec, ...addresses, ...policies, ...(needsNodePorts(spec) && { ports: withNodePorts(claims, portsOf(spec)) }) };
}

function withNodePorts(claims: ServiceClaims, ports: readonly JsonObject[]): JsonObject[] {
  const taken = new Set(ports.map(({ nodePort }) => nodePort));
  return ports.map((port) => {
    if (port['nodePort']) return port;
    const nodePort = claims.newNodePort(taken);
    taken.add(nodePort);
    return { ...port, nodePort };
  });
}
