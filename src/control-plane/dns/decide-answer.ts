/**
 * What a name of the cluster means.
 *
 *   NAME.NS.svc.cluster.local                  A: the address of the Service; of one without (headless) those of its endpoints
 *                                              an ExternalName: CNAME, and what that leads to
 *   HOST.NAME.NS.svc.cluster.local             A: the endpoint of this host name, or of the address written with dashes
 *   _PORT._PROTO.NAME.NS.svc.cluster.local     SRV: the port, at the Service or at each endpoint
 *   10-244-0-5.NS.pod.cluster.local            A: the address itself, if a Pod of the namespace has it
 *   NAME.NS.vm.cluster.local                   A: the address of the machine
 *   5.0.244.10.in-addr.arpa                    PTR: the Service, machine or Pod that has the address
 *   another type for a name that is there      nothing, and that the name is there
 *   anything else below cluster.local          NXDOMAIN; it is never asked for elsewhere
 *   every other name                           the name server of the host
 */

import { CLUSTER_DOMAIN } from '../../api/core/cluster-dns.ts';
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Service } from '../../api/core/service.ts';
import { LABEL_VM_NAME } from '../../api/kubevirt/names.ts';
import type { ClusterNames } from './cluster-names.ts';
import { type Answer, isDomainName, nameBytes, RCODE, type ResourceRecord, TYPE } from './message.ts';

export type Asked = { readonly name: string; readonly type: number };
/** `follow` is a name whose addresses belong to the answer, too. */
export type Meaning = { readonly answer: Answer; readonly follow?: string } | 'upstream';

/** Short: Pods come and go. */
const TTL_SECONDS = 5;
const NETWORKS = /^10\.(244|9[6-9]|10\d|11[01])\./;

/** What there is for a name, undefined when nobody has it. */
type Found = { readonly records: readonly ResourceRecord[]; readonly additional?: readonly ResourceRecord[]; readonly follow?: string };

export function decideAnswer({ name, type }: Asked, names: ClusterNames): Meaning {
  const address = reverseAddress(name);
  if (address !== undefined) return NETWORKS.test(address) ? authoritative({ name, type }, pointersTo(name, address, names)) : 'upstream';
  if (name !== CLUSTER_DOMAIN && !name.endsWith(`.${CLUSTER_DOMAIN}`)) return 'upstream';
  const labels = name.split('.').slice(0, -2);
  return authoritative({ name, type }, find(name, labels, names));
}

function authoritative({ type }: Asked, found: Found | undefined): Meaning {
  const records = (found?.records ?? []).filter((record) => record.type === type || record.type === TYPE.CNAME);
  const rcode = found ? RCODE.NOERROR : RCODE.NXDOMAIN;
  const isFollowed = found?.follow !== undefined && (type === TYPE.A || type === TYPE.AAAA);
  const answer: Answer = {
    rcode,
    isAuthoritative: true,
    answers: records,
    ...(records.length === 0 && { authority: [soaRecord()] }),
    ...(type === TYPE.SRV && found?.additional && { additional: found.additional }),
  };
  return { answer, ...(isFollowed && { follow: found.follow }) };
}

/** `labels` are those before the domain of the cluster. */
function find(name: string, labels: readonly string[], names: ClusterNames): Found | undefined {
  const kind = labels.at(-1);
  const namespace = labels.at(-2);
  if (kind === undefined) return THERE;
  if (kind === 'dns-version' && namespace === undefined) return { records: [textRecord(name, '1.1.0')] };
  if (!['svc', 'pod', 'vm'].includes(kind)) return undefined;
  if (namespace === undefined) return THERE;
  const rest = labels.slice(0, -2);
  if (rest.length === 0) return names.hasNamespace(namespace) ? THERE : undefined;
  if (kind === 'svc') return findService(name, { rest, namespace }, names);
  const [own = '', ...more] = rest;
  if (more.length > 0) return undefined;
  return kind === 'pod' ? findPod(name, { own, namespace }, names) : findMachine(name, { own, namespace }, names);
}

const THERE: Found = { records: [] };

type Below = { readonly rest: readonly string[]; readonly namespace: string };

function findService(name: string, { rest, namespace }: Below, names: ClusterNames): Found | undefined {
  const own = rest.at(-1) ?? '';
  const service = names.service(namespace, own);
  if (!service) return undefined;
  const base = `${own}.${namespace}.svc.${CLUSTER_DOMAIN}`;
  const { type, externalName = '' } = service.spec;
  if (type === 'ExternalName') {
    const target = externalName.replace(/\.$/, '').toLowerCase();
    if (rest.length > 1 || !isDomainName(target)) return undefined;
    return { records: [{ name, type: TYPE.CNAME, ttl: TTL_SECONDS, data: nameBytes(target) }], follow: target };
  }
  const before = rest.slice(0, -1);
  const [port = '', protocol = ''] = before;
  if (before.length === 0) return { records: addressRecords(name, addressesOf(service, names)) };
  if (before.length === 2 && port.startsWith('_') && protocol.startsWith('_'))
    return findPort(name, { service, base, port: port.slice(1), protocol: protocol.slice(1).toUpperCase() }, names);
  if (before.length > 1 || hasAddress(service)) return protocol === '' && port.startsWith('_') ? THERE : undefined;
  const addresses = endpointsOf(service, names)
    .filter((endpoint) => hostOf(endpoint) === port)
    .map(({ address }) => address);
  return addresses.length === 0 ? undefined : { records: addressRecords(name, addresses) };
}

function addressesOf(service: Service, names: ClusterNames): string[] {
  return hasAddress(service) ? [service.spec.clusterIP ?? ''] : [...new Set(endpointsOf(service, names).map(({ address }) => address))];
}

type Endpoint = { readonly address: string; readonly hostname?: string; readonly ports: NonNullable<EndpointSlice['ports']> };

/** Those that are ready. */
function endpointsOf({ metadata }: Service, names: ClusterNames): Endpoint[] {
  return names
    .slices(metadata.namespace ?? '', metadata.name)
    .flatMap(({ endpoints, ports = [], addressType }) =>
      addressType !== 'IPv4'
        ? []
        : endpoints
            .filter(({ conditions }) => conditions?.ready !== false)
            .flatMap(({ addresses, hostname }) =>
              addresses.slice(0, 1).map((address) => ({ address, ports, ...(hostname && { hostname }) })),
            ),
    );
}

function hostOf({ address, hostname }: Endpoint): string {
  return hostname ?? address.replaceAll('.', '-');
}

type Port = { readonly service: Service; readonly base: string; readonly port: string; readonly protocol: string };

function findPort(name: string, { service, base, port, protocol }: Port, names: ClusterNames): Found | undefined {
  if (hasAddress(service)) {
    const own = service.spec.ports?.find((each) => (each.name ?? '') === port && (each.protocol ?? 'TCP') === protocol);
    const address = service.spec.clusterIP ?? '';
    return own && { records: [serviceRecord(name, own.port, base)], additional: addressRecords(base, [address]) };
  }
  const found = endpointsOf(service, names).flatMap((endpoint) => {
    const own = endpoint.ports.find((each) => (each.name ?? '') === port && (each.protocol ?? 'TCP') === protocol)?.port;
    return own === undefined ? [] : [{ own, target: `${hostOf(endpoint)}.${base}`, address: endpoint.address }];
  });
  if (found.length === 0) return undefined;
  return {
    records: found.map(({ own, target }) => serviceRecord(name, own, target)),
    additional: found.flatMap(({ target, address }) => addressRecords(target, [address])),
  };
}

type One = { readonly own: string; readonly namespace: string };

function findPod(name: string, { own, namespace }: One, names: ClusterNames): Found | undefined {
  const address = own.replaceAll('-', '.');
  const pod = names.podAt(address);
  return pod?.metadata.namespace === namespace ? { records: addressRecords(name, [address]) } : undefined;
}

/** A machine that has no address yet is there. */
function findMachine(name: string, { own, namespace }: One, names: ClusterNames): Found | undefined {
  const machine = names.machine(namespace, own);
  const address = machine?.status?.interfaces?.find(({ ipAddress }) => ipAddress)?.ipAddress;
  return machine && { records: addressRecords(name, address ? [address] : []) };
}

function pointersTo(name: string, address: string, names: ClusterNames): Found | undefined {
  const target = targetAt(address, names);
  return target === undefined ? undefined : { records: [{ name, type: TYPE.PTR, ttl: TTL_SECONDS, data: nameBytes(target) }] };
}

function targetAt(address: string, names: ClusterNames): string | undefined {
  const service = names.serviceAt(address);
  if (service) return `${service.metadata.name}.${service.metadata.namespace}.svc.${CLUSTER_DOMAIN}`;
  const pod = names.podAt(address);
  if (!pod) return undefined;
  const { namespace, labels } = pod.metadata;
  const machine = labels?.[LABEL_VM_NAME];
  const isMachine = machine !== undefined && isDomainName(machine) && names.machine(namespace ?? '', machine) !== undefined;
  return isMachine ? `${machine}.${namespace}.vm.${CLUSTER_DOMAIN}` : `${address.replaceAll('.', '-')}.${namespace}.pod.${CLUSTER_DOMAIN}`;
}

function reverseAddress(name: string): string | undefined {
  const [, text] = /^(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})\.in-addr\.arpa$/.exec(name) ?? [];
  return text?.split('.').reverse().join('.');
}

function hasAddress({ spec }: Service): boolean {
  return isAddress(spec.clusterIP ?? '');
}

function isAddress(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256);
}

function addressRecords(name: string, addresses: readonly string[]): ResourceRecord[] {
  return addresses
    .filter(isAddress)
    .map((address) => ({ name, type: TYPE.A, ttl: TTL_SECONDS, data: Buffer.from(address.split('.').map(Number)) }));
}

function serviceRecord(name: string, port: number, target: string): ResourceRecord {
  const fixed = Buffer.alloc(6);
  fixed.writeUInt16BE(100, 2); // weight; the priority before it is 0
  fixed.writeUInt16BE(port, 4);
  return { name, type: TYPE.SRV, ttl: TTL_SECONDS, data: Buffer.concat([fixed, nameBytes(target)]) };
}

function textRecord(name: string, text: string): ResourceRecord {
  return { name, type: TYPE.TXT, ttl: TTL_SECONDS, data: Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]) };
}

/** Says for how long a no is worth remembering. */
function soaRecord(): ResourceRecord {
  const numbers = Buffer.alloc(20);
  [1, 7200, 1800, 86_400, TTL_SECONDS].forEach((value, index) => {
    numbers.writeUInt32BE(value, index * 4);
  });
  const data = Buffer.concat([nameBytes(`ns.dns.${CLUSTER_DOMAIN}`), nameBytes(`hostmaster.${CLUSTER_DOMAIN}`), numbers]);
  return { name: CLUSTER_DOMAIN, type: TYPE.SOA, ttl: TTL_SECONDS, data };
}
