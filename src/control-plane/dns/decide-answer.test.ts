import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import { vmi } from '../../testing/builders.ts';
import type { ClusterNames } from './cluster-names.ts';
import { decideAnswer } from './decide-answer.ts';
import { RCODE, type ResourceRecord, TYPE } from './message.ts';

function service(name: string, spec: Service['spec']): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec };
}

const SERVICES = [
  service('web', { clusterIP: '10.96.1.1', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }),
  service('db', { clusterIP: 'None', ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }] }),
  service('out', { type: 'ExternalName', externalName: 'Example.org.' }),
  service('bad', { type: 'ExternalName', externalName: '-no name-' }),
];
const SLICE: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'db-1', namespace: 'default' },
  addressType: 'IPv4',
  ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.244.0.5'], hostname: 'db-0', conditions: { ready: true } },
    { addresses: ['10.244.0.6'], conditions: { ready: true } },
    { addresses: ['10.244.0.7'], hostname: 'db-2', conditions: { ready: false } },
  ],
};
function pod(name: string, labels: Record<string, string> = {}): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', labels }, spec: { containers: [] } };
}
const MACHINE = vmi('Running', { interfaces: [{ ipAddress: '10.244.0.9' }] });
const PODS: Record<string, Pod> = { '10.244.0.5': pod('p5'), '10.244.0.9': pod('p9', { 'vm.kubevirt.io/name': MACHINE.metadata.name }) };

const NAMES: ClusterNames = {
  service: (namespace, name) => SERVICES.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  slices: (_, name) => (name === 'db' ? [SLICE] : []),
  machine: (namespace, name) => (namespace === 'default' && name === MACHINE.metadata.name ? MACHINE : undefined),
  hasNamespace: (name) => name === 'default',
  serviceAt: (address) => SERVICES.find(({ spec }) => spec.clusterIP === address),
  podAt: (address) => PODS[address],
};

function text({ name, type, data }: ResourceRecord): string {
  if (type === TYPE.A) return `${name} A ${data.join('.')}`;
  if (type === TYPE.SRV) return `${name} SRV ${data.readUInt16BE(4)} ${nameIn(data.subarray(6))}`;
  return `${name} ${type === TYPE.CNAME ? 'CNAME' : type === TYPE.PTR ? 'PTR' : type} ${nameIn(data)}`;
}

function nameIn(data: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; (data[at] ?? 0) > 0; at += 1 + (data[at] ?? 0)) labels.push(data.toString('latin1', at + 1, at + 1 + (data[at] ?? 0)));
  return labels.join('.');
}

/** NXDOMAIN, upstream, or the records. */
function answer(name: string, type: keyof typeof TYPE = 'A'): string | string[] {
  const meaning = decideAnswer({ name, type: TYPE[type] }, NAMES);
  if (meaning === 'upstream') return 'upstream';
  if (meaning.answer.rcode === RCODE.NXDOMAIN) return 'NXDOMAIN';
  return [...meaning.answer.answers, ...(meaning.answer.additional ?? [])]
    .map(text)
    .concat(meaning.follow ? [`follow ${meaning.follow}`] : []);
}

const WEB = 'web.default.svc.cluster.local';
const DB = 'db.default.svc.cluster.local';
const CASES: [fact: string, name: string, type: keyof typeof TYPE, expected: string | string[]][] = [
  ['a Service', WEB, 'A', [`${WEB} A 10.96.1.1`]],
  ['another type of its name', WEB, 'AAAA', []],
  ['a Service without an address', DB, 'A', [`${DB} A 10.244.0.5`, `${DB} A 10.244.0.6`]],
  ['a Pod by its host name and subdomain', `db-0.${DB}`, 'A', [`db-0.${DB} A 10.244.0.5`]],
  ['a Pod by its address in a Service', `10-244-0-6.${DB}`, 'A', [`10-244-0-6.${DB} A 10.244.0.6`]],
  ['a Pod that is not ready', `db-2.${DB}`, 'A', 'NXDOMAIN'],
  ['a port', `_http._tcp.${WEB}`, 'SRV', [`_http._tcp.${WEB} SRV 80 ${WEB}`, `${WEB} A 10.96.1.1`]],
  [
    'a port of each endpoint',
    `_sql._tcp.${DB}`,
    'SRV',
    [
      `_sql._tcp.${DB} SRV 5432 db-0.${DB}`,
      `_sql._tcp.${DB} SRV 5432 10-244-0-6.${DB}`,
      `db-0.${DB} A 10.244.0.5`,
      `10-244-0-6.${DB} A 10.244.0.6`,
    ],
  ],
  ['a port that is not there', `_http._udp.${WEB}`, 'SRV', 'NXDOMAIN'],
  ['an ExternalName', 'out.default.svc.cluster.local', 'A', ['out.default.svc.cluster.local CNAME example.org', 'follow example.org']],
  ['an ExternalName that is no name', 'bad.default.svc.cluster.local', 'A', 'NXDOMAIN'],
  ['a Pod by its address', '10-244-0-5.default.pod.cluster.local', 'A', ['10-244-0-5.default.pod.cluster.local A 10.244.0.5']],
  ['a Pod of another namespace', '10-244-0-5.other.pod.cluster.local', 'A', 'NXDOMAIN'],
  [
    'a machine',
    `${MACHINE.metadata.name}.default.vm.cluster.local`,
    'A',
    [`${MACHINE.metadata.name}.default.vm.cluster.local A 10.244.0.9`],
  ],
  ['a machine that is not there', 'nobody.default.vm.cluster.local', 'A', 'NXDOMAIN'],
  ['a namespace', 'default.svc.cluster.local', 'A', []],
  ['a namespace that is not there', 'other.svc.cluster.local', 'A', 'NXDOMAIN'],
  ['the domain', 'cluster.local', 'A', []],
  ['something else below it', 'example.org.cluster.local', 'A', 'NXDOMAIN'],
  ['the address of a Service', '1.1.96.10.in-addr.arpa', 'PTR', [`1.1.96.10.in-addr.arpa PTR ${WEB}`]],
  [
    'the address of a machine',
    '9.0.244.10.in-addr.arpa',
    'PTR',
    [`9.0.244.10.in-addr.arpa PTR ${MACHINE.metadata.name}.default.vm.cluster.local`],
  ],
  ['the address of a Pod', '5.0.244.10.in-addr.arpa', 'PTR', ['5.0.244.10.in-addr.arpa PTR 10-244-0-5.default.pod.cluster.local']],
  ['an address that nobody has', '77.0.244.10.in-addr.arpa', 'PTR', 'NXDOMAIN'],
  ['an address elsewhere', '8.8.8.8.in-addr.arpa', 'PTR', 'upstream'],
  ['a name elsewhere', 'example.org', 'A', 'upstream'],
  ['a name that only ends like the domain', 'notcluster.local', 'A', 'upstream'],
];
for (const [fact, name, type, expected] of CASES) {
  test(`${fact}: ${type} ${name}`, () => assert.deepEqual(answer(name, type), expected));
}
