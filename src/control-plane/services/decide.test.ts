import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideAllListeners, decideListeners } from './decide-listeners.ts';
import { decideSlices } from './decide-slices.ts';

type PodOptions = {
  readonly ip?: string;
  readonly isReady?: boolean;
  readonly isDeleting?: boolean;
  readonly http?: number;
  readonly app?: string;
};

function pod(name: string, { ip, isReady = true, isDeleting = false, http = 8080, app = 'web' }: PodOptions): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: name, labels: { app }, ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { nodeName: 'n1', containers: [{ name: 'c', ports: [{ name: 'http', containerPort: http }] }] },
    status: { phase: 'Running', ...(ip && { podIP: ip }), conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

function service(spec: Partial<Service['spec']> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', uid: 's1' },
    spec: { selector: { app: 'web' }, clusterIP: '10.96.1.1', ports: [{ port: 80, targetPort: 'http' }], ...spec },
  };
}

/** The slices after the decision was carried out. */
function slicesOf(own: Service, pods: readonly Pod[], before: readonly EndpointSlice[] = []): EndpointSlice[] {
  return decideSlices({ service: own, pods, slices: before }).actions.flatMap((action) =>
    action.do === 'create' ? [action.object as EndpointSlice] : [],
  );
}

test('Pods that match and have an address stand behind the Service, with what they are', () => {
  const pods = [
    pod('a', { ip: '10.244.0.2' }),
    pod('b', { ip: '10.244.0.3', isReady: false }),
    pod('c', { ip: '10.244.0.4', isDeleting: true }),
    pod('d', {}),
    pod('e', { ip: '10.244.0.5', app: 'db' }),
  ];
  const [slice, ...others] = slicesOf(service(), pods);
  assert.deepEqual(others, []);
  assert.deepEqual(slice?.ports, [{ name: '', port: 8080, protocol: 'TCP' }]);
  assert.deepEqual(
    slice?.endpoints.map(({ addresses, conditions }) => [addresses[0], conditions]),
    [
      ['10.244.0.2', { ready: true, serving: true, terminating: false }],
      ['10.244.0.3', { ready: false, serving: false, terminating: false }],
      ['10.244.0.4', { ready: false, serving: true, terminating: true }],
    ],
  );
});

test('what is as it should be is left alone, what differs is patched, what is left over is deleted', () => {
  const pods = [pod('a', { ip: '10.244.0.2' })];
  const slices = slicesOf(service(), pods);
  assert.deepEqual(explain(decideSlices({ service: service(), pods, slices })), []);
  const name = slices[0]?.metadata.name;
  assert.deepEqual(explain(decideSlices({ service: service(), pods: [], slices })), [
    `patch EndpointSlice default/${name}: the Pods of the Service have changed`,
  ]);
  assert.deepEqual(explain(decideSlices({ service: service({ selector: {} }), pods, slices })), [
    `delete EndpointSlice default/${name}: no Pod of the Service has these ports`,
  ]);
});

test('a name that means another port in each Pod makes a slice for each', () => {
  const slices = slicesOf(service(), [pod('a', { ip: '10.244.0.2' }), pod('b', { ip: '10.244.0.3', http: 9090 })]);
  assert.deepEqual(
    slices.map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints.length]),
    [
      [8080, 1],
      [9090, 1],
    ],
  );
});

test('a slice holds at most 100 endpoints', () => {
  const pods = Array.from({ length: 101 }, (_, i) => pod(`p${String(i).padStart(3, '0')}`, { ip: `10.244.1.${i}` }));
  assert.deepEqual(
    slicesOf(service(), pods).map(({ endpoints }) => endpoints.length),
    [100, 1],
  );
});

test('a Service without a selector is not ours, and slices of others are left alone', () => {
  const foreign: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-by-hand', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [],
  };
  assert.deepEqual(explain(decideSlices({ service: service({ selector: {} }), pods: [], slices: [foreign] })), []);
});

test('the proxy listens at the address of a Service and at its NodePorts, for endpoints that are ready', () => {
  const own = service({
    type: 'NodePort',
    ports: [
      { port: 80, targetPort: 'http', nodePort: 30080 },
      { name: 'names', port: 53, protocol: 'UDP' },
      { name: 'other', port: 9, protocol: 'SCTP' },
    ],
  });
  const slices = slicesOf(own, [pod('a', { ip: '10.244.0.2' }), pod('b', { ip: '10.244.0.3', isReady: false })]);
  const targets = [{ host: '10.244.0.2', port: 8080 }];
  const inNamespace = { hasClusterAddresses: true, nodeAddress: '127.0.0.1' };
  assert.deepEqual(decideListeners(own, slices, inNamespace), [
    { protocol: 'TCP', host: '10.96.1.1', port: 80, targets },
    { protocol: 'TCP', host: '127.0.0.1', port: 30080, targets, isNodePort: true },
    { protocol: 'UDP', host: '10.96.1.1', port: 53, targets: [{ host: '10.244.0.2', port: 53 }] },
  ]);
  assert.deepEqual(decideListeners(own, slices, { ...inNamespace, hasClusterAddresses: false }), [
    { protocol: 'TCP', host: '127.0.0.1', port: 30080, targets, isNodePort: true },
  ]);
  assert.deepEqual(
    decideListeners(own, slices, { ...inNamespace, servedElsewhere: ['10.96.1.1'] }).map(({ port }) => port),
    [30080],
  );
  assert.deepEqual(decideListeners(service({ clusterIP: 'None' }), slices, inNamespace), []);
});

test('while none is ready, endpoints that end still serve', () => {
  const slices = slicesOf(service(), [pod('c', { ip: '10.244.0.4', isDeleting: true }), pod('b', { ip: '10.244.0.3', isReady: false })]);
  const [listener] = decideListeners(service(), slices, { hasClusterAddresses: true, nodeAddress: '127.0.0.1' });
  assert.deepEqual(listener?.targets, [{ host: '10.244.0.4', port: 8080 }]);
});

test('session affinity is for as long as the Service says, else for three hours', () => {
  const affinity = (spec: Partial<Service['spec']>) =>
    decideListeners(service(spec), [], { hasClusterAddresses: true, nodeAddress: '127.0.0.1' })[0]?.affinityMs;
  assert.equal(affinity({}), undefined);
  assert.equal(affinity({ sessionAffinity: 'ClientIP' }), 10_800_000);
  assert.equal(affinity({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }), 5_000);
});

test('of two Services that are stored with one address or NodePort the older one is served, whatever their order', () => {
  const named = (name: string, created: string): Service => ({
    ...service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }),
    metadata: { name, namespace: 'default', uid: name, creationTimestamp: created },
  });
  const [older, younger] = [named('z', '2026-01-01T00:00:00Z'), named('a', '2026-01-02T00:00:00Z')];
  const slicesOf = ({ metadata }: Service) => slicesOfPods(metadata.name === 'z' ? '10.244.0.2' : '10.244.0.3');
  for (const services of [
    [older, younger],
    [younger, older],
  ]) {
    const found = decideAllListeners({ services, slicesOf }, { hasClusterAddresses: true, nodeAddress: '127.0.0.1' });
    assert.deepEqual(
      [...found].map(([key, { targets }]) => [key, targets[0]?.host]),
      [
        ['TCP 10.96.1.1:80', '10.244.0.2'],
        ['TCP 127.0.0.1:30080', '10.244.0.2'],
      ],
    );
  }
});

function slicesOfPods(ip: string): EndpointSlice[] {
  return slicesOf(service({ ports: [{ port: 80 }] }), [pod('a', { ip })]);
}

for (const [clusterIP, nodePort] of [
  ['127.0.0.1', 22],
  ['10.244.0.5', 18_080],
  ['8.8.8.8', 29_999],
  ['10.96.0.0', 32_768],
  ['10.112.0.1', 443],
  ['010.96.0.5', 65_535],
] as const) {
  test(`nobody listens at ${clusterIP} nor at the NodePort ${nodePort}, whoever stored them`, () => {
    const listenersOf = (spec: Partial<Service['spec']>) =>
      decideListeners(service({ type: 'NodePort', ...spec }), [], { hasClusterAddresses: true, nodeAddress: '127.0.0.1' });
    assert.deepEqual(listenersOf({ clusterIP }), []);
    assert.deepEqual(
      listenersOf({ ports: [{ port: 80, nodePort }] }).map(({ host }) => host),
      ['10.96.1.1'],
    );
  });
}

test('of very many ports that are stored the older Services are served, and one namespace leaves room for others', () => {
  const ports = Array.from({ length: 30_000 }, (_, at) => ({ name: `p${at}`, port: at + 1 }));
  const of = (namespace: string, clusterIP: string, many: number, creationTimestamp: string): Service => {
    const { metadata, ...rest } = service({ clusterIP, ports: ports.slice(0, many) });
    return { ...rest, metadata: { ...metadata, namespace, name: `s-${clusterIP}`, creationTimestamp } };
  };
  const services = [
    of('full', '10.96.2.1', 30_000, '2026-01-02T00:00:00Z'),
    of('full', '10.96.2.2', 1, '2026-01-01T00:00:00Z'),
    of('other', '10.96.2.3', 1, '2026-01-03T00:00:00Z'),
  ];
  const found = decideAllListeners({ services, slicesOf: () => [] }, { hasClusterAddresses: true, nodeAddress: '127.0.0.1' });
  const countAt = (address: string) => [...found.keys()].filter((key) => key.startsWith(`TCP ${address}:`)).length;
  assert.deepEqual(['10.96.2.1', '10.96.2.2', '10.96.2.3'].map(countAt), [1_999, 1, 1]);
});
