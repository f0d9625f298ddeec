import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Endpoints } from '../../api/core/endpoints.ts';
import type { Service } from '../../api/core/service.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideEndpoints } from './decide-endpoints.ts';

function service(spec: Partial<Service['spec']> = {}): Service {
  const metadata = { name: 'web', namespace: 'default', uid: 's1', labels: { tier: 'front' } };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: 'web' }, ...spec } };
}

type Conditions = NonNullable<EndpointSlice['endpoints'][number]['conditions']>;

function slice(port: number, ...endpoints: readonly [ip: string, conditions: Conditions][]): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `web-${port}`, namespace: 'default' },
    addressType: 'IPv4',
    ports: [{ name: '', port, protocol: 'TCP' }],
    endpoints: endpoints.map(([ip, conditions]) => ({ addresses: [ip], conditions, nodeName: 'n1' })),
  };
}

const READY = { ready: true, serving: true, terminating: false };
const UNREADY = { ready: false, serving: false, terminating: false };
const ENDING = { ready: false, serving: true, terminating: true };

function made(slices: readonly EndpointSlice[]): Endpoints {
  const [action] = decideEndpoints({ service: service(), slices, endpoints: undefined }).actions;
  assert.equal(action?.do, 'create');
  return action.do === 'create' ? (action.object as Endpoints) : assert.fail();
}

test('they say what the slices say: who is ready, who is not yet, by ports; who ends is left out', () => {
  const { metadata, subsets } = made([
    slice(8080, ['10.0.0.1', READY], ['10.0.0.2', UNREADY], ['10.0.0.3', ENDING]),
    slice(9090, ['10.0.0.4', READY]),
  ]);
  assert.deepEqual(metadata.labels, { tier: 'front', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' });
  assert.deepEqual(subsets, [
    {
      addresses: [{ ip: '10.0.0.1', nodeName: 'n1' }],
      notReadyAddresses: [{ ip: '10.0.0.2', nodeName: 'n1' }],
      ports: [{ port: 8080, protocol: 'TCP' }],
    },
    { addresses: [{ ip: '10.0.0.4', nodeName: 'n1' }], ports: [{ port: 9090, protocol: 'TCP' }] },
  ]);
});

test('a Service without Pods has Endpoints without addresses', () => {
  assert.deepEqual(made([slice(8080)]).subsets, []);
});

test('they are written again when somebody stands elsewhere, not otherwise', () => {
  const endpoints = made([slice(8080, ['10.0.0.1', READY])]);
  const after = (...slices: EndpointSlice[]) => explain(decideEndpoints({ service: service(), slices, endpoints }));
  assert.deepEqual(after(slice(8080, ['10.0.0.1', READY])), explain({ actions: [] }));
  assert.match(JSON.stringify(after(slice(8080, ['10.0.0.2', READY]))), /patch .*the Pods of the Service have changed/);
});

test('they go with the Service, if they were made for it', () => {
  const endpoints = made([]);
  const orphan = { ...endpoints, metadata: { ...endpoints.metadata, labels: {} } };
  const gone = (each: Endpoints) => decideEndpoints({ service: undefined, slices: [], endpoints: each }).actions.map((action) => action.do);
  assert.deepEqual([gone(endpoints), gone(orphan)], [['delete'], []]);
});

test('Endpoints of a Service without a selector are for its maker to write', () => {
  assert.deepEqual(decideEndpoints({ service: service({ selector: {} }), slices: [], endpoints: undefined }).actions, []);
});

test('one object has at most 1,000 addresses', () => {
  const slices = Array.from({ length: 11 }, (_, n) =>
    slice(8080, ...Array.from({ length: 100 }, (__, m): [string, Conditions] => [`10.0.${n}.${m}`, READY])),
  );
  assert.equal(made(slices).subsets?.[0]?.addresses?.length, 1_000);
});
