import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume } from '../vmi-spec-schema.ts';
import { claimOf, contentOf, defaultVolume, imageOf, networkContentOf, sourceCauses, sourceNamesOf } from './source-of.ts';

const VOLUMES: readonly [volume: Volume, inThePod: object][] = [
  [{ name: 'a', containerDisk: { image: 'x:1' } }, { image: { image: 'x:1' } }],
  [{ name: 'a', registryDisk: { image: 'x:1' } }, { image: { image: 'x:1' } }],
  [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }, { claim: { claimName: 'c', isReadOnly: false } }],
  [{ name: 'a', persistentVolumeClaim: { claimName: 'c', readOnly: true } }, { claim: { claimName: 'c', isReadOnly: true } }],
  [{ name: 'a', dataVolume: { name: 'c' } }, { claim: { claimName: 'c', isReadOnly: false } }],
  [{ name: 'a', ephemeral: { persistentVolumeClaim: { claimName: 'c' } } }, { claim: { claimName: 'c', isReadOnly: true } }],
  [{ name: 'a', emptyDisk: { capacity: '1Gi' } }, {}],
  [{ name: 'a', cloudInitNoCloud: { userData: '#!/bin/sh' } }, {}],
  [{ name: 'a', cloudInitNoCloud: { secretRef: { name: 's' } } }, { content: { secret: { secretName: 's' } } }],
  [{ name: 'a', cloudInitConfigDrive: { secretRef: { name: 's' } } }, { content: { secret: { secretName: 's' } } }],
  [
    { name: 'a', cloudInitNoCloud: { userData: 'x', networkDataSecretRef: { name: 'n' } } },
    { networkContent: { secret: { secretName: 'n' } } },
  ],
  [{ name: 'a', configMap: { name: 'c' } }, { content: { configMap: { name: 'c' } } }],
  [{ name: 'a', configMap: { name: 'c', optional: true, volumeLabel: 'l' } }, { content: { configMap: { name: 'c', optional: true } } }],
  [{ name: 'a', secret: { secretName: 's', optional: false } }, { content: { secret: { secretName: 's', optional: false } } }],
  [
    { name: 'a', serviceAccount: { serviceAccountName: 's' } },
    {
      content: {
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 31_536_000 } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
          ],
        },
      },
    },
  ],
  [{ name: 'a', sysprep: { configMap: { name: 'c' } } }, { content: { configMap: { name: 'c' } } }],
  [{ name: 'a', sysprep: { secret: { name: 's' } } }, { content: { secret: { secretName: 's' } } }],
  [
    { name: 'a', downwardAPI: { fields: [{ path: 'x/y', fieldRef: { fieldPath: "metadata.labels['a']", apiVersion: 'v1' } }] } },
    { content: { downwardAPI: { items: [{ path: 'x/y', fieldRef: { fieldPath: "metadata.labels['a']" } }] } } },
  ],
];
for (const [volume, expected] of VOLUMES)
  test(`${JSON.stringify(volume)} is fine and needs ${JSON.stringify(expected)} in its Pod`, () => {
    assert.deepEqual(sourceCauses(volume, 'spec.volumes[0]'), []);
    const asked = { image: imageOf(volume), claim: claimOf(volume), content: contentOf(volume), networkContent: networkContentOf(volume) };
    assert.deepEqual(Object.fromEntries(Object.entries(asked).filter(([, answer]) => answer !== undefined)), expected);
  });

test('every source of a volume that has two is named and checked', () => {
  const volume: Volume = { name: 'a', emptyDisk: { capacity: 0 }, containerDisk: { image: 'x', path: 'relative' } };
  assert.deepEqual(sourceNamesOf(volume), ['containerDisk', 'emptyDisk']);
  assert.deepEqual(
    sourceCauses(volume, 'spec.volumes[0]').map(({ field }) => field),
    ['spec.volumes[0].containerDisk.path', 'spec.volumes[0].emptyDisk.capacity'],
  );
});

test('defaults are filled in where the source is an object, and nothing else is touched', () => {
  assert.deepEqual(defaultVolume({ name: 'a', containerDisk: { image: 'x' } }), {
    name: 'a',
    containerDisk: { image: 'x', imagePullPolicy: 'Always' },
  });
  for (const odd of [
    { name: 'a', containerDisk: 'x' },
    { name: 'a', containerDisk: { image: 7 } },
    { name: 'a', emptyDisk: {} },
  ])
    assert.deepEqual(defaultVolume(odd), odd);
});
