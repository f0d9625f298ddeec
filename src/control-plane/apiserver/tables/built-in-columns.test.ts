import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../base/json.ts';
import { BUILT_IN_KINDS } from '../types/built-in-kinds-table.ts';
import { builtInColumns } from './built-in-columns.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const MADE = '2026-01-01T00:55:00Z';
const ROLE = { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } };
const SELECTOR = {
  matchLabels: { app: 'web' },
  matchExpressions: [
    { key: 'zone', operator: 'NotIn', values: ['b', 'a'] },
    { key: 'aged', operator: 'DoesNotExist' },
  ],
};
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'b' }] } };

/** What kubectl prints of an object, as a real server has it told. */
const PRINTED: [kind: string, object: JsonObject, printed: Record<string, unknown>][] = [
  [
    'storage.k8s.io/StorageClass',
    { ...ROLE, provisioner: 'local', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true },
    {
      Name: 'x (default)',
      Provisioner: 'local',
      ReclaimPolicy: 'Retain',
      VolumeBindingMode: 'WaitForFirstConsumer',
      AllowVolumeExpansion: 'true',
      Age: '5m',
    },
  ],
  [
    'storage.k8s.io/StorageClass',
    { provisioner: 'local' },
    { Name: 'x', Provisioner: 'local', ReclaimPolicy: 'Delete', VolumeBindingMode: 'Immediate', AllowVolumeExpansion: 'false', Age: '5m' },
  ],
  [
    'storage.k8s.io/CSIDriver',
    { spec: { tokenRequests: [{ audience: 'a' }, { audience: 'b' }], volumeLifecycleModes: ['Persistent', 'Ephemeral'] } },
    {
      Name: 'x',
      AttachRequired: true,
      PodInfoOnMount: false,
      StorageCapacity: false,
      TokenRequests: 'a,b',
      RequiresRepublish: false,
      Modes: 'Persistent,Ephemeral',
      Age: '5m',
    },
  ],
  ['storage.k8s.io/CSINode', { spec: { drivers: [{}, {}] } }, { Name: 'x', Drivers: 2, Age: '5m' }],
  [
    'storage.k8s.io/VolumeAttachment',
    { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'pv' } }, status: { attached: true } },
    { Name: 'x', Attacher: 'a', PV: 'pv', Node: 'n', Attached: true, Age: '5m' },
  ],
  [
    'scheduling.k8s.io/PriorityClass',
    { value: 1000, preemptionPolicy: 'Never' },
    { Name: 'x', Value: 1000, 'Global-Default': false, Age: '5m', PreemptionPolicy: 'Never' },
  ],
  ['node.k8s.io/RuntimeClass', { handler: 'kata' }, { Name: 'x', Handler: 'kata', Age: '5m' }],
  [
    'networking.k8s.io/Ingress',
    {
      spec: { ingressClassName: 'c', tls: [{}], rules: ['a', 'b', 'c', 'd'].map((host) => ({ host })) },
      status: { loadBalancer: { ingress: [{ ip: '10.0.0.1' }, { hostname: 'lb' }] } },
    },
    { Name: 'x', Class: 'c', Hosts: 'a,b,c + 1 more...', Address: '10.0.0.1,lb', Ports: '80, 443', Age: '5m' },
  ],
  ['networking.k8s.io/Ingress', { spec: {} }, { Name: 'x', Class: '<none>', Hosts: '*', Address: '', Ports: '80', Age: '5m' }],
  [
    'networking.k8s.io/IngressClass',
    { spec: { controller: 'c', parameters: { apiGroup: 'g', kind: 'K', name: 'n' } } },
    { Name: 'x', Controller: 'c', Parameters: 'K.g/n', Age: '5m' },
  ],
  [
    'networking.k8s.io/NetworkPolicy',
    { spec: { podSelector: SELECTOR } },
    { Name: 'x', 'Pod-Selector': '!aged,app=web,zone notin (a,b)', Age: '5m' },
  ],
  ['networking.k8s.io/NetworkPolicy', { spec: { podSelector: {} } }, { Name: 'x', 'Pod-Selector': '<none>', Age: '5m' }],
  ['/LimitRange', {}, { Name: 'x', 'Created At': MADE }],
  ['/PodTemplate', { template: TEMPLATE }, { Name: 'x', Containers: 'a', Images: 'b', 'Pod Labels': 'app=web' }],
  ['coordination.k8s.io/Lease', { spec: { holderIdentity: 'me' } }, { Name: 'x', Holder: 'me', Age: '5m' }],
  [
    'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
    { spec: { validations: [{}], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
    { Name: 'x', Validations: 1, ParamKind: 'v1/ConfigMap', Age: '5m' },
  ],
  [
    'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'p', paramRef: { name: 'n' } } },
    { Name: 'x', PolicyName: 'p', ParamRef: '*/n', Age: '5m' },
  ],
];

for (const [key, object, printed] of PRINTED)
  test(`${key} prints ${Object.keys(printed).join(', ')}: ${printed['Name']}`, () => {
    const named = { ...object, metadata: { name: 'x', creationTimestamp: MADE, ...(object['metadata'] as JsonObject) } };
    const [group = '', kind = ''] = key.split('/');
    assert.deepEqual(Object.fromEntries(builtInColumns(group, kind).map(({ name, cell }) => [name, cell(named, NOW)])), printed);
  });

test('a claim and a volume that are being deleted and still used say so', () => {
  const object = { metadata: { name: 'x', creationTimestamp: MADE, deletionTimestamp: MADE }, status: { phase: 'Bound' } };
  const status = (kind: string) =>
    builtInColumns('', kind)
      .find(({ name }) => name === 'Status')
      ?.cell(object, NOW);
  assert.deepEqual([status('PersistentVolumeClaim'), status('PersistentVolume')], ['Terminating', 'Terminating']);
});

test('every kind that is stored has columns of its own', () => {
  const stored = BUILT_IN_KINDS.filter(({ isReview, isMeasured }) => !isReview && !isMeasured);
  const plain = stored.filter(
    ({ group, kind }) =>
      builtInColumns(group, kind)
        .map(({ name }) => name)
        .join() === 'Name,Age',
  );
  assert.deepEqual(
    plain.map(({ kind }) => kind),
    [],
  );
});
