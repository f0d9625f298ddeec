import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../../../src/api/core/endpoint-slice.ts';
import type { Service } from '../../../src/api/core/service.ts';
import { addressesOf, type Endpoint } from './names.ts';

const service = (name: string, clusterIP: string, more: object = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: { clusterIP, ...more },
});
const endpoints: readonly Endpoint[] = [
  { addresses: ['10.1.0.1'], conditions: { ready: true }, hostname: 'db-0' },
  { addresses: ['10.1.0.2'], conditions: { ready: false }, hostname: 'db-1' },
];
const slice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'db-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'db' } },
  addressType: 'IPv4',
  endpoints,
};
const known = { services: [service('web', '10.9.0.5'), service('db', 'None')], slices: [slice] };

for (const [name, expected] of [
  ['web.shop.svc.cluster.local', ['10.9.0.5']],
  ['db.shop.svc.cluster.local', ['10.1.0.1']],
  ['db-0.db.shop.svc.cluster.local', ['10.1.0.1']],
  ['db-1.db.shop.svc.cluster.local', undefined],
  ['web.other.svc.cluster.local', undefined],
  ['a.b.web.shop.svc.cluster.local', undefined],
  ['10-1-2-3.shop.pod.cluster.local', ['10.1.2.3']],
  ['not-an-address.shop.pod.cluster.local', undefined],
  ['cluster.local', undefined],
  ['example.com', undefined],
] as const) {
  test(`${name} is ${expected ?? 'unknown'}`, () => assert.deepEqual(addressesOf(name, known), expected));
}

test('Pods that are not ready are published when the Service wants it', () => {
  const eager = { ...known, services: [service('db', 'None', { publishNotReadyAddresses: true })] };
  assert.deepEqual(addressesOf('db.shop.svc.cluster.local', eager), ['10.1.0.1', '10.1.0.2']);
});
