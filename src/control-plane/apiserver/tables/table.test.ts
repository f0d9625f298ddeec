import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../base/json.ts';
import { type TableRequest, tableFor } from './table.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const CREATED = '2026-01-01T00:55:00Z';

type Table = {
  columnDefinitions: { name: string; type: string; format: string; priority: number }[];
  rows: { cells: unknown[]; object?: unknown }[];
};

function table(request: Partial<TableRequest>): Table {
  const all = {
    resource: { group: 'example.com', kind: 'Widget' },
    objects: [],
    metadata: {},
    includeObject: 'Metadata',
    nowMs: NOW,
    ...request,
  } as const;
  return tableFor(all) as unknown as Table;
}

function cellsOf(group: string, kind: string, object: JsonObject): Record<string, unknown> {
  const named = { ...object, metadata: { name: 'x', creationTimestamp: CREATED, ...(object['metadata'] as JsonObject) } };
  const { columnDefinitions, rows } = table({ resource: { group, kind }, objects: [named] });
  return Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, rows[0]?.cells[index]]));
}

test('the columns of a CRD follow the name, each with a cell of its type', () => {
  const object = { metadata: { name: 'w', creationTimestamp: CREATED }, spec: { size: 5, tags: ['a', 'b'], on: true, odd: { a: 1 } } };
  const columns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Tags', type: 'string', jsonPath: '.spec.tags[*]', priority: 1 },
    { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
    { name: 'Odd', type: 'string', jsonPath: '.spec.odd' },
    { name: 'Gone', type: 'string', jsonPath: '.spec.gone' },
    { name: 'Wrong', type: 'integer', jsonPath: '.spec.tags' },
    { name: 'Broken', type: 'string', jsonPath: 'spec[' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Never', type: 'date', jsonPath: '.status.at' },
  ];
  const { columnDefinitions, rows } = table({ columns, objects: [object], metadata: { resourceVersion: '7' } });
  assert.deepEqual(rows[0]?.cells, ['w', 5, 'a,b', true, '{"a":1}', null, null, null, '5m', null]);
  assert.deepEqual(columnDefinitions.slice(0, 3), [
    { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
    { name: 'Size', type: 'integer', format: '', description: '', priority: 0 },
    { name: 'Tags', type: 'string', format: '', description: '', priority: 1 },
  ]);
});

test('a CRD without columns prints name and age', () => {
  assert.deepEqual(table({ objects: [{ metadata: { name: 'w', creationTimestamp: CREATED } }] }).rows[0]?.cells, ['w', '5m']);
});

test('a row carries as much of the object as was asked for', () => {
  const object = { kind: 'Widget', metadata: { name: 'w' }, spec: {} };
  const rowWith = (includeObject: TableRequest['includeObject']) => table({ objects: [object], includeObject }).rows[0]?.object;
  assert.deepEqual(rowWith('Metadata'), { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'w' } });
  assert.deepEqual(rowWith('Object'), object);
  assert.equal(rowWith('None'), undefined);
});

const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } };
const ended = (terminated: JsonObject) => ({ name: 'c', ready: false, restartCount: 0, state: { terminated } });
const waiting = (reason: string) => ({ name: 'c', ready: false, restartCount: 0, state: { waiting: { reason } } });
const STATUSES: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ['Pending', {}, { phase: 'Pending' }],
  ['Running', {}, { phase: 'Running', containerStatuses: [running] }],
  ['ContainerCreating', {}, { phase: 'Pending', containerStatuses: [waiting('ContainerCreating')] }],
  ['ImagePullBackOff', {}, { phase: 'Pending', containerStatuses: [running, waiting('ImagePullBackOff')] }],
  ['Completed', {}, { phase: 'Succeeded', containerStatuses: [ended({ exitCode: 0, reason: 'Completed' })] }],
  ['Error', {}, { phase: 'Failed', containerStatuses: [ended({ exitCode: 1, reason: 'Error' })] }],
  ['ExitCode:3', {}, { phase: 'Failed', containerStatuses: [ended({ exitCode: 3 })] }],
  ['Signal:9', {}, { phase: 'Failed', containerStatuses: [ended({ exitCode: 137, signal: 9 })] }],
  ['Evicted', {}, { phase: 'Failed', reason: 'Evicted' }],
  [
    'Init:0/1',
    {},
    { phase: 'Pending', initContainerStatuses: [waiting('PodInitializing')], containerStatuses: [waiting('PodInitializing')] },
  ],
  ['Init:CrashLoopBackOff', {}, { phase: 'Pending', initContainerStatuses: [waiting('CrashLoopBackOff')] }],
  [
    'PodInitializing',
    {},
    { phase: 'Pending', initContainerStatuses: [ended({ exitCode: 0 })], containerStatuses: [waiting('PodInitializing')] },
  ],
  ['Terminating', { deletionTimestamp: CREATED }, { phase: 'Running', containerStatuses: [running] }],
];

for (const [word, metadata, status] of STATUSES) {
  test(`a pod is shown as ${word}`, () => {
    const spec = { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] };
    assert.equal(cellsOf('', 'Pod', { metadata, spec, status })['Status'], word);
  });
}

test('a pod shows readiness, restarts and where it runs', () => {
  const lastState = { terminated: { finishedAt: '2026-01-01T00:58:00Z' } };
  const status = {
    phase: 'Running',
    podIP: '10.244.0.5',
    containerStatuses: [{ ...running, restartCount: 2, lastState }, waiting('CrashLoopBackOff')],
  };
  assert.deepEqual(cellsOf('', 'Pod', { spec: { nodeName: 'n1', containers: [{}, {}] }, status }), {
    Name: 'x',
    Ready: '1/2',
    Status: 'CrashLoopBackOff',
    Restarts: '2 (2m ago)',
    Age: '5m',
    IP: '10.244.0.5',
    Node: 'n1',
    'Nominated Node': '<none>',
    'Readiness Gates': '<none>',
  });
});

test('a node shows its state, roles and addresses', () => {
  const node = {
    metadata: { labels: { 'node-role.kubernetes.io/control-plane': '', other: '' } },
    spec: { unschedulable: true },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      nodeInfo: { kubeletVersion: 'v1.32.0' },
    },
  };
  const cells = cellsOf('', 'Node', node);
  assert.deepEqual(
    [cells['Status'], cells['Roles'], cells['Version'], cells['Internal-IP'], cells['External-IP']],
    ['Ready,SchedulingDisabled', 'control-plane', 'v1.32.0', '10.0.0.1', '<none>'],
  );
});

test('a service shows its ports, an event its object, an APIService whether it answers', () => {
  const spec = {
    type: 'NodePort',
    clusterIP: '10.96.0.9',
    ports: [
      { port: 80, nodePort: 30080, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ],
  };
  assert.equal(cellsOf('', 'Service', { spec })['Port(s)'], '80:30080/TCP,53/UDP');
  const event = { involvedObject: { kind: 'Pod', name: 'p' }, lastTimestamp: '2026-01-01T00:59:30Z', reason: 'Started', message: 'go\n' };
  const cells = cellsOf('', 'Event', event);
  assert.deepEqual([cells['Last Seen'], cells['Object'], cells['Message']], ['30s', 'pod/p', 'go']);
  const conditions = [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }];
  const apiService = { spec: { service: { namespace: 'kubevirt', name: 'virt-api' } }, status: { conditions } };
  const api = cellsOf('apiregistration.k8s.io', 'APIService', apiService);
  assert.deepEqual([api['Service'], api['Available']], ['kubevirt/virt-api', 'False (MissingEndpoints)']);
});
