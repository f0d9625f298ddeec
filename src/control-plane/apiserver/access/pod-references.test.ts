import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../../api/core/pod.ts';
import { referencesOf } from './pod-references.ts';

const container = { name: 'c', image: 'i' };
const of = (spec: object): string[] =>
  [
    ...referencesOf({ metadata: { name: 'pod' }, spec: { containers: [container], ...spec } as PodSpec }), // kinds that our own parts do not know are among them
  ].map(({ resource, name }) => `${resource}/${name}`);
const ofVolume = (source: object) => of({ volumes: [{ name: 'v', ...source }] });

for (const [title, found, wanted] of [
  ['a pull secret', of({ imagePullSecrets: [{ name: 'x' }] }), ['secrets/x']],
  ['a Secret as a volume', ofVolume({ secret: { secretName: 'x' } }), ['secrets/x']],
  ['a ConfigMap as a volume', ofVolume({ configMap: { name: 'x' } }), ['configmaps/x']],
  [
    'sources of a projected volume',
    ofVolume({ projected: { sources: [{ secret: { name: 'x' } }, { configMap: { name: 'y' } }, { serviceAccountToken: { path: 'z' } }] } }),
    ['secrets/x', 'configmaps/y'],
  ],
  ['a claim', ofVolume({ persistentVolumeClaim: { claimName: 'x' } }), ['persistentvolumeclaims/x']],
  ['the claim of an ephemeral volume', ofVolume({ ephemeral: { volumeClaimTemplate: {} } }), ['persistentvolumeclaims/pod-v']],
  ['the secret of a CSI volume', ofVolume({ csi: { driver: 'd', nodePublishSecretRef: { name: 'x' } } }), ['secrets/x']],
  ['the secret of an iSCSI volume', ofVolume({ iscsi: { secretRef: { name: 'x' } } }), ['secrets/x']],
  ['the secret of an Azure file', ofVolume({ azureFile: { secretName: 'x', shareName: 'y' } }), ['secrets/x']],
] as const) {
  test(`${title} is a reference`, () => assert.deepEqual(found, wanted));
}

for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
  test(`variables of ${list} are references`, () => {
    const env = [
      { name: 'A', valueFrom: { secretKeyRef: { name: 'one', key: 'k' } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'two', key: 'k' } } },
    ];
    const envFrom = [{ secretRef: { name: 'three' } }, { configMapRef: { name: 'four' } }];
    assert.deepEqual(of({ [list]: [{ ...container, env, envFrom }] }).toSorted(), [
      'configmaps/four',
      'configmaps/two',
      'secrets/one',
      'secrets/three',
    ]);
  });
}

test('a name that stands anywhere else names nothing', () => {
  const elsewhere = {
    serviceAccountName: 'x',
    hostname: 'x',
    nodeSelector: { x: 'x' },
    tolerations: [{ key: 'x', value: 'x' }],
    containers: [
      {
        name: 'x',
        image: 'x',
        command: ['x'],
        args: ['x'],
        workingDir: 'x',
        env: [{ name: 'x', value: 'x' }],
        volumeMounts: [{ name: 'x', mountPath: '/x', subPath: 'x' }],
      },
    ],
    volumes: [
      { name: 'x', emptyDir: {} },
      { name: 'y', downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'z', projected: { sources: [{ serviceAccountToken: { path: 'x', audience: 'x' } }] } },
      { name: 'w', hostPath: { path: 'x' } },
    ],
  };
  assert.deepEqual(of(elsewhere), []);
});
