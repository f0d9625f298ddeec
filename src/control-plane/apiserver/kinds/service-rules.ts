/**
 * What a Service may ask for, in the words of Kubernetes:
 *
 *   its address          of the range of Services, of nobody else, for good; IPv4
 *   its NodePorts        of their range, of nobody else, one for each protocol; none where the type has none
 *   its ports            from 1 to 65535, each once for a protocol, with a name where there are several
 *   ExternalName         a name, and no address
 *   externalIPs          no loopback, no link-local address
 *
 * What is stored already is not asked again: a Service of an older release may still be changed elsewhere.
 */
import { isNodePort, isServiceAddress, NODE_PORT_RANGE, SERVICE_RANGE } from '../../../api/core/service-ranges.ts';
import { duplicateCause, forbiddenCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import { dnsLabelCauses, subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual, type JsonObject } from '../../../base/json.ts';
import { portsOf } from './service-claims.ts';
import { specialAddressCauses } from './special-address.ts';

export type ServiceContext = {
  readonly old: JsonObject | undefined;
  /** Another Service has this address or NodePort. */
  readonly isTaken: (claim: string) => boolean;
};

const MAX_PORT = 65_535;

export function serviceCauses(spec: JsonObject, context: ServiceContext): StatusCause[] {
  const ofType = spec['type'] === 'ExternalName' ? externalNameCauses(spec) : addressCauses(spec, context);
  return [...ofType, ...portCauses(spec, context.old), ...nodePortCauses(spec, context), ...externalIpCauses(spec, context.old)];
}

/** The part that another Service can change at any moment. */
export function takenCauses(spec: JsonObject, context: ServiceContext): StatusCause[] {
  return [...takenAddressCauses(spec, context), ...takenNodePortCauses(spec, context)];
}

function externalNameCauses(spec: JsonObject): StatusCause[] {
  const { externalName } = spec;
  const isSet = (field: string) => spec[field] !== undefined && !deepEqual(spec[field], []) && spec[field] !== '';
  return [
    ...(['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const)
      .filter((field) => isSet(field) || (field === 'clusterIPs' && isSet('clusterIP')))
      .map((field) => forbiddenCause(`spec.${field}`, 'may not be set for ExternalName services')),
    ...(externalName
      ? subdomainCauses('spec.externalName', String(externalName).replace(/\.$/, ''))
      : [requiredCause('spec.externalName')]),
  ];
}

function addressCauses(spec: JsonObject, context: ServiceContext): StatusCause[] {
  const { old } = context;
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy, type } = spec;
  const list = Array.isArray(clusterIPs) ? clusterIPs : [];
  if (
    hasSameAddress(spec, old) &&
    deepEqual(clusterIPs, old?.['clusterIPs']) &&
    deepEqual(ipFamilies, old?.['ipFamilies']) &&
    type === old?.['type']
  )
    return [];
  if (old && old['type'] !== 'ExternalName' && old['clusterIP'] !== undefined && clusterIP !== old['clusterIP']) {
    return [invalidCause('spec.clusterIPs[0]', [clusterIP], 'may not change once set')];
  }
  const causes = [
    ...(list[0] === clusterIP ? [] : [invalidCause('spec.clusterIPs', list, 'first value must match `clusterIP`')]),
    ...(list.length > 1 ? [invalidCause('spec.clusterIPs', list, 'may only hold up to 1 values')] : []),
    ...(Array.isArray(ipFamilies) ? ipFamilies : []).flatMap((family, index) =>
      index === 0 && family === 'IPv4' ? [] : [invalidCause(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
    ...(ipFamilyPolicy === 'RequireDualStack'
      ? [invalidCause('spec.ipFamilyPolicy', ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
  ];
  if (clusterIP === 'None') {
    const isOut = type === 'NodePort' || type === 'LoadBalancer';
    return [...causes, ...(isOut ? [invalidCause('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)] : [])];
  }
  if (hasSameAddress(spec, old)) return causes;
  if (isServiceAddress(String(clusterIP))) return [...causes, ...takenAddressCauses(spec, context)];
  const why = `the provided IP (${String(clusterIP)}) is not in the valid range. The range of valid IPs is ${SERVICE_RANGE}`;
  return [...causes, invalidCause('spec.clusterIPs', [clusterIP], `failed to allocate IP ${String(clusterIP)}: ${why}`)];
}

function takenAddressCauses(spec: JsonObject, { old, isTaken }: ServiceContext): StatusCause[] {
  const { clusterIP, type } = spec;
  if (type === 'ExternalName' || clusterIP === 'None' || hasSameAddress(spec, old) || !isTaken(String(clusterIP))) return [];
  return [invalidCause('spec.clusterIPs', [clusterIP], `failed to allocate IP ${String(clusterIP)}: provided IP is already allocated`)];
}

function hasSameAddress(spec: JsonObject, old: JsonObject | undefined): boolean {
  return old !== undefined && old['type'] !== 'ExternalName' && spec['clusterIP'] === old['clusterIP'];
}

function portCauses(spec: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const ports = portsOf(spec);
  if (deepEqual(spec['ports'], old?.['ports'])) return [];
  const isNeeded = spec['type'] !== 'ExternalName' && spec['clusterIP'] !== 'None';
  if (ports.length === 0) return isNeeded ? [requiredCause('spec.ports')] : [];
  const seen = new Set<string>();
  const isNew = (key: string) => seen.size !== seen.add(key).size;
  return ports.flatMap(({ name, port, protocol = 'TCP', targetPort }, index): StatusCause[] => {
    const field = `spec.ports[${index}]`;
    const nameCauses = name ? dnsLabelCauses(`${field}.name`, String(name)) : ports.length > 1 ? [requiredCause(`${field}.name`)] : [];
    return [
      ...nameCauses,
      ...(name && !isNew(`name ${String(name)}`) ? [duplicateCause(`${field}.name`, name)] : []),
      ...numberCauses(`${field}.port`, port),
      ...(typeof targetPort === 'number' ? numberCauses(`${field}.targetPort`, targetPort) : []),
      ...(isNew(`${String(protocol)} ${String(port)}`) ? [] : [duplicateCause(field, { protocol, port })]),
    ];
  });
}

function numberCauses(field: string, port: unknown): StatusCause[] {
  const isPort = typeof port === 'number' && port >= 1 && port <= MAX_PORT;
  return isPort ? [] : [invalidCause(field, port, `must be between 1 and ${MAX_PORT}, inclusive`)];
}

function nodePortCauses(spec: JsonObject, context: ServiceContext): StatusCause[] {
  const { type } = spec;
  const given = new Set<string>();
  const before = nodePortsOf(context.old);
  const own = portsOf(spec).flatMap(({ nodePort, protocol = 'TCP' }, index): StatusCause[] => {
    if (nodePort === undefined) return [];
    const field = `spec.ports[${index}].nodePort`;
    if (type !== 'NodePort' && type !== 'LoadBalancer') {
      return nodePort === 0 ? [] : [forbiddenCause(field, `may not be used when \`type\` is '${String(type)}'`)];
    }
    const key = `${String(protocol)} ${String(nodePort)}`;
    if (given.size === given.add(key).size) return [duplicateCause(field, nodePort)];
    if (before.has(nodePort) || isNodePort(nodePort)) return [];
    return [invalidCause(field, nodePort, `provided port is not in the valid range. The range of valid ports is ${NODE_PORT_RANGE}`)];
  });
  return [...own, ...takenNodePortCauses(spec, context)];
}

function takenNodePortCauses(spec: JsonObject, { old, isTaken }: ServiceContext): StatusCause[] {
  const before = nodePortsOf(old);
  return portsOf(spec).flatMap(({ nodePort }, index) =>
    nodePort && !before.has(nodePort) && isTaken(String(nodePort))
      ? [invalidCause(`spec.ports[${index}].nodePort`, nodePort, 'provided port is already allocated')]
      : [],
  );
}

function nodePortsOf(spec: JsonObject | undefined): ReadonlySet<unknown> {
  return new Set(portsOf(spec ?? {}).map(({ nodePort }) => nodePort));
}

function externalIpCauses(spec: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const { externalIPs } = spec;
  if (!Array.isArray(externalIPs) || deepEqual(externalIPs, old?.['externalIPs'])) return [];
  return externalIPs.flatMap((address, index) => specialAddressCauses(`spec.externalIPs[${index}]`, String(address)));
}
